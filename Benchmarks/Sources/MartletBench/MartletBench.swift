internal import ArgumentParser
internal import Martlet

/// What Martlet costs on top of the client that it sends with.
@main
struct MartletBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "martlet-bench",
        abstract: "Measures Martlet against bare async-http-client, side by side in one run.",
        discussion: """
            Typed GETs of 1 KB of JSON with a bearer token, at several degrees of concurrency. Both sides take turns in \
            short slices, so that a busy machine slows both; what counts is the median of the ratios of neighbouring \
            slices. Then a burst of calls on a token that has just become invalid.

            Large bodies up and down, each in a process of its own, beside curl and beside the bare transport; pictures \
            made ready to be uploaded, beside vipsthumbnail.
            """,
        subcommands: [TransferCommand.self, PictureCommand.self])

    @Flag(help: "A few seconds: enough to see that it works, and the order of magnitude.")
    var quick = false

    @Flag(help: "Print tables in Markdown.")
    var markdown = false

    @Option(help: "How many turns each side takes.")
    var rounds: Int?

    @Option(help: "How many calls are under way at once; may be given more than once. Default 1, 8 and 64.")
    var concurrency: [Int] = []

    @Option(help: "What to measure; may be given more than once. Default everything.")
    var part: [Part] = []

    @Option(help: "For profilers: run one side only, without comparing.")
    var only: Side?

    @Option(help: "How many calls to make with --only.")
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

    /// Long enough for a slice to be steady, short enough for neighbouring ones to see the same machine.
    private func sliceSize(_ concurrency: Int) -> Int {
        concurrency == 1 ? 500 : 1500
    }
}
