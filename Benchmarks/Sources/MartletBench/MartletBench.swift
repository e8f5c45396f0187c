internal import ArgumentParser
internal import Foundation
internal import Martlet

/// `martlet-bench`: measures the overhead of Martlet over the client that it sends with.
@main
struct MartletBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "martlet-bench",
        abstract: "Compare Martlet with the clients that it sends with, in one run.",
        discussion: """
            Makes typed GET calls for 915 bytes of JSON with a bearer token, at several degrees of concurrency. Each \
            client is a process of its own, and they take turns in short slices, so that other load slows down all of \
            them. The result is the median of the ratios of neighboring slices. Where there are two cores, the server \
            and the clients have one each, and then share both. Bursts of calls use a token that has just become \
            invalid. Growth has more calls at once, larger responses, more interceptors and a longer run.

            Transfers large bodies, each in a process of its own, and compares them with curl and the bare transport. \
            Prepares pictures for upload and compares this with vipsthumbnail.
            """,
        subcommands: [ClientCommand.self, WaitersCommand.self, TransferCommand.self, PictureCommand.self])

    @Flag(help: "Run for a minute or two only, for a rough result.")
    var quick = false

    @Flag(help: "Run everything once, to see that it works. The figures mean nothing.")
    var once = false

    @Flag(help: "Print tables in Markdown.")
    var markdown = false

    @Option(help: "The number of slices of each client.")
    var rounds: Int?

    // Not `--concurrency`: this command would take that from the arguments of its subcommands.
    @Option(help: "The number of calls at once. May be repeated. The default is 1, 8, 64 and 256.")
    var atOnce: [Int] = []

    @Option(help: "The part to measure. May be repeated. The default is all parts.")
    var part: [Part] = []

    @Flag(help: "Make a million calls in the long run of the growth.")
    var million = false

    @Option(help: "The file for the chart of the calls.")
    var svg: String?

    enum Part: String, CaseIterable, ExpressibleByArgument {
        case calls
        case bursts
        case growth
        case transfers
        case pictures
    }

    func validate() throws {
        guard atOnce.allSatisfy({ $0 > 0 }) else { throw ValidationError("--at-once must be positive.") }
    }

    func run() async throws {
        let report = Report(isMarkdown: markdown, isSerious: !once)
        let effort: Effort = once ? .once : quick ? .quick : .full
        let parts = part.isEmpty ? Part.allCases : part
        var targets: [Target] = []
        if parts.contains(.calls) {
            let levels = atOnce.isEmpty ? effort.pick([1, 8], [1, 8, 64, 256], [1, 8, 64, 256]) : atOnce
            let calls = try Calls(concurrency: levels, rounds: rounds, effort)
            report.show(calls)
            if let svg {
                try Data(Chart(calls).svg.utf8).write(to: URL(fileURLWithPath: svg))
                print("The chart is in \(svg).\n")
            }
            targets += calls.targets
        }
        if parts.contains(.bursts) {
            let bursts = try await Bursts(effort)
            report.show(bursts)
            targets += bursts.targets
        }
        if parts.contains(.growth) {
            let growth = try Growth(effort, loopCalls: million ? 1_000_000 : nil)
            report.show(growth)
            targets += growth.targets
        }
        report.show(targets)
        if parts.contains(.transfers) {
            let server = try Server()
            defer { server.stop() }
            report.show(try Transfers.run(port: server.port, effort))
        }
        // Making the pictures takes longer than preparing them.
        if parts.contains(.pictures), !once { report.show(try Pictures.run(isQuick: quick)) }
        if once { print("One iteration of each part.") }
    }
}
