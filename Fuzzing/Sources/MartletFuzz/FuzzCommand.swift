import ArgumentParser
import MartletTesting

/// `martlet-fuzz`: runs the session engine in random schedules and checks the invariants after each one.
@main
struct FuzzCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "martlet-fuzz",
        abstract: "Runs the session engine in random schedules and checks its invariants.",
        discussion: """
            A schedule consists of one to three processes that share a stored session, their callers, an unreliable \
            disk, an unreliable server, and the order of all their steps. Everything derives from its seed: the same \
            seed gives the same schedule, step by step.
            """)

    @Option(help: "How long to run, in seconds.")
    var seconds = 60

    @Option(help: "Run only the schedule of this seed and print its transcript.")
    var seed: UInt64?

    @Option(help: "The first seed. Random by default.")
    var firstSeed: UInt64?

    @Option(help: "The number of violations to print before the run ends.")
    var violations = 1

    @Flag(help: "Skip the check that schedules are reproducible, which a broken engine may fail.")
    var unchecked = false

    @Option(help: "Run this many schedules and print a digest of each, for comparison with another run.")
    var digests: Int?

    func run() throws {
        if let seed { return try replay(seed) }
        let first = firstSeed ?? UInt64.random(in: 1...1_000_000_000_000)
        if let digests { return try printDigests(digests, from: first) }
        try fuzz(from: first)
    }
}
