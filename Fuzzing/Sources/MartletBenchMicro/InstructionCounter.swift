import Foundation

/// Counts the instructions of a step in processes of its own, under valgrind.
struct InstructionCounter {
    struct CountError: Error, CustomStringConvertible {
        let output: String
        var description: String { "valgrind printed no count:\n\(output)" }
    }

    private let valgrind: URL

    /// `nil` if valgrind is not installed.
    init?() {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let paths = folders.map { URL(fileURLWithPath: String($0)).appendingPathComponent("valgrind") }
        guard let path = paths.first(where: { FileManager.default.isExecutableFile(atPath: $0.path) }) else {
            return nil
        }
        valgrind = path
    }

    /// Both counts include the start of the process, so their difference does not.
    func instructions(of step: Step) throws -> Int {
        let (short, long) = step.counted
        return try (total(step.name, long) - total(step.name, short)) / (long - short)
    }

    private func total(_ step: String, _ repetitions: Int) throws -> Int {
        let process = Process()
        let output = Pipe()
        process.executableURL = valgrind
        process.arguments = [
            "--tool=callgrind", "--callgrind-out-file=/dev/null",
            Bundle.main.executableURL?.path ?? CommandLine.arguments[0], "--only", step, "--repetitions",
            "\(repetitions)",
        ]
        process.standardError = output
        try process.run()
        let printed = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let line = printed.split(separator: "\n").first { $0.contains("Collected :") } ?? ""
        guard let count = line.split(separator: " ").last.flatMap({ Int($0) }) else {
            throw CountError(output: printed)
        }
        return count
    }
}
