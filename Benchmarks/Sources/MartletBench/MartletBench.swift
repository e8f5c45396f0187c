internal import ArgumentParser
internal import Martlet

/// `martlet-bench`: measures the overhead of Martlet over the client that it sends with.
@main
struct MartletBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "martlet-bench",
        abstract: "Compare Martlet with bare async-http-client in one run.",
        discussion: """
            Makes typed GET calls for 1 KB of JSON with a bearer token, at several degrees of concurrency. Both clients \
            take turns in short slices, so that other load slows down both. The result is the median of the ratios of \
            neighboring slices. Then makes a burst of calls with a token that has just become invalid.

            Transfers large bodies, each in a process of its own, and compares them with curl and the bare transport. \
            Prepares pictures for upload and compares this with vipsthumbnail.
            """,
        subcommands: [TransferCommand.self, PictureCommand.self])

    @Flag(help: "Run for a few seconds only, for a rough result.")
    var quick = false

    @Flag(help: "Print tables in Markdown.")
    var markdown = false

    @Option(help: "The number of slices of each client.")
    var rounds: Int?

    @Option(help: "The number of concurrent calls. May be repeated. The default is 1, 8 and 64.")
    var concurrency: [Int] = []

    @Option(help: "The part to measure. May be repeated. The default is all parts.")
    var part: [Part] = []

    @Option(help: "Run one client only, for use with a profiler.")
    var only: Side?

    @Option(help: "The number of calls with --only.")
    var calls = 30_000

    enum Part: String, CaseIterable, ExpressibleByArgument {
        case calls
        case transfers
        case pictures
    }

    func run() async throws {
        let server = try Server.start()
        defer { server.stop() }
        let parts = part.isEmpty || only != nil ? Part.allCases : part
        if parts.contains(.calls) {
            let connection = try await Connection(to: server.port)
            do {
                try await measure(over: connection)
            } catch {
                await connection.close()
                throw error
            }
            await connection.close()
        }
        guard only == nil else { return }
        let report = Report(isMarkdown: markdown)
        if parts.contains(.transfers) { report.show(try Transfers.run(port: server.port, isQuick: quick)) }
        if parts.contains(.pictures) { report.show(try Pictures.run(isQuick: quick)) }
    }

    private func measure(over connection: Connection) async throws {
        let levels = concurrency.isEmpty ? [1, 8, 64] : concurrency
        if let only {
            for level in levels {
                let slice = try await connection.slice(only, calls: calls, concurrency: level)
                print("\(only) at \(level): \(slice.callsPerSecond.formatted(0)) calls/s")
            }
            return
        }
        let report = Report(isMarkdown: markdown)
        var comparisons: [Comparison] = []
        for level in levels {
            comparisons.append(
                try await Comparison.run(
                    over: connection, concurrency: level, rounds: rounds ?? (quick ? 6 : 40),
                    callsPerSlice: sliceSize(level)))
        }
        report.show(comparisons)
        report.show(try await Burst.run(over: connection, calls: 1000))
        report.show(peakMemory: Usage.peakBytes)
    }

    /// Long enough for a steady measurement, short enough that neighboring slices see the same load.
    private func sliceSize(_ concurrency: Int) -> Int {
        concurrency == 1 ? 500 : 1500
    }
}
