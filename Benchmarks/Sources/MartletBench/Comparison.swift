/// Who sends.
enum Side: String, CaseIterable, Sendable {
    case martlet
    case bare
}

/// What a number of calls took.
struct Slice: Sendable {
    var calls: Int
    var wall: Duration
    /// Of this process only; the server has one of its own.
    var cpuSeconds: Double

    var callsPerSecond: Double { Double(calls) / wall.inSeconds }
    var cpuPerThousand: Double { cpuSeconds / Double(calls) * 1000 }
}

/// Both sides at one degree of concurrency, in turns.
struct Comparison: Sendable {
    let concurrency: Int
    var martlet: [Slice] = []
    var bare: [Slice] = []

    /// How many times as fast as bare Martlet was, for each pair of neighbouring slices, in order of size.
    var ratios: [Double] { zip(martlet, bare).map { $0.callsPerSecond / $1.callsPerSecond }.sorted() }

    static func run(
        over connection: Connection, concurrency: Int, rounds: Int, callsPerSlice: Int
    ) async throws -> Comparison {
        var result = Comparison(concurrency: concurrency)
        for side in Side.allCases {
            _ = try await connection.slice(side, calls: callsPerSlice / 2, concurrency: concurrency)
        }
        for round in 0..<max(rounds, 1) {
            // Each side goes first every other time, or one would always come to warmer caches.
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
    /// Makes calls from as many tasks as there shall be under way at once.
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
        guard page.items.count == 20 else { throw WrongAnswer() }
    }
}

/// An answer that is not what the server should give.
struct WrongAnswer: Error {}
