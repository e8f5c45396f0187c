internal import Foundation
internal import Martlet

/// A fault that is planted into each worker, to show that the test finds it.
enum PlantedFault: String, CaseIterable, Sendable, Codable {
    /// No lock between the processes.
    case noLock = "no-lock"
    /// A cache that keeps the first response for all sessions.
    case sharedCache = "shared-cache"
    /// The cookie of the first session is sent in all later sessions.
    case sharedCookies = "shared-cookies"
    /// A download begins with the bytes of the first session's download.
    case sharedParts = "shared-parts"
    /// A store that reports a session as gone if its token has expired by the wall clock when it is about to be
    /// refreshed.
    case trustedClock = "trusted-clock"
    /// A store that does not report that it cannot watch its changes.
    case silentStore = "silent-store"
}

/// A store without the lock that keeps processes from refreshing at the same time.
struct LocklessStore: TokenStore {
    let base: AnyTokenStore

    func read() async -> StoreReading { await base.read() }
    func write(_ session: StoredSession) async throws { try await base.write(session) }
    func delete() async throws { try await base.delete() }
    func changes() -> AsyncStream<Void>? { base.changes() }

    func update(_ decide: @escaping @Sendable (StoreReading) -> StoreUpdate) async throws -> StoreReading {
        try await base.update(decide)
    }
}

/// A store with a planted fault other than a missing lock.
struct FaultyStore: TokenStore {
    let base: AnyTokenStore
    let fault: PlantedFault
    let conditions: WorkerConditions

    var refreshLock: (any StoreLock)? { base.refreshLock }
    func read() async -> StoreReading { await base.read() }
    func write(_ session: StoredSession) async throws { try await base.write(session) }
    func delete() async throws { try await base.delete() }

    func changes() -> AsyncStream<Void>? {
        fault == .silentStore && conditions.watchLimit != nil ? nil : base.changes()
    }

    func update(_ decide: @escaping @Sendable (StoreReading) -> StoreUpdate) async throws -> StoreReading {
        seen(try await base.update { decide(seen($0)) })
    }

    private func seen(_ reading: StoreReading) -> StoreReading {
        guard fault == .trustedClock, case .found(let record) = reading, let data = try? record.encoded(),
            let members = try? JSONSerialization.jsonObject(with: data) as? [String: Any],
            let session = members["session"] as? [String: Any], let expiry = session["estimatedExpiry"] as? Double
        else { return reading }
        let now = WrongClock(offset: conditions.clockOffset).wallClock
        return expiry / 1000 < now.timeIntervalSince1970 ? .empty : reading
    }
}
