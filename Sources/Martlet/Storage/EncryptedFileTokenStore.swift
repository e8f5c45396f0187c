#if Encryption
    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    /// Keeps the session in an encrypted file: for servers, CI and containers.
    ///
    /// All else is as with ``FileTokenStore``: mode 0600, replaced as a whole, shared with other processes that have
    /// the same key. The file is sealed with AES-256-GCM and a new nonce for each write, so that nobody can read or
    /// change it without the ``EncryptionKey``. Somebody who can write to its folder can still put an older one in its
    /// place, or one that another store has sealed with the same key, or delete it.
    ///
    /// What was damaged or tampered with is ``StorageFailure/Kind/corrupt``, and so is what was sealed with another
    /// key; the description says which. A plain file is not read. To encrypt the one that an app has so far:
    ///
    /// ```swift
    /// let store: EncryptedFileTokenStore = .encryptedFile(path: path, key: key)
    /// if case .found(let session) = await FileTokenStore(path: path).read() { try await store.write(session) }
    /// ```
    ///
    /// The encryption needs the trait `Encryption`.
    public final class EncryptedFileTokenStore: TokenStore {
        private let file: FileTokenStore

        /// Where the record is.
        public var path: String { file.path }

        /// A store in the file at a path. Folders on the way are made when they are needed.
        public convenience init(path: String, key: EncryptionKey) {
            self.init(path: path, key: key, time: .system)
        }

        init(
            path: String, key: EncryptionKey, time: any TimeSource, activities: ExpiringActivities? = .platform,
            steps: FileSteps = .untold
        ) {
            file = FileTokenStore(
                path: path, time: time, activities: activities, steps: steps, coding: SealedCoding(ring: key.ring))
        }

        /// What keeps other processes from renewing the tokens at the same time: a file beside the record.
        public var lock: (any StoreLock)? { file.lock }

        /// Reads the record.
        public func read() async -> StoreReading {
            await file.read()
        }

        /// Writes the record; returns once it is on the disk.
        /// - Throws: ``StorageFailure``, or `CancellationError` where the task was cancelled before its turn came.
        public func write(_ session: StoredSession) async throws {
            try await file.write(session)
        }

        /// Deletes the record, for which the key is not needed; does nothing where there is none.
        /// - Throws: ``StorageFailure``, or `CancellationError` where the task was cancelled before its turn came.
        public func delete() async throws {
            try await file.delete()
        }

        /// Reads the record and changes it, with no other process in between, as ``FileTokenStore/update(_:)`` does.
        /// - Parameter decide: Called with what is there, perhaps more than once.
        /// - Returns: What was there before.
        /// - Throws: ``StorageFailure``, or `CancellationError` where the task was cancelled before its turn came.
        @discardableResult
        public func update(_ decide: @escaping @Sendable (StoreReading) -> StoreUpdate) async throws -> StoreReading {
            try await file.update(decide)
        }

        /// One value whenever the file was replaced or deleted, by whom ever.
        /// - Returns: `nil` where it cannot be watched.
        public func changes() -> AsyncStream<Void>? {
            file.changes()
        }
    }

    extension TokenStore where Self == EncryptedFileTokenStore {
        /// An encrypted file of the user's own: `session.sealed` where ``TokenStore/file(service:)`` has
        /// `session.json`.
        /// - Parameters:
        ///   - service: The app's name in reverse-domain form. A slash in it counts as a dash.
        ///   - key: What it is sealed with.
        public static func encryptedFile(service: String, key: EncryptionKey) -> EncryptedFileTokenStore {
            EncryptedFileTokenStore(path: Disk.stateFolder(of: service) + "/session.sealed", key: key)
        }

        /// An encrypted file at a path.
        public static func encryptedFile(path: String, key: EncryptionKey) -> EncryptedFileTokenStore {
            EncryptedFileTokenStore(path: path, key: key)
        }
    }
#endif
