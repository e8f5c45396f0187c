internal import Foundation

/// A child process that responds to each line with a line, until its standard input is closed.
///
/// Between requests it waits without using the processor, so that several children can take turns.
final class Dialogue {
    struct EndedError: Error, CustomStringConvertible {
        let command: String
        var description: String { "\(command) ended without an answer" }
    }

    private let process: Process
    private let (input, output) = (Pipe(), Pipe())
    private var unread = Data()

    init(_ program: URL, _ arguments: [String] = [], on core: Int? = nil) throws {
        process = Processors.process(program, arguments, on: core)
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    deinit { close() }

    func ask(_ question: String) throws -> Data {
        try input.fileHandleForWriting.write(contentsOf: Data("\(question)\n".utf8))
        return try line()
    }

    /// The next line that the child prints.
    func line() throws -> Data {
        while true {
            if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                defer { unread = Data(unread[(end + 1)...]) }
                return Data(unread[..<end])
            }
            let bytes = output.fileHandleForReading.availableData
            guard !bytes.isEmpty else {
                throw EndedError(
                    command: ([process.executableURL?.path ?? ""] + (process.arguments ?? [])).joined(separator: " "))
            }
            unread.append(bytes)
        }
    }

    /// Closes the child's standard input, which makes it exit. If this process is killed, the system closes it.
    func close() {
        guard process.isRunning else { return }
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
