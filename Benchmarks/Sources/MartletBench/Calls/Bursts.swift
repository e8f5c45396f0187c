/// Many calls at once with a token that the server has just invalidated, compared with the same calls of the bare
/// client with a valid token.
struct Bursts {
    struct Burst {
        var seconds: Double
        /// The time of the bare client's calls.
        var bareSeconds: Double
        /// Requests that reached the server, without the refreshes.
        var requests: Int
        var refused: Int
        var refreshes: Int

        /// The time relative to the time of a refresh and of the bare calls.
        var slowness: Double { seconds / (Server.refreshSeconds + bareSeconds) }
    }

    static let connections = 8
    /// The number of requests beyond the calls and connections that the target tolerates.
    private static let few = 8

    let calls: Int
    private(set) var bursts: [Burst] = []

    init(_ effort: Effort) async throws {
        calls = effort.pick(50, 1_000, 1_000)
        // The bare client has a server of its own, whose token stays valid.
        let (server, bareServer) = (try Server(), try Server())
        defer {
            server.stop()
            bareServer.stop()
        }
        func lane(_ client: ClientName) -> Lane {
            Lane(client: client, concurrency: calls, connections: Self.connections)
        }
        let martlet = try Entrant(lane(.martlet), port: server.port)
        let bare = try Entrant(lane(.bare), port: bareServer.port)
        try martlet.warmUp(calls)
        try bare.warmUp(calls)
        // A session refuses a sixth refresh of a token that has hardly been used within half a minute.
        for _ in 0..<effort.pick(1, 3, 5) {
            let reference = try bare.warmUp(calls)
            try await server.expire()
            let before = try await server.counters()
            let slice = try martlet.warmUp(calls)
            let after = try await server.counters()
            let refused = after.refused - before.refused
            bursts.append(
                Burst(
                    seconds: slice.seconds, bareSeconds: reference.seconds,
                    requests: after.accepted - before.accepted + refused, refused: refused,
                    refreshes: after.refreshes - before.refreshes))
        }
    }

    var targets: [Target] {
        let title = "in a burst of \(calls) calls on an expired token"
        let most = Double(calls + Self.connections + Self.few)
        return [
            Target(
                what: "refreshes \(title)", bound: .exactly(1), measured: Double(bursts.map(\.refreshes).max() ?? 0),
                digits: 0),
            Target(
                what: "requests \(title)", bound: .atMost(most), measured: Double(bursts.map(\.requests).max() ?? 0),
                digits: 0),
            Target(
                what: "time \(title), to a refresh and the same bare calls", bound: .atMost(1.15),
                measured: bursts.map(\.slowness).median),
        ]
    }
}

extension Report {
    func show(_ bursts: Bursts) {
        let all = bursts.bursts
        table(
            "\(bursts.calls) calls at once on an invalidated token, over \(Bursts.connections) connections, with a "
                + "refresh of 50 ms; medians, and the most of each count",
            ["ms", "ms of bare calls, valid token", "ms to bare calls and refresh", "requests", "401s", "refreshes"],
            [
                [
                    (all.map(\.seconds).median * 1000).formatted(0),
                    (all.map(\.bareSeconds).median * 1000).formatted(0),
                    span(all.map(\.slowness).sorted()), "\(all.map(\.requests).max() ?? 0)",
                    "\(all.map(\.refused).max() ?? 0)", "\(all.map(\.refreshes).max() ?? 0)",
                ]
            ])
    }
}
