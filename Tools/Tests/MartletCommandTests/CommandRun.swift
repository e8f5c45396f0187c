import Foundation
import Testing

@testable import MartletCommand

/// Runs the `martlet` command as a child process until it exits, with an empty folder as its `TMPDIR`.
struct CommandRun {
    let status: Int32
    let output: String
    /// The files left in the folder.
    let leftovers: [String]

    /// - Parameter text: Sends SIGINT to the process once its output contains this text.
    init(_ arguments: String..., interruptedAfter text: String? = nil) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "martlet-command-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let process = try Program(path: Self.command.path).spawn(
            arguments, environment: ProcessInfo.processInfo.environment.merging(["TMPDIR": folder.path]) { $1 })
        let (pieces, printing) = AsyncStream<Data>.makeStream()
        let (ends, end) = AsyncStream<Int32>.makeStream()
        Thread.detachNewThread {
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = read(process.output, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                printing.yield(Data(buffer[..<count]))
            }
            printing.finish()
            close(process.output)
            close(process.input)
            var status: Int32 = 0
            while waitpid(process.pid, &status, 0) < 0, errno == EINTR {}
            // The low 7 bits are the signal that ended the process, the next byte is its exit code.
            end.yield(status & 0x7F == 0 ? status >> 8 & 0xFF : -(status & 0x7F))
            end.finish()
        }
        var printed = Data()
        var text = text
        for await piece in pieces {
            printed += piece
            if let awaited = text, String(decoding: printed, as: UTF8.self).contains(awaited) {
                text = nil
                kill(process.pid, SIGINT)
            }
        }
        status = try #require(await ends.first { _ in true })
        output = String(decoding: printed, as: UTF8.self)
        leftovers = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    }

    /// The number in the row of the printed table that starts with `name`.
    func figure(_ name: String) -> Int? {
        output.split(separator: "\n").first { $0.hasPrefix(name + " ") }?
            .split(separator: " ").last.flatMap { Int($0.replacing(",", with: "")) }
    }

    /// The executable is built into the same folder as the tests.
    private static let command = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appending(path: "martlet")
}
