internal import ArgumentParser
internal import Foundation

/// `martlet torture`: many processes share one session, and are killed and stopped at it.
struct TortureCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "torture",
        abstract: "Let several processes share one session, and kill and stop them at it.",
        discussion: """
            Each round some of the processes make calls on a token that has just expired, so that one of them has to \
            renew it for all. Modes: "calm" leaves them alone; "graced" kills and stops them, while the server takes a \
            spent refresh token for 30 s more, which is longer than the lease of the lock; "harsh" does so with a \
            server that takes none, so that a session may be lost, but only to a strike between sending the refresh \
            and the durable write.

            Exits with 0 only if nothing was wrong. The same seed plans the same rounds and strikes; when each process \
            gets to run is up to the system, so a failure may need several tries to come back.
            """)

    @Option(help: "How many rounds to play in each mode.")
    var rounds = 1000

    @Option(help: "Which rounds and strikes to plan; a random one is taken, and named, by default.")
    var seed: UInt64?

    @Option(help: "What to do to the processes: \(ModeChoice.allNames).")
    var mode = ModeChoice.all

    @Option(help: "How many processes share the session at most, from 2 to 8; a round takes 2 or more of them.")
    var processes = 8

    @Option(help: "How long a holder of the lock is left alone where processes are stopped, in milliseconds.")
    var lease = 1000

    @Flag(help: "Take the lock away from the processes, to see that the torture can fail.")
    var withoutLock = false

    @Flag(name: .customLong("no-color"), help: "Print without colours, as with NO_COLOR set.")
    var noColour = false

    func validate() throws {
        guard rounds >= 1 else { throw ValidationError("--rounds must be 1 or more.") }
        guard (2...8).contains(processes) else { throw ValidationError("--processes must be from 2 to 8.") }
        guard (200...10_000).contains(lease) else { throw ValidationError("--lease must be from 200 to 10000.") }
    }

    func run() async throws {
        let seed = seed ?? UInt64(UInt32.random(in: 1 ... .max))
        var settings = TortureSettings(
            rounds: rounds, seed: seed, processes: processes, lease: .milliseconds(lease))
        settings.hidesLock = withoutLock
        let torture = Torture(settings: settings, modes: mode.modes, console: Console(allowsColour: !noColour))
        let isRight = try await untilInterrupted { await torture.run() }
        if !isRight { throw ExitCode.failure }
    }
}

/// One mode or all of them.
enum ModeChoice: String, CaseIterable, ExpressibleByArgument {
    case calm
    case graced
    case harsh
    case all

    static var allNames: String { allCases.map(\.rawValue).joined(separator: ", ") }

    var modes: [TortureMode] {
        TortureMode(rawValue: rawValue).map { [$0] } ?? TortureMode.allCases
    }
}
