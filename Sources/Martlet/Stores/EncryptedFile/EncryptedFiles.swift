#if Encryption
    extension TokenStore where Self == AnyTokenStore {
        /// Keeps the session in an encrypted file of the user: `session.sealed` beside the `session.json` of
        /// ``TokenStore/file(service:)``. See ``encryptedFile(path:key:)``.
        /// - Parameters:
        ///   - service: The app's name in reverse-domain form. A slash in it is replaced by a dash.
        ///   - key: Seals the file.
        public static func encryptedFile(service: String, key: EncryptionKey) -> AnyTokenStore {
            .encryptedFile(path: Disk.stateFolder(of: service) + "/session.sealed", key: key)
        }

        /// Keeps the session in an encrypted file: for services, CI and containers. Needs the trait `Encryption`.
        ///
        /// The file is sealed with AES-256-GCM and a new nonce for each write: without the key it can be neither read
        /// nor changed. Anything with write access to the folder can still delete the file, or replace it with an older
        /// one or with one that was sealed with the same key elsewhere. Otherwise the store works like
        /// ``TokenStore/file(path:)``. All processes that share the file need the same key.
        ///
        /// A damaged file, or one that was sealed with another key, is ``StorageError/Kind/corrupt``; the description
        /// says which. A plain text file is not read. To encrypt the one that an app has so far:
        ///
        /// ```swift
        /// let store: AnyTokenStore = .encryptedFile(path: path, key: key)
        /// if case .found(let session) = await AnyTokenStore.file(path: path).read() { try await store.write(session) }
        /// ```
        /// - Parameters:
        ///   - path: A path on a local disk. Missing folders are created when needed.
        ///   - key: Seals the file.
        public static func encryptedFile(path: String, key: EncryptionKey) -> AnyTokenStore {
            AnyTokenStore(FileTokenStore(path: path, coding: SealedCoding(ring: key.ring)))
        }
    }

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
        /// The encryption is that of ``TokenStore/encryptedFile(path:key:)``. A file can be opened under its own key's
        /// name only, so two files cannot be swapped. The names of the keys are visible: they are the names of the
        /// files. Otherwise the storage works like ``SecureStorage/files(in:)``.
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
