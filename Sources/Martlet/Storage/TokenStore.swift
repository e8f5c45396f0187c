/// Keeps one session at rest.
///
/// A store replaces its record as a whole: after a crash there is the old one or the new one, never a torn one. Reading
/// has three outcomes, and they must not be mixed up: a record, a *trusted* nothing, and "cannot be read now". A store
/// that is locked, unreachable or damaged says ``StoreReading/unavailable(_:)``, never ``StoreReading/empty``, since
/// `empty` means to the app that nobody is signed in.
///
/// Calls from one ``TokenManager`` never overlap and come in order. A store that other processes can reach as well
/// implements ``update(_:)``, ``lock`` and ``changes()`` too.
public protocol TokenStore: Sendable {
    /// Reads the record.
    func read() async -> StoreReading
    /// Writes the record; returns once it would survive a crash.
    /// - Throws: ``StorageFailure``, or anything else, which is reported as one.
    func write(_ session: StoredSession) async throws
    /// Deletes the record; does nothing where there is none.
    /// - Throws: ``StorageFailure``, or anything else, which is reported as one.
    func delete() async throws

    /// Reads the record, asks what is to become of it, and does that, with nobody in between.
    ///
    /// Without an implementation of its own this reads, then writes or deletes, which is enough where no other process
    /// can reach the record.
    /// - Parameter decide: Called with what is there. It may ask the store's ``lock`` whether it is still held
    ///   (``HeldStoreLock/isHeld``), so nothing may be held meanwhile that the answer takes.
    /// - Returns: What was there before.
    /// - Throws: ``StorageFailure``, or anything else, where what was decided could not be done.
    @discardableResult
    func update(_ decide: @escaping @Sendable (StoreReading) -> StoreUpdate) async throws -> StoreReading
    /// What keeps other processes from renewing the tokens at the same time; `nil` where none can reach the record.
    var lock: (any StoreLock)? { get }
    /// One value whenever somebody may have changed the record, this process included; `nil` where no other can.
    func changes() -> AsyncStream<Void>?
}

extension TokenStore {
    /// Reads, then writes or deletes.
    @discardableResult
    public func update(_ decide: @escaping @Sendable (StoreReading) -> StoreUpdate) async throws -> StoreReading {
        let reading = await read()
        switch decide(reading) {
        case .keep: break
        case .write(let session): try await write(session)
        case .delete: try await delete()
        }
        return reading
    }

    /// None: no other process can reach the record.
    public var lock: (any StoreLock)? { nil }

    /// None: nobody else can change the record.
    public func changes() -> AsyncStream<Void>? { nil }
}

/// What is to become of a record.
public enum StoreUpdate: Sendable, Hashable {
    /// It stays as it is.
    case keep
    /// This one takes its place.
    case write(StoredSession)
    /// It goes.
    case delete
}

/// What reading a store gave.
public enum StoreReading: Sendable, Hashable {
    /// A record.
    case found(StoredSession)
    /// Nothing, and that can be relied on.
    case empty
    /// Nobody knows: the store cannot be read now.
    case unavailable(StorageFailure)

    /// Whether it tells what there is.
    var isTrusted: Bool {
        if case .unavailable = self { false } else { true }
    }
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
