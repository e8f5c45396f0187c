internal import Foundation

/// The server's process, which stands beside this one's executable.
struct Server {
    let port: Int
    private let process: Process
    private let input: Pipe

    struct CannotStart: Error, CustomStringConvertible {
        let path: String
        var description: String { "\(path) does not start; build all products of the package" }
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
            throw CannotStart(path: url.path)
        }
        // The port is the one thing that it ever prints.
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)), port > 0 else {
            process.terminate()
            throw CannotStart(path: url.path)
        }
        return Server(port: port, process: process, input: input)
    }

    /// Closes its input, at which it ends; should this process be killed, that happens by itself.
    func stop() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
