internal import Foundation

/// Other programs, run one after the other.
enum Children {
    struct Failed: Error, CustomStringConvertible {
        let command: String
        let status: Int32
        var description: String { "\(command) ended with status \(status)" }
    }

    /// This program's own file.
    static var own: URL { Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0]) }

    /// Where a command stands in the `PATH`; `nil` where it is not installed.
    static func path(of command: String) -> URL? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return folders.lazy.map { URL(fileURLWithPath: String($0)).appendingPathComponent(command) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    /// Runs a program to its end and returns what it printed.
    static func run(_ program: URL, _ arguments: [String]) throws -> Data {
        let process = Process()
        let output = Pipe()
        process.executableURL = program
        process.arguments = arguments
        process.standardOutput = output
        try process.run()
        let printed = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failed(command: program.lastPathComponent, status: process.terminationStatus)
        }
        return printed
    }
}

/// A folder for large files, which goes with the last reference to it.
final class Scratch {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit {
        // What cannot be deleted lies among the temporary files, which the system clears.
        try? FileManager.default.removeItem(at: folder)
    }

    func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    /// A file of bytes that do not compress.
    func file(_ name: String, size: Int) throws -> String {
        let path = path(name)
        var generator = SystemRandomNumberGenerator()
        var block = Data(capacity: 1 << 20)
        while block.count < 1 << 20 { withUnsafeBytes(of: generator.next()) { block.append(contentsOf: $0) } }
        try Data().write(to: URL(fileURLWithPath: path))
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        defer { try? handle.close() }
        for start in stride(from: 0, to: size, by: block.count) {
            try handle.write(contentsOf: block.prefix(size - start))
        }
        // Or what the disk still has to do would be counted as the first sender's.
        try handle.synchronize()
        return path
    }
}
