import ArgumentParser
import MartletTesting

@main
struct FuzzCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "martlet-fuzz",
        abstract: "Runs the session engine in random schedules and looks for what must never happen.",
        discussion: """
            A schedule is one to three processes that share a stored session, their callers, a disk and a server that do \
            not make it easy, and the order in which all of it happens. Everything comes from its seed: the same seed \
            gives the same schedule, step for step.
            """)

    @Option(help: "For how long, in seconds.")
    var seconds = 60

    @Option(help: "Run the schedule of this seed alone, and tell its story.")
    var seed: UInt64?

    @Option(help: "The first seed; a random one by default.")
    var firstSeed: UInt64?

    @Option(help: "How many violations are told in full before the run ends.")
    var stories = 1

    @Flag(help: "Do not check first that schedules repeat: a broken engine may not even do that.")
    var unchecked = false

    @Option(help: "Run so many schedules and print the digest of each, to compare it with another run's.")
    var digests: Int?

    func run() throws {
        if let seed { return try replay(seed) }
        let first = firstSeed ?? UInt64.random(in: 1...1_000_000_000_000)
        if let digests { return try printDigests(digests, from: first) }
        try fuzz(from: first)
    }
}
