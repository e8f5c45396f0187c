import ArgumentParser
import Foundation

/// One run of the tests with one fault, in a process of its own that is killed with all that it started.
struct TestRun {
    /// How a run ended.
    enum Outcome {
        case passed
        case noticed(String)
    }

    let program: URL
    /// The seconds without any output after which a run counts as a hang.
    let limit: Double
    /// Whether the run continues after the first test that fails.
    let countsAll: Bool

    /// Runs the tests with a fault switched on, or with none for number 0.
    func outcome(fault number: Int, _ arguments: [String]) throws -> Outcome {
        // Short, because tests create sockets in it, whose paths have a limit.
        let scratch = FileManager.default.temporaryDirectory.appending(path: "mutants-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: scratch) }
        let log = scratch.appending(path: "log")
        try Data().write(to: log)
        let run = Process()
        run.executableURL = program
        run.arguments = ["--testing-library", "swift-testing"] + arguments
        // A faulty file store must not write to the home of the user.
        let own = ["MARTLET_FAULT": "\(number)", "TMPDIR": scratch.path, "HOME": scratch.path]
        run.environment = ProcessInfo.processInfo.environment.merging(own) { $1 }
        let output = try FileHandle(forWritingTo: log)
        run.standardInput = FileHandle.nullDevice
        run.standardOutput = output
        run.standardError = output
        var (length, lastOutput) = (0, ContinuousClock.now)
        try run.run()
        defer {
            kill(mentioning: scratch.path, run.processIdentifier)
            run.waitUntilExit()
        }
        while true {
            let isRunning = run.isRunning
            let text = try String(decoding: Data(contentsOf: log), as: UTF8.self)
            let failed = text.matches(of: /✘ Test (.+?) recorded an issue/).map { String($0.1) }
            if let first = failed.first, !countsAll { return .noticed(first) }
            if !isRunning {
                if !failed.isEmpty { return .noticed("\(Set(failed).count) tests") }
                if text.contains(/✔ Test run with [1-9].* passed/), run.terminationStatus == 0 { return .passed }
                return .noticed("a crash: status \(run.terminationStatus)")
            }
            if text.utf8.count > length { (length, lastOutput) = (text.utf8.count, .now) }
            if ContinuousClock.now - lastOutput > .seconds(limit) {
                return .noticed(failed.isEmpty ? "a hang" : "\(Set(failed).count) tests and a hang")
            }
            try Interruption.pause()
        }
    }

    /// Kills the run, and the programs that its tests started, which know the run's folder.
    private func kill(mentioning text: String, _ id: pid_t) {
        end(id)
        for id in ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap({ pid_t($0) }) {
            guard let environment = FileManager.default.contents(atPath: "/proc/\(id)/environ") else { continue }
            if String(decoding: environment, as: UTF8.self).contains(text) { end(id) }
        }
    }

    private func end(_ id: pid_t) {
        #if canImport(Darwin)
            Darwin.kill(id, SIGKILL)
        #else
            Glibc.kill(id, SIGKILL)
        #endif
    }
}

/// The end of a run by Ctrl-C, which reaches only this program: Foundation starts each program in a group of its own.
enum Interruption {
    // Set by the signal handler only, and read as a whole.
    nonisolated(unsafe) private static var isRequested = false

    static func begin() {
        for number in [SIGINT, SIGTERM] { signal(number) { _ in Interruption.isRequested = true } }
    }

    /// Waits a moment for a program. Throws after a signal, so that the caller ends the program and cleans up.
    static func pause() throws {
        Thread.sleep(forTimeInterval: 0.2)
        if isRequested { throw ExitCode(130) }
    }
}
