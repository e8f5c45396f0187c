internal import Foundation

/// Runs other programs and returns their output.
enum Children {
    struct CommandError: Error, CustomStringConvertible {
        let command: String
        let status: Int32
        var description: String { "\(command) exited with status \(status)" }
    }

    /// The executable of this process.
    static var own: URL { Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0]) }

    /// The path of a command in `PATH`, or `nil` if it is not installed.
    static func path(of command: String) -> URL? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return folders.lazy.map { URL(fileURLWithPath: String($0)).appendingPathComponent(command) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    /// Runs a program until it exits and returns its output. Throws if its exit status is not 0.
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
            throw CommandError(command: program.lastPathComponent, status: process.terminationStatus)
        }
        return printed
    }
}

/// A temporary folder for large files, deleted with the last reference.
final class Scratch {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit {
        // A folder that cannot be deleted is left to the system's cleanup of temporary files.
        try? FileManager.default.removeItem(at: folder)
    }

    func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    /// Creates a file of random bytes, which do not compress.
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
        // Otherwise the pending writes would slow down the first transfer.
        try handle.synchronize()
        return path
    }
}
