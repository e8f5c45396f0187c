/// Measures how the cost grows with the number of calls at once, the size of the response and the number of
/// interceptors, and whether the memory of a long run and of many waiting calls stays small.
struct Growth {
    private static let clients = [ClientName.martlet, .martletJSON, .bare]

    let concurrency: [Contest]
    let sizes: [Contest]
    let interceptors: Contest
    let loop: [Slice]
    let waiters: Waiters

    /// - Parameter loopCalls: The number of calls of the long run.
    init(_ effort: Effort, loopCalls: Int?) throws {
        let server = try Server()
        defer { server.stop() }
        let rounds = effort.pick(1, 2, 7)
        concurrency = try effort.pick([1, 10], [1, 100, 10_000], [1, 10, 100, 1_000, 10_000]).map { level in
            try Contest(
                "\(level)", Self.clients.map { Lane(client: $0, concurrency: level) }, port: server.port,
                rounds: rounds
            ) { _ in effort.pick(1, 500, 3_000) }
        }
        // A struct takes about 45 bytes.
        sizes = try effort.pick([22, 220], [22, 2_200, 220_000], [22, 220, 2_200, 22_000, 220_000]).map { items in
            try Contest(
                "\((Double(items * 45) / 1e3).formatted(0)) KB", Self.clients.map { Lane(client: $0, items: items) },
                port: server.port, rounds: rounds
            ) { _ in effort.pick(1, 1, max(2, 40_000 / items)) }
        }
        let lanes = effort.pick([0, 1], [0, 1, 64], [0, 1, 4, 16, 64]).map {
            Lane(client: .martlet, concurrency: 8, interceptors: $0)
        }
        interceptors = try Contest("8", lanes, port: server.port, rounds: rounds) { _ in effort.pick(1, 500, 3_000) }
        loop = try Self.loop(loopCalls ?? effort.pick(100, 5_000, 100_000), port: server.port)
        waiters = try Waiters(count: effort.pick(100, 10_000, 10_000))
    }

    /// Ten slices of a bounded loop, one after another.
    private static func loop(_ calls: Int, port: Int) throws -> [Slice] {
        let entrant = try Entrant(Lane(client: .martletJSON, concurrency: 64), port: port)
        for _ in 0..<10 { try entrant.run(calls / 10) }
        entrant.close()
        return entrant.slices
    }

    /// The growth of the resident memory after the first tenth of the loop, in megabytes.
    private var loopMegabytes: Double {
        Double((loop.last?.residentBytes ?? 0) - (loop.first?.residentBytes ?? 0)) / 1e6
    }

    var targets: [Target] {
        [
            Target(
                what: "MB more after \(loop.map(\.calls).reduce(0, +)) calls than after a tenth", bound: .atMost(2),
                measured: loopMegabytes, digits: 1),
            Target(
                what: "refreshes that \(waiters.count) calls wait for", bound: .exactly(1),
                measured: Double(waiters.refreshes), digits: 0),
            Target(
                what: "bytes of each, beyond the caller's task", bound: .atMost(2_048),
                measured: waiters.bytesPerCall, digits: 0),
        ]
    }
}

extension Report {
    func show(_ growth: Growth) {
        show("More calls at once, over 8 connections", "calls at once", growth.concurrency)
        show("Larger responses, one call at a time", "response", growth.sizes)
        show("More interceptors that do nothing, compared with none", "calls at once", [growth.interceptors]) { lane in
            "\(lane.client.title), interceptors: \(lane.interceptors)"
        }
        var calls = 0
        table(
            "A long loop of \(ClientName.martletJSON.title), 64 calls at once", ["calls", "calls/s", "resident MB"],
            growth.loop.map { slice in
                calls += slice.calls
                return [
                    "\(calls)", slice.callsPerSecond.formatted(0), (Double(slice.residentBytes) / 1e6).formatted(1),
                ]
            })
        let waiters = growth.waiters
        table(
            "\(waiters.count) calls that wait for one refresh",
            ["bytes of a task that waits for a continuation", "bytes of a task that waits in a call", "refreshes"],
            [
                [
                    waiters.bytesPerTask.formatted(0), (waiters.bytesPerTask + waiters.bytesPerCall).formatted(0),
                    "\(waiters.refreshes)",
                ]
            ])
    }
}
