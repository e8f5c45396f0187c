#if Encryption
    #if canImport(FoundationEssentials)
        public import FoundationEssentials
    #else
        public import Foundation
    #endif

    /// Keeps secrets in a folder, each in an encrypted file of its own: for servers, CI and containers.
    ///
    /// All else is as with ``FileStorage``, and the encryption is that of ``EncryptedFileTokenStore``. Each file can be
    /// opened under its own key's name only, so that two cannot be swapped. The names of the keys are not hidden: they
    /// are the names of the files.
    ///
    /// ```swift
    /// let secrets: some SecureStorage = .encryptedFiles(
    ///     in: "/var/lib/example/secrets", key: .file(path: "/etc/example/key"))
    /// ```
    ///
    /// The encryption needs the trait `Encryption`.
    public final class EncryptedFileStorage: SecureStorage {
        private let files: FileStorage

        /// Where everything is.
        public var folder: String { files.folder }

        /// A storage in a folder, which is made when it is needed.
        public init(folder: String, key: EncryptionKey) {
            files = FileStorage(folder: folder, coding: SealedCoding(ring: key.ring), ending: ".sealed")
        }

        /// Reads a value.
        /// - Parameter key: Any text; none is special.
        /// - Returns: `nil` where there is none under this key, and that can be relied on.
        /// - Throws: ``StorageFailure`` where that cannot be told now, or where what is there was damaged, tampered
        ///   with, or sealed with another key.
        public func read(_ key: String) async throws(StorageFailure) -> Data? {
            try await files.read(key)
        }

        /// Saves a value, in place of what was there; returns once it is on the disk.
        /// - Parameters:
        ///   - value: A megabyte at most.
        ///   - key: Any text; none is special.
        /// - Throws: ``StorageFailure``; what was there before is still there.
        public func save(_ value: Data, for key: String) async throws(StorageFailure) {
            try await files.save(value, for: key)
        }

        /// Deletes a value; does nothing where there is none.
        /// - Throws: ``StorageFailure``; the value is still there.
        public func delete(_ key: String) async throws(StorageFailure) {
            try await files.delete(key)
        }

        /// The keys that have a value, sorted.
        /// - Throws: ``StorageFailure`` where that cannot be told now.
        public func keys() async throws(StorageFailure) -> [String] {
            try await files.keys()
        }
    }

    extension SecureStorage where Self == EncryptedFileStorage {
        /// A folder of the user's own, as ``TokenStore/encryptedFile(service:key:)`` has: `values` below it.
        /// - Parameters:
        ///   - service: The app's name in reverse-domain form. A slash in it counts as a dash.
        ///   - key: What the files are sealed with.
        public static func encryptedFiles(service: String, key: EncryptionKey) -> EncryptedFileStorage {
            EncryptedFileStorage(folder: Disk.stateFolder(of: service) + "/values", key: key)
        }

        /// A folder at a path.
        public static func encryptedFiles(in folder: String, key: EncryptionKey) -> EncryptedFileStorage {
            EncryptedFileStorage(folder: folder, key: key)
        }
    }
#endif
