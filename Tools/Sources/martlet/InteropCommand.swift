internal import ArgumentParser
internal import Foundation

/// `martlet interop`: processes share a session of third-party servers.
struct InteropCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "interop",
        abstract: "Let several processes share one session of Django and Flask servers whose tokens live seconds.",
        discussion: """
            Starts Django SimpleJWT with rotation and blacklist, Django OAuth Toolkit, and Flask-JWT-Extended, one after \
            the other. The processes share an encrypted record and make calls all the time. Both sides count: the \
            server what it served and refreshed, the processes what failed.

            Exits with 0 only if no call failed, every token was refreshed once at the end of its life, and each \
            refresh of the server is one rotation of the record.
            """)

    @Option(help: "How many seconds to make calls to each server.")
    var seconds = 20

    @Option(help: "How many seconds an access token lives.")
    var lifetime = 5

    @Option(help: "How many processes share the session.")
    var processes = 4

    @Option(help: "The server to run: \(InteropServer.allNames). By default, all of them.")
    var server: InteropServer?

    @Option(help: "The Python interpreter that has the servers' packages.")
    var python = ".venv/bin/python3"

    @Option(help: "The folder of the servers' code.")
    var folder = "Tools/Interop"

    @Flag(help: "Run without the lock between processes, to show that the check can fail.")
    var withoutLock = false

    @Flag(name: .customLong("no-color"), help: "Print without colors, as if NO_COLOR were set.")
    var noColor = false

    func validate() throws {
        guard lifetime >= 3 else { throw ValidationError("--lifetime must be 3 or more.") }
        guard seconds >= 2 * lifetime else { throw ValidationError("--seconds must be two lifetimes or more.") }
        guard (1...16).contains(processes) else { throw ValidationError("--processes must be from 1 to 16.") }
    }

    func run() async throws {
        let interop = Interop(
            seconds: seconds, lifetime: lifetime, processes: processes, python: python, folder: folder,
            hidesLock: withoutLock, console: Console(allowsColor: !noColor))
        let servers = server.map { [$0] } ?? InteropServer.allCases
        let passed = try await runUntilInterrupted { await interop.run(servers) }
        if !passed { throw ExitCode.failure }
    }
}

/// `martlet interop-worker`: a process that `martlet interop` starts.
struct InteropWorkerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "interop-worker", abstract: "A process that interop starts.", shouldDisplay: false)

    @Argument(help: "The server.")
    var server: InteropServer

    @Argument(help: "The port of the server.")
    var port: Int

    @Argument(help: "The folder of the record.")
    var folder: String

    @Argument(help: "How many seconds to make calls.")
    var seconds: Int

    @Flag(help: "Run without the lock between processes.")
    var withoutLock = false

    func run() async throws {
        let worker = InteropWorker(folder: folder, hidesLock: withoutLock) { [server, port] store in
            server.client(port: port, store: store)
        }
        let tally = await worker.call(for: .seconds(seconds))
        try FileHandle.standardOutput.write(contentsOf: JSONEncoder().encode(tally))
    }
}
