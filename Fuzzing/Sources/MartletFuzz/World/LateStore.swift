import Martlet
import MartletTesting

/// The store of a process that learns late of other processes' changes, like a process that cannot watch its record and
/// checks it every few seconds.
struct LateStore: TokenStore {
    let base: SimulatedTokenStore
    let delay: Duration
    let time: any TimeSource

    var refreshLock: (any StoreLock)? { base.refreshLock }

    func read() async -> StoreReading { await base.read() }

    func write(_ session: StoredSession) async throws { try await base.write(session) }

    func delete() async throws { try await base.delete() }

    @discardableResult
    func update(_ decide: @escaping @Sendable (StoreReading) -> StoreUpdate) async throws -> StoreReading {
        try await base.update(decide)
    }

    func changes() -> AsyncStream<Void>? {
        guard let changes = base.changes() else { return nil }
        let (late, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let forwarding = Task { [delay, time] in
            for await _ in changes {
                try? await time.sleep(until: time.uptime + delay)
                continuation.yield()
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in forwarding.cancel() }
        return late
    }
}
