/// Measures small calls of all clients under several loads.
struct Calls {
    /// A load: how many calls at once, over how many connections, and whether server and client have a core each.
    struct Load: Hashable, Sendable {
        var concurrency: Int
        var connections: Int
        var isPinned: Bool

        var label: String {
            let connections = connections < concurrency ? " over \(connections)" : ""
            return "\(concurrency)\(connections)\(isPinned ? "" : ", unpinned")"
        }
    }

    /// 64 calls over 8 connections, where calls wait for each other.
    static let crowded = Load(concurrency: 64, connections: 8, isPinned: false)

    private(set) var contests: [Load: Contest] = [:]
    /// In the order of the tables.
    private(set) var loads: [Load] = []

    init(concurrency levels: [Int], rounds: Int?, _ effort: Effort) throws {
        let cores = Processors.pair
        if let cores {
            let server = try Server(on: cores.server)
            defer { server.stop() }
            for level in levels {
                let load = Load(concurrency: level, connections: max(level, 8), isPinned: true)
                try measure(load, server, on: cores.client, rounds, effort)
            }
        }
        let server = try Server()
        defer { server.stop() }
        for level in levels {
            let load = Load(concurrency: level, connections: max(level, 8), isPinned: false)
            try measure(load, server, on: nil, rounds, effort)
        }
        try measure(Self.crowded, server, on: nil, rounds, effort)
    }

    private mutating func measure(
        _ load: Load, _ server: Server, on core: Int?, _ rounds: Int?, _ effort: Effort
    ) throws {
        let lanes = ClientName.allCases.map {
            Lane(client: $0, concurrency: load.concurrency, connections: load.connections)
        }
        loads.append(load)
        contests[load] = try Contest(
            load.label, lanes, port: server.port, on: core, rounds: rounds ?? effort.pick(1, 3, 15)
        ) { lane in
            // Long enough for a steady measurement, short enough that neighboring slices see the same load.
            let calls = effort.pick(1, 500, load.concurrency == 1 ? 1_000 : 3_000)
            return lane.client.isSlow ? calls / 4 + 1 : calls
        }
    }

    /// The median of a figure of one client relative to another; `nil` if it was not measured.
    func ratio(
        _ load: Load, _ client: ClientName, to rival: ClientName, of figure: (Slice) -> Double = \.callsPerSecond
    ) -> Double? {
        guard let contest = contests[load] else { return nil }
        let ratios = contest.ratios(figure, client, to: rival)
        return ratios.isEmpty ? nil : ratios.median
    }
}
