/// The clients that are compared.
enum Side: String, CaseIterable, Sendable {
    case martlet
    case bare
}

/// The measurements of a number of consecutive calls.
struct Slice: Sendable {
    var calls: Int
    var wall: Duration
    /// The CPU time of this process. The server is another process.
    var cpuSeconds: Double

    var callsPerSecond: Double { Double(calls) / wall.inSeconds }
    var cpuPerThousand: Double { cpuSeconds / Double(calls) * 1000 }
}

/// The measurements of both clients at one degree of concurrency, taken in turns.
struct Comparison: Sendable {
    let concurrency: Int
    var martlet: [Slice] = []
    var bare: [Slice] = []

    /// The throughput of Martlet relative to the bare client for each pair of neighboring slices, sorted.
    var ratios: [Double] { zip(martlet, bare).map { $0.callsPerSecond / $1.callsPerSecond }.sorted() }

    static func run(
        over connection: Connection, concurrency: Int, rounds: Int, callsPerSlice: Int
    ) async throws -> Comparison {
        var result = Comparison(concurrency: concurrency)
        for side in Side.allCases {
            _ = try await connection.slice(side, calls: callsPerSlice / 2, concurrency: concurrency)
        }
        for round in 0..<max(rounds, 1) {
            // Alternate the order, because the second client would always find warmer caches.
            for side in round.isMultiple(of: 2) ? Side.allCases : Side.allCases.reversed() {
                let slice = try await connection.slice(side, calls: callsPerSlice, concurrency: concurrency)
                switch side {
                case .martlet: result.martlet.append(slice)
                case .bare: result.bare.append(slice)
                }
            }
        }
        return result
    }
}

extension Connection {
    /// Makes `calls` calls from `concurrency` tasks.
    func slice(_ side: Side, calls: Int, concurrency: Int) async throws -> Slice {
        let perTask = max(calls / concurrency, 1)
        let before = Usage.now()
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<concurrency {
                group.addTask {
                    for call in 0..<perTask { try await get(task + call, with: side) }
                }
            }
            try await group.waitForAll()
        }
        let wall = start.duration(to: .now)
        let after = Usage.now()
        return Slice(calls: perTask * concurrency, wall: wall, cpuSeconds: after.cpuSeconds - before.cpuSeconds)
    }

    private func get(_ number: Int, with side: Side) async throws {
        let page =
            switch side {
            case .martlet: try await martlet.page(number)
            case .bare: try await bare.page(number)
            }
        guard page.items.count == 20 else { throw UnexpectedResponseError() }
    }
}

/// Thrown if a response is not what the server should send.
struct UnexpectedResponseError: Error {}
