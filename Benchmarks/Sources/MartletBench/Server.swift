internal import Foundation

/// The server's process. Its executable is next to this one.
struct Server {
    let port: Int
    private let process: Process
    private let input: Pipe

    struct StartError: Error, CustomStringConvertible {
        let path: String
        var description: String { "cannot start \(path); build all products of the package first" }
    }

    static func start() throws -> Server {
        let url = Children.own.deletingLastPathComponent().appendingPathComponent("bench-server")
        let process = Process()
        let (input, output) = (Pipe(), Pipe())
        process.executableURL = url
        process.standardInput = input
        process.standardOutput = output
        do {
            try process.run()
        } catch {
            throw StartError(path: url.path)
        }
        // The port is the only output.
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)), port > 0 else {
            process.terminate()
            throw StartError(path: url.path)
        }
        return Server(port: port, process: process, input: input)
    }

    /// Closes the server's standard input, which makes it exit. If this process is killed, the system closes it.
    func stop() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
