internal import ArgumentParser
internal import Foundation

/// `martlet torture`: several processes share one session while some of them are killed or stopped.
struct TortureCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "torture",
        abstract: "Let several processes share one session, and kill and stop them while they refresh it.",
        discussion: """
            Each round, several processes make calls with an access token that has just expired, so that one of them \
            must refresh it for all. Modes: "calm" leaves the processes alone; "grace" kills and stops them, while \
            the server accepts a used refresh token for 30 s, longer than the lease of the lock; "harsh" kills and stops \
            them while the server accepts no used token. In "harsh", a session may be lost, but only if a process was \
            killed or stopped between sending a refresh and durably storing its result.

            The rounds of a mode are divided among the stores: a plain file, an encrypted file, and a keyring with a \
            session bus of its own. After each round it is judged whether the record is intact, why calls failed, how \
            many refreshes were sent, in which state the processes are after a sign-out or a loss, and whether each \
            used refresh token that the server received matches a recorded kill or stop.

            The processes use a cookie jar, a cache, joined calls and downloads that resume, over both transports. No \
            call may get content or send a cookie of a former session. The wall clock of one process is wrong, and \
            another one cannot watch files, as if the limits of inotify were reached.

            Exits with 0 only if no rule was violated. The same seed plans the same rounds and faults, but the system \
            schedules the processes, so a failure may need several runs to reproduce. A process that is slow because \
            the machine is busy looks like a stopped one. So each process measures how late its timers are, one of \
            them also how long the disk takes to keep a small file, and what a lateness of half a lease in the same \
            round explains is inconclusive and no violation.
            """)

    @Option(help: "How many rounds to run in each mode.")
    var rounds = 1000

    @Option(help: "The seed of the planned rounds. By default, a random seed is chosen and printed.")
    var seed: UInt64?

    @Option(help: "The mode to run: \(ModeChoice.allNames).")
    var mode = ModeChoice.all

    @Option(help: "The store to run over: \(StoreChoice.allNames). With several, the rounds are divided among them.")
    var store = StoreChoice.all

    @Option(help: "How many seconds the run may take at most. A mode then ends early.")
    var seconds: Int?

    @Option(help: "How many processes share the session, from 2 to 8. Each round uses 2 or more of them.")
    var processes = 8

    @Option(help: "The lease of the lock in milliseconds, for the modes that stop processes.")
    var lease = 1000

    @Option(help: "What is wrong with one process: \(HardshipChoice.allNames).")
    var hardship = HardshipChoice.all

    @Option(help: "The transport of the processes: \(TransportChoice.allNames). With all, they use them in turn.")
    var transport = TransportChoice.all

    @Flag(help: "Run without the lock, to show that the test can fail.")
    var withoutLock = false

    @Option(help: ArgumentHelp("The fault to plant into each process.", visibility: .hidden))
    var fault: PlantedFault?

    @Flag(name: .customLong("no-color"), help: "Print without colors, as if NO_COLOR were set.")
    var noColor = false

    func validate() throws {
        guard rounds >= 1 else { throw ValidationError("--rounds must be 1 or more.") }
        guard (2...8).contains(processes) else { throw ValidationError("--processes must be from 2 to 8.") }
        guard seconds.map({ $0 >= 1 }) ?? true else { throw ValidationError("--seconds must be 1 or more.") }
        guard store != .secretService || Keyring.isInstalled else {
            throw ValidationError("--store secret-service needs \(Keyring.packages).")
        }
        guard (200...10_000).contains(lease) else { throw ValidationError("--lease must be from 200 to 10000.") }
    }

    func run() async throws {
        let seed = seed ?? UInt64(UInt32.random(in: 1 ... .max))
        var settings = TortureSettings(
            rounds: rounds, seed: seed, processes: processes, lease: .milliseconds(lease))
        settings.fault = withoutLock ? .noLock : fault
        settings.hardships = hardship.hardships
        settings.transports = transport.transports
        settings.stores = store.stores
        settings.limit = seconds.map { .seconds($0) }
        let console = Console(allowsColor: !noColor)
        if store == .all, !Keyring.isInstalled {
            settings.stores.removeAll { $0 == .secretService }
            console.line(console.paint("Without the Secret Service, which needs \(Keyring.packages).", .note))
        }
        if settings.hardships.contains(.watch), !InotifyLimit.canBeReached {
            settings.hardships.removeAll { $0 == .watch }
            console.line(console.paint("Without a process that cannot watch files, which needs seccomp.", .note))
        }
        let torture = Torture(settings: settings, modes: mode.modes, console: console)
        let passed = try await runUntilInterrupted { await torture.run() }
        if !passed { throw ExitCode.failure }
    }
}

/// The value of `--mode`: one mode, or all of them.
enum ModeChoice: String, CaseIterable, ExpressibleByArgument {
    case calm
    case grace
    case harsh
    case all

    static var allNames: String { allCases.map(\.rawValue).joined(separator: ", ") }

    var modes: [TortureMode] {
        TortureMode(rawValue: rawValue).map { [$0] } ?? TortureMode.allCases
    }
}

/// The value of `--store`: one store, or all of them.
enum StoreChoice: String, CaseIterable, ExpressibleByArgument {
    case file
    case encrypted
    case secretService = "secret-service"
    case all

    static var allNames: String { allCases.map(\.rawValue).joined(separator: ", ") }

    var stores: [TortureStore] {
        TortureStore(rawValue: rawValue).map { [$0] } ?? TortureStore.allCases
    }
}

/// The value of `--hardship`: one hardship, all of them, or none.
enum HardshipChoice: String, CaseIterable, ExpressibleByArgument {
    case clock
    case watch
    case all
    case none

    static var allNames: String { allCases.map(\.rawValue).joined(separator: ", ") }

    var hardships: [ConditionPlan.Hardship] {
        if self == .none { return [] }
        return ConditionPlan.Hardship(rawValue: rawValue).map { [$0] } ?? ConditionPlan.Hardship.allCases
    }
}

/// The value of `--transport`: one transport, or all of them.
enum TransportChoice: String, CaseIterable, ExpressibleByArgument {
    case asyncHTTPClient = "async-http-client"
    case urlSession = "url-session"
    case all

    static var allNames: String { allCases.map(\.rawValue).joined(separator: ", ") }

    var transports: [WorkerTransport] {
        WorkerTransport(rawValue: rawValue).map { [$0] } ?? WorkerTransport.allCases
    }
}

extension PlantedFault: ExpressibleByArgument {}
