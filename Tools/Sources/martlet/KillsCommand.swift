internal import ArgumentParser
internal import Foundation

/// `martlet kills`: a process writes to the file stores and is killed, over and over.
struct KillsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kills",
        abstract: "Kill a process while it writes to the file stores, and see whether a record is torn or lost.",
        discussion: """
            Each round a process writes record after record to each of the stores at the same time, and says which \
            of them are stored. At some moment it gets SIGKILL. Then each record must be whole, and no older than the \
            last one that the process has spoken of.

            Exits with 0 only if that was so each time. The same seed plans the same moments; what the process is \
            about then is up to the system. Meanwhile it also downloads a file over and over, to where nothing is and to \
            where a file is: that must be whole or not there, with nothing else left of it but, where it replaces a \
            file, a hidden one that the next download clears away.
            """)

    @Option(help: "How many processes to kill.")
    var rounds = 1000

    @Option(help: "Which moments to plan; a random one is taken, and named, by default.")
    var seed: UInt64?

    @Flag(help: "Write the records in place, to see that this can fail.")
    var inPlace = false

    @Flag(name: .customLong("no-color"), help: "Print without colours, as with NO_COLOR set.")
    var noColour = false

    func validate() throws {
        guard rounds >= 1 else { throw ValidationError("--rounds must be 1 or more.") }
    }

    func run() async throws {
        let kills = Kills(
            rounds: rounds, seed: seed ?? UInt64(UInt32.random(in: 1 ... .max)), writesInPlace: inPlace,
            console: Console(allowsColour: !noColour))
        if try await untilInterrupted({ await kills.run() }) == false { throw ExitCode.failure }
    }
}

/// `martlet kills-worker`: one of the processes that `martlet kills` starts.
struct KillsWorkerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kills-worker", abstract: "One of the processes that kills starts.", shouldDisplay: false)

    @Argument(help: "Where the records are.")
    var folder: String

    @Flag(help: "Write the records in place.")
    var inPlace = false

    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for store in KilledStore.allCases {
                group.addTask { try await store.write(in: folder, inPlace: inPlace) }
            }
            // It takes time from the writers, who are to be caught in the middle.
            if !inPlace { group.addTask { try await KilledDownload.download(in: folder) } }
            try await group.waitForAll()
        }
    }
}
