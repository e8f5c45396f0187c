import Foundation
import Testing

/// The command, run as a process of its own to its end, with a folder of its own for what it puts aside.
struct CommandRun {
    let status: Int32
    let output: String
    /// What was in the folder afterwards.
    let leftovers: [String]

    /// - Parameter text: Once this was printed the process gets SIGINT.
    init(_ arguments: String..., interruptedAfter text: String? = nil) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "martlet-command-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let process = Process()
        process.executableURL = Self.command
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": folder.path]) { $1 }
        let pipe = Pipe()
        process.standardOutput = pipe
        let (pieces, printing) = AsyncStream<Data>.makeStream()
        pipe.fileHandleForReading.readabilityHandler = { handle in
            let bytes = handle.availableData
            guard bytes.isEmpty else {
                printing.yield(bytes)
                return
            }
            handle.readabilityHandler = nil
            printing.finish()
        }
        let (ends, end) = AsyncStream<Int32>.makeStream()
        process.terminationHandler = { process in
            end.yield(process.terminationStatus)
            end.finish()
        }
        try process.run()
        var printed = Data()
        var text = text
        for await piece in pieces {
            printed += piece
            if let awaited = text, String(decoding: printed, as: UTF8.self).contains(awaited) {
                text = nil
                kill(process.processIdentifier, SIGINT)
            }
        }
        status = try #require(await ends.first { _ in true })
        output = String(decoding: printed, as: UTF8.self)
        leftovers = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    }

    /// A number in the table that was printed.
    func figure(_ name: String) -> Int? {
        output.split(separator: "\n").first { $0.hasPrefix(name + " ") }?
            .split(separator: " ").last.flatMap { Int($0.replacing(",", with: "")) }
    }

    /// It is built beside the tests.
    private static let command = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appending(path: "martlet")
}
