import Foundation

/// One run of the tests with one fault, in a separate process that is killed with all the processes that it started.
struct TestRun {
    /// The outcome of a run.
    enum Outcome {
        case passed
        case noticed(String)
    }

    let program: URL
    /// The number of seconds without output after which a run counts as a hang.
    let limit: Double
    /// Whether the run continues after the first test that fails.
    let countsAll: Bool

    /// Runs the tests with a fault switched on, or with none for number 0.
    func outcome(fault number: Int) throws -> Outcome {
        // A test kills only its own processes. Unless it happens twice, the signal came from outside, for example
        // because the system was short of memory.
        if let outcome = try run(fault: number) { return outcome }
        return try run(fault: number) ?? .noticed("signal \(SIGKILL), twice")
    }

    /// - Returns: `nil` if the run was killed.
    private func run(fault number: Int) throws -> Outcome? {
        // Keep the path short: tests create sockets in the folder, and the length of a socket's path is limited.
        let scratch = FileManager.default.temporaryDirectory.appending(path: "mutants-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: scratch) }
        let log = scratch.appending(path: "log")
        try Data().write(to: log)
        let run = Process()
        run.executableURL = program
        run.arguments = ["--testing-library", "swift-testing"]
        // A faulty file store must not write to the user's home folder.
        let own = ["MARTLET_FAULT": "\(number)", "TMPDIR": scratch.path, "HOME": scratch.path]
        run.environment = ProcessInfo.processInfo.environment.merging(own) { $1 }
        let output = try FileHandle(forWritingTo: log)
        run.standardInput = FileHandle.nullDevice
        run.standardOutput = output
        run.standardError = output
        var (length, lastOutput) = (0, ContinuousClock.now)
        try run.run()
        defer { Interruption.kill(run, mentioning: scratch.path) }
        while true {
            let isRunning = run.isRunning
            let text = try String(decoding: Data(contentsOf: log), as: UTF8.self)
            let failed = text.matches(of: /✘ Test (.+?) recorded an issue/).map { String($0.1) }
            if let first = failed.first, !countsAll { return .noticed(first) }
            if !isRunning {
                if !failed.isEmpty { return .noticed("\(Set(failed).count) tests") }
                if text.contains(/✔ Test run with [1-9].* passed/), run.terminationStatus == 0 { return .passed }
                let isSignal = run.terminationReason == .uncaughtSignal
                if isSignal, run.terminationStatus == SIGKILL { return nil }
                return .noticed("a crash: \(isSignal ? "signal" : "status") \(run.terminationStatus)")
            }
            if text.utf8.count > length { (length, lastOutput) = (text.utf8.count, .now) }
            if ContinuousClock.now - lastOutput > .seconds(limit) {
                return .noticed(failed.isEmpty ? "a hang" : "\(Set(failed).count) tests and a hang")
            }
            try Interruption.pause()
        }
    }
}
