#if Encryption

    extension SecureStorage where Self == AnySecureStorage {
        /// Keeps secrets in encrypted files of the user: in the folder `values` beside the file of
        /// ``TokenStore/encryptedFile(service:key:)``. See ``encryptedFiles(in:key:)``.
        /// - Parameters:
        ///   - service: The app's name in reverse-domain form. A slash in it is replaced by a dash.
        ///   - key: Seals the files.
        public static func encryptedFiles(service: String, key: EncryptionKey) -> AnySecureStorage {
            .encryptedFiles(in: Disk.stateFolder(of: service) + "/values", key: key)
        }

        /// Keeps secrets in encrypted files: for services, CI and containers. Needs the trait `Encryption`.
        ///
        /// The encryption is that of ``TokenStore/encryptedFile(path:key:)``. The name of a value's key is
        /// authenticated, so two files cannot be swapped. These names are visible as the names of the files. Otherwise
        /// the storage works like ``SecureStorage/files(in:)``.
        ///
        /// ```swift
        /// let secrets: some SecureStorage = .encryptedFiles(
        ///     in: "/var/lib/example/secrets", key: .file(path: "/etc/example/key"))
        /// ```
        /// - Parameters:
        ///   - folder: A folder on a local disk, created when needed.
        ///   - key: Seals the files.
        public static func encryptedFiles(in folder: String, key: EncryptionKey) -> AnySecureStorage {
            AnySecureStorage(FileStorage(folder: folder, coding: SealedCoding(ring: key.ring), ending: ".sealed"))
        }
    }
#endif
