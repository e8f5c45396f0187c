/// Many concurrent calls with a token that the server has just invalidated.
struct Burst: Sendable {
    var calls: Int
    var wall: Duration
    var successes: Int
    /// Requests that reached the server, without the refreshes.
    var requests: Int
    var refused: Int
    var refreshes: Int

    static func run(over connection: Connection, calls: Int) async throws -> Burst {
        try await connection.expire()
        let before = try await connection.counters()
        let start = ContinuousClock.now
        let successes = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<calls {
                group.addTask { (try? await connection.martlet.page(number)) != nil }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        let wall = start.duration(to: .now)
        let after = try await connection.counters()
        let refused = after.refused - before.refused
        return Burst(
            calls: calls, wall: wall, successes: successes, requests: after.accepted - before.accepted + refused,
            refused: refused, refreshes: after.refreshes - before.refreshes)
    }
}
