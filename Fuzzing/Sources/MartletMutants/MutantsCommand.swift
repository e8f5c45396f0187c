import ArgumentParser
import Foundation

/// `martlet-mutants`: puts random faults into a copy of the library and runs the tests with each.
@main
struct MutantsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "martlet-mutants",
        abstract: "Puts random faults into a copy of the library, and lists those that no test notices.",
        discussion: """
            A seed means the same faults for the same sources. All faults are compiled into one copy, each behind a \
            switch, and the tests run once for each switch, up to the first that fails. A crash and a hang count as \
            noticed. A run that is killed is repeated once: no fault kills the tests.
            """)

    @Option(help: "The number of faults.")
    var count = 30

    @Option(help: "The seed of the choice. Random by default.")
    var seed: UInt64?

    @Option(help: "Folders or files of Sources/Martlet, separated by commas.")
    var folders = "Client,Connectivity,Interceptors,Session,Transfers,Transport"

    @Option(help: "Traits to build with, separated by commas.")
    var traits = ""

    @Option(help: "The numbers of the faults to run, separated by commas. All by default.")
    var only = ""

    @Flag(help: "List the faults, and run no tests.")
    var list = false

    @Option(help: "The seconds without output after which a run of the tests counts as a hang.")
    var limit = 60.0

    @Flag(help: "Run all tests with each fault, and count those that fail.")
    var all = false

    @Option(help: "The root of the package.")
    var root = "."

    func run() throws {
        Interruption.begin()
        let seed = seed ?? UInt64.random(in: 1...999_999)
        let root = URL(filePath: root).standardizedFileURL
        let folder = root.appending(path: ".build/mutants")
        let traits = traits.split(separator: ",").map(String.init)
        let workshop = Workshop(source: root, folder: folder, traits: traits)

        var (faults, candidates, dropped) = try compiledFaults(workshop, seed)
        say("\(faults.count) faults of \(candidates) with seed \(seed); \(dropped) others did not compile.")
        let chosen = Set(only.split(separator: ",").compactMap { Int($0) })
        if !chosen.isEmpty { faults.removeAll { !chosen.contains($0.number) } }
        if list {
            for fault in faults { describe(fault) }
            return
        }
        let tests = TestRun(
            program: folder.appending(path: ".build/debug/martletPackageTests.xctest"), limit: limit, countsAll: all)
        let start = ContinuousClock.now
        if case .noticed(let what) = try tests.outcome(fault: 0) {
            throw RunError("The tests fail without a fault: \(what)")
        }
        say("Without a fault, the tests pass in \(seconds(since: start)).\n")
        try run(tests, with: faults)
    }

    private func run(_ tests: TestRun, with faults: [(number: Int, fault: Fault)]) throws {
        var (noticed, survivors) = (0, [(number: Int, fault: Fault)]())
        // Also after Ctrl-C.
        defer {
            say("\n\(noticed + survivors.count) faults, \(noticed) noticed, \(survivors.count) survived")
            for survivor in survivors { describe(survivor) }
        }
        for fault in faults {
            describe(fault)
            let start = ContinuousClock.now
            switch try tests.outcome(fault: fault.number) {
            case .passed:
                survivors.append(fault)
                say("   SURVIVED (\(seconds(since: start)))")
            case .noticed(let what):
                noticed += 1
                say("   noticed by \(what) (\(seconds(since: start)))")
            }
        }
    }

    private func describe(_ planted: (number: Int, fault: Fault)) {
        let (number, fault) = planted
        let change = fault.change
        say("\(number)  \(fault.place)  \(fault.kind.rawValue)\n     \(change.before)\n   → \(change.after)")
    }

    /// Plants faults in random order until the build is complete, and returns as many as are wanted.
    private func compiledFaults(
        _ workshop: Workshop, _ seed: UInt64
    ) throws -> (faults: [(number: Int, fault: Fault)], candidates: Int, dropped: Int) {
        var generator = SeededGenerator(state: seed)
        let names = folders.split(separator: ",").flatMap { workshop.swiftFiles(in: "Sources/Martlet/\($0)") }
        let candidates = try names.flatMap { name in
            let text = try String(contentsOf: workshop.source.appending(path: name), encoding: .utf8)
            return FaultFinder(code: SwiftCode(path: name, text: text, traits: Set(workshop.traits))).faults()
        }.shuffled(using: &generator)

        // Plant some in reserve, because each build takes a minute.
        var lines: Set<String> = []
        var planted = candidates.filter { fault in
            let touched = Set((fault.line...fault.lastLine).map { "\(fault.code.path):\($0)" })
            guard lines.isDisjoint(with: touched) else { return false }
            lines.formUnion(touched)
            return true
        }.prefix(count * 3 / 2 + 5).enumerated().map { (number: $0 + 1, fault: $1) }
        var dropped = 0
        try workshop.plant(planted)
        while let errors = try workshop.build() {
            let guilty = Set(
                errors.compactMap { error in
                    // An error may follow its fault, such as the use of a variable that the fault does not set.
                    planted.filter { $0.fault.code.path == error.path && $0.fault.line <= error.line }
                        .max { $0.fault.line < $1.fault.line }?.number
                })
            guard !guilty.isEmpty else { throw RunError("The build fails: \(errors)") }
            dropped += guilty.count
            planted.removeAll { guilty.contains($0.number) }
            try workshop.plant(planted)
        }
        return (Array(planted.prefix(count)), candidates.count, dropped)
    }

    private func say(_ text: String) {
        print(text)
        // A run takes many minutes, and its output often goes to a file.
        fflush(nil)
    }

    private func seconds(since start: ContinuousClock.Instant) -> String {
        "\((ContinuousClock.now - start).components.seconds) s"
    }
}

/// SplitMix64, whose numbers are the same for the same seed on every platform.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
