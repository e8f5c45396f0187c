/// Keeps one session at rest.
///
/// A store replaces its record as a whole: after a crash there is the old one or the new one, never a torn one. Reading
/// has three outcomes, and they must not be mixed up: a record, a *trusted* nothing, and "cannot be read now". A store
/// that is locked, unreachable or damaged says ``StoreReading/unavailable(_:)``, never ``StoreReading/empty``, since
/// `empty` means to the app that nobody is signed in.
///
/// Calls never overlap: ``TokenManager`` makes one at a time, in order.
public protocol TokenStore: Sendable {
    /// Reads the record.
    func read() async -> StoreReading
    /// Writes the record; returns once it would survive a crash.
    /// - Throws: ``StorageFailure``, or anything else, which is reported as one.
    func write(_ session: StoredSession) async throws
    /// Deletes the record; does nothing where there is none.
    /// - Throws: ``StorageFailure``, or anything else, which is reported as one.
    func delete() async throws
}

/// What reading a store gave.
public enum StoreReading: Sendable, Hashable {
    /// A record.
    case found(StoredSession)
    /// Nothing, and that can be relied on.
    case empty
    /// Nobody knows: the store cannot be read now.
    case unavailable(StorageFailure)
}

/// Keeps the session for the life of the process: for tests, previews and tools that sign in anew each time.
public final class InMemoryTokenStore: TokenStore {
    private let record: Locked<StoredSession?>

    /// A store that holds a record, or nothing.
    public init(_ record: StoredSession? = nil) {
        self.record = Locked(record)
    }

    /// Reads the record.
    public func read() async -> StoreReading {
        record.withLock { $0 }.map { .found($0) } ?? .empty
    }

    /// Writes the record.
    public func write(_ session: StoredSession) async {
        record.withLock { $0 = session }
    }

    /// Deletes the record.
    public func delete() async {
        record.withLock { $0 = nil }
    }
}

extension TokenStore where Self == InMemoryTokenStore {
    /// A store for the life of the process.
    public static var inMemory: InMemoryTokenStore { InMemoryTokenStore() }
}
