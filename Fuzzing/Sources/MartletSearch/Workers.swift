import ArgumentParser
import Dispatch
import Foundation

/// Processes that search one setting each. Within a process, all jobs of the engine run on one thread.
struct Workers {
    let command: SearchCommand

    init(searching command: SearchCommand) {
        self.command = command
    }

    /// Prints the output of each setting's process, in the order of the settings, and the total.
    func run() throws {
        let start = ContinuousClock.now
        let folder = FileManager.default.temporaryDirectory.appending(path: "martlet-search-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let slots = DispatchSemaphore(value: command.processes)
        // The largest settings first, so that all processes end at about the same time.
        let order = Setting.all.indices.sorted { Setting.all[$0].isShared && !Setting.all[$1].isShared }
        var running: [Int: Process] = [:]
        for setting in order {
            slots.wait()
            running[setting] = try startProcess(for: setting, printingTo: output(of: setting, in: folder)) {
                slots.signal()
            }
        }
        var total = Total()
        var hasFailed = false
        for (setting, process) in running.sorted(by: { $0.key < $1.key }) {
            process.waitUntilExit()
            hasFailed = hasFailed || process.terminationStatus != 0 || process.terminationReason != .exit
            let text = try String(contentsOf: output(of: setting, in: folder), encoding: .utf8)
            for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
                if let part = Total(line) { total.add(part) } else { print(line) }
            }
        }
        print(command.words(of: total, to: command.depth, after: ContinuousClock.now - start))
        if hasFailed { throw ExitCode.failure }
    }

    private func output(of setting: Int, in folder: URL) -> URL {
        folder.appending(path: "\(setting)")
    }

    private func startProcess(
        for setting: Int, printingTo file: URL, whenDone: @escaping @Sendable () -> Void
    ) throws -> Process {
        try Data().write(to: file)
        let process = Process()
        process.executableURL = Bundle.main.executableURL
        process.arguments = [
            "--setting", "\(setting)", "--depth", "\(command.depth)", "--disturbances", "\(command.disturbances)",
            "--callers", "\(command.callers)", "--sessions", "\(command.sessions)",
        ]
        process.standardOutput = try FileHandle(forWritingTo: file)
        process.terminationHandler = { _ in whenDone() }
        try process.run()
        return process
    }
}

/// The counts of a search.
struct Total: CustomStringConvertible {
    var worlds = 0
    var transitions = 0
    var violations = 0

    init() {}

    /// Reads the last line of a search.
    init?(_ line: Substring) {
        let numbers = line.split(separator: " ").compactMap { Int($0) }
        guard line.hasSuffix(" violations"), numbers.count == 6 else { return nil }
        (worlds, transitions, violations) = (numbers[0], numbers[1], numbers[5])
    }

    mutating func add(_ other: Total) {
        worlds += other.worlds
        transitions += other.transitions
        violations += other.violations
    }

    var description: String { "\(worlds) worlds and \(transitions) transitions" }
}
