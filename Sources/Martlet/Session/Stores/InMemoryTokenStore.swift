/// Keeps the session until the process ends.
final class InMemoryTokenStore: TokenStore {
    private let record: Locked<StoredSession?>
    /// Whether a session has ended. No tokens are taken over after that.
    let hasEnded = Locked(false)
    /// The places from which tokens were taken over.
    let adopted = Locked<Set<String>>([])

    init(_ record: StoredSession? = nil) {
        self.record = Locked(record)
    }

    func read() async -> StoreReading {
        record.withLock { $0 }.map { .found($0) } ?? .empty
    }

    func write(_ session: StoredSession) async {
        record.withLock { $0 = session }
    }

    func delete() async {
        record.withLock { $0 = nil }
        hasEnded.withLock { $0 = true }
    }
}

extension TokenStore where Self == AnyTokenStore {
    /// Keeps the session until the process ends: for tests, previews, and tools that sign in at every start.
    public static var inMemory: AnyTokenStore { AnyTokenStore(InMemoryTokenStore()) }

    /// Keeps the session until the process ends, and starts with one.
    public static func inMemory(holding session: StoredSession) -> AnyTokenStore {
        AnyTokenStore(InMemoryTokenStore(session))
    }
}
