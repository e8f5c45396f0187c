internal import ArgumentParser
internal import Foundation

/// `martlet kills`: repeatedly kills a process that writes to the file stores and checks the records it leaves.
struct KillsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kills",
        abstract: "Kill a process while it writes to the file stores, and check that no record is torn or lost.",
        discussion: """
            Each round, a process writes record after record to every store in parallel and reports each stored \
            record. It also downloads a file again and again, to a new path and over an existing file. Then it gets \
            SIGKILL at a planned moment.

            After each kill every record must be complete and no older than the last one that was reported. The \
            downloaded file must be complete or absent, and no other file may remain. Only a download that replaces a \
            file may leave one hidden file, which the next download must remove.

            Exits with 0 only if this held in every round. The same seed plans the same moments, but the system \
            decides what the process is doing at that moment.
            """)

    @Option(help: "How many processes to kill.")
    var rounds = 1000

    @Option(help: "The seed of the planned moments. By default, a random seed is chosen and printed.")
    var seed: UInt64?

    @Flag(help: "Overwrite the records in place, to show that the check can fail.")
    var inPlace = false

    @Flag(name: .customLong("no-color"), help: "Print without colors, as if NO_COLOR were set.")
    var noColor = false

    func validate() throws {
        guard rounds >= 1 else { throw ValidationError("--rounds must be 1 or more.") }
    }

    func run() async throws {
        let kills = Kills(
            rounds: rounds, seed: seed ?? UInt64(UInt32.random(in: 1 ... .max)), writesInPlace: inPlace,
            console: Console(allowsColor: !noColor))
        if try await runUntilInterrupted({ await kills.run() }) == false { throw ExitCode.failure }
    }
}

/// `martlet kills-worker`: the process that `martlet kills` starts and kills.
struct KillsWorkerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kills-worker", abstract: "The process that kills starts.", shouldDisplay: false)

    @Argument(help: "The folder of the records.")
    var folder: String

    @Flag(help: "Overwrite the records in place.")
    var inPlace = false

    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for store in StoreUnderTest.allCases {
                group.addTask { try await store.write(in: folder, inPlace: inPlace) }
            }
            // Downloads would slow down the writers, and fewer kills would hit a write.
            if !inPlace { group.addTask { try await KilledDownload.download(in: folder) } }
            try await group.waitForAll()
        }
    }
}
