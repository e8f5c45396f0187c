/// Keeps the session until the process ends.
final class InMemoryTokenStore: TokenStore {
    private struct State {
        var record: StoredSession?
        /// Whether a session has ended. No tokens are adopted after that.
        var hasEnded = false
        /// The places from which tokens were adopted.
        var adopted: Set<String> = []
    }

    private let state: Locked<State>

    init(_ record: StoredSession? = nil) {
        state = Locked(State(record: record))
    }

    func read() async -> StoreReading {
        state.withLock { $0.record }.map { .found($0) } ?? .empty
    }

    func write(_ session: StoredSession) async {
        state.withLock { $0.record = session }
    }

    func delete() async {
        state.withLock { state in
            state.hasEnded = state.hasEnded || state.record != nil
            state.record = nil
        }
    }
}

extension InMemoryTokenStore: AdoptionRecording {
    func hasAdopted(_ place: String) async -> Bool {
        state.withLock { $0.hasEnded || $0.adopted.contains(place) }
    }

    func hasRecorded(_ place: String) async -> Bool {
        state.withLock { $0.adopted.contains(place) }
    }

    func recordAdoption(of place: String) async {
        state.withLock { _ = $0.adopted.insert(place) }
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
