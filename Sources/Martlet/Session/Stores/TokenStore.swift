/// Stores one session.
///
/// Most apps use one of Martlet's own stores, such as `.keychain(service:)` on Apple platforms,
/// `.encryptedFile(path:key:)` in a service, or ``TokenStore/platformDefault(service:)`` everywhere. There are two ways
/// to keep the session in a database or service of your own:
/// - ``SecureStorage`` is the simplest. It reads and saves values under keys, and
///   ``TokenStore/secure(_:key:folder:)`` keeps the session in it and adds the locks between processes.
/// - This protocol is for a database with transactions.
///
/// ## Implementing a store
///
/// ``StoredSession/encoded()`` converts a session to bytes, and ``StoredSession/init(encoded:)`` converts them back. If
/// only one process uses the store, three functions suffice. A store that processes share also needs the functions
/// listed below. This store uses a table with one row in a SQLite database:
///
/// ```swift
/// struct DatabaseTokenStore: TokenStore {
///     let database: Database    // your own wrapper around SQLite, with PRAGMA synchronous=FULL
///
///     func read() async -> StoreReading {
///         do {
///             guard let row = try await database.row("SELECT record FROM session") else { return .empty }
///             return .found(try StoredSession(encoded: row.data))
///         } catch {
///             return .unavailable(error as? StorageError ?? StorageError(.unreachable, "\(error)"))
///         }
///     }
///
///     func write(_ session: StoredSession) async throws {
///         let record = try session.encoded()
///         try await database.run("INSERT OR REPLACE INTO session (id, record) VALUES (1, ?)", record)
///     }
///
///     func delete() async throws {
///         try await database.run("DELETE FROM session")
///     }
/// }
/// ```
///
/// A store must guarantee the following:
/// - ``read()`` distinguishes three outcomes. Return ``StoreReading/empty`` only if there is definitely no record: it
///   signs the user out. If the record cannot be read now, because the store is locked, unreachable or damaged, return
///   ``StoreReading/unavailable(_:)``: nothing is deleted, and the session stays. At the start, the manager rereads a
///   locked or unreachable store automatically, and any other at the next call.
/// - ``write(_:)`` and ``delete()`` change the record as a whole and return when the change would survive a crash.
///   After a crash there is the old record or the new one, never part of one.
/// - A call never hangs. If the database does not respond, fail after a few seconds: ``read()`` returns
///   ``StoreReading/unavailable(_:)``, and the others throw.
///
/// Run `TokenStoreContract` of MartletTesting in your tests: it checks most of these promises.
///
/// The calls of one ``TokenManager`` arrive one after another and never overlap.
///
/// If several processes use the record, implement the following, too. The contract checks it for a store that has a
/// ``refreshLock``:
/// - ``update(_:)``: runs in one transaction (`BEGIN IMMEDIATE`), so that no other process writes between its read and
///   its write.
/// - ``refreshLock``: a ``ProcessLock`` beside the database. One process at a time refreshes the tokens, and the others
///   adopt its result; without the lock, two processes may use the same refresh token, and the server may revoke the
///   session.
/// - ``changes()``: reports the changes of other processes. Without it a process notices them only at its next refresh.
/// - the mark of ``StoreUpdate/end(_:)``: keep it in a column beside the record (``EndMark/encoded()``), and return
///   ``StoreReading/ended(_:)`` if there is no record, or if the mark covers it. Of two marks, keep the higher one
///   (``EndMark/isHigher(than:)``). A write removes a mark that covers the new record. With the mark, a process whose
///   writes were blocked finds in its next ``update(_:)`` that its session has ended, and writes nothing. Without it,
///   the last write wins.
public protocol TokenStore: Sendable {
    /// Reads the record.
    func read() async -> StoreReading
    /// Replaces the record, and returns when the new one would survive a crash.
    /// - Throws: ``StorageError``; any other error is reported as one. The previous record is unchanged.
    func write(_ session: StoredSession) async throws
    /// Deletes the record. Does nothing if there is none.
    /// - Throws: ``StorageError``; any other error is reported as one. The record is unchanged.
    func delete() async throws

    /// Reads the record and changes it as `decide` says, while no other process can change it.
    ///
    /// The default implementation reads, then writes or deletes. That suffices if no other process uses the record.
    /// - Parameter decide: Receives the current record, or the reason why it cannot be read, and returns what to do
    ///   with it. Call it in both cases. It may be called more than once, for example if the transaction has to start
    ///   over. It may check ``HeldStoreLock/isHeld`` of the store's ``refreshLock``, so call it on a thread that may
    ///   block, and hold no lock that this check needs.
    /// - Returns: The record before the change.
    /// - Throws: ``StorageError`` or another error if the change fails. The record is unchanged.
    @discardableResult
    func update(_ decide: @escaping @Sendable (StoreReading) -> StoreUpdate) async throws -> StoreReading
    /// Lets one process at a time refresh the tokens. `nil`, the default, if no other process uses the record.
    var refreshLock: (any StoreLock)? { get }
    /// A stream that yields each time the record may have changed or become readable, including changes by this
    /// process. `nil`, the default, if the store cannot tell.
    ///
    /// The function returns without waiting for the disk. Watching may start later, but no later than the store's next
    /// read, so read the record after this call.
    func changes() -> AsyncStream<Void>?
    /// Whether reading the record may prompt the user. If so, the manager reads it only when a call or the app needs
    /// it. The default is `false`.
    var readingPromptsUser: Bool { get }
}

extension TokenStore {
    /// Reads, then writes or deletes, without a lock.
    @discardableResult
    public func update(_ decide: @escaping @Sendable (StoreReading) -> StoreUpdate) async throws -> StoreReading {
        let reading = await read()
        // The decision may check the lock, which may block.
        switch refreshLock == nil ? decide(reading) : await BlockingQueue.run({ decide(reading) }) {
        case .keep: break
        case .write(let session): try await write(session)
        case .delete, .end: try await delete()
        case .mark: break
        }
        return reading
    }

    /// `nil`: no other process uses the record.
    public var refreshLock: (any StoreLock)? { nil }

    /// `nil`: the store cannot tell.
    public func changes() -> AsyncStream<Void>? { nil }

    /// Reading does not prompt the user.
    public var readingPromptsUser: Bool { false }
}

/// The change that ``TokenStore/update(_:)`` makes to the record.
public indirect enum StoreUpdate: Sendable, Hashable {
    /// Leaves the record as it is.
    case keep
    /// Replaces the record. If the store keeps a mark that covers the new record, it removes the mark.
    case write(StoredSession)
    /// Deletes the record, and keeps an existing mark.
    case delete
    /// Stores a mark, unless the store has a higher one, and then deletes the record. If only one process uses the
    /// record, the mark is not needed. If the mark cannot be stored, the record is deleted all the same, and the update
    /// throws.
    case end(EndMark)
    /// Stores a mark, unless the store has a higher one, and leaves the record: it cannot be read now, and may belong
    /// to a later session. If the mark turns out to cover the record, the record is deleted when it is read.
    case mark(EndMark)
}

/// The result of reading a store.
public indirect enum StoreReading: Sendable, Hashable {
    /// There is a record.
    case found(StoredSession)
    /// There is definitely no record.
    case empty
    /// There is definitely no valid record: the mark says which sessions have ended, and why. A custom store that only
    /// one process uses needs no mark.
    case ended(EndMark)
    /// The record cannot be read now. It may or may not exist.
    case unavailable(StorageError)

    /// Whether the store could be read.
    var wasReadable: Bool {
        if case .unavailable = self { false } else { true }
    }
}
