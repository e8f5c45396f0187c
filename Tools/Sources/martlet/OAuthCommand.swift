internal import ArgumentParser
internal import Foundation
internal import Martlet
internal import MartletOAuth

/// `martlet oauth`: sign-ins with a browser at third-party servers.
struct OAuthCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "oauth",
        abstract: "Sign in with a browser at Glewlwyd, Canaille and Django OAuth Toolkit.",
        discussion: """
            Starts the servers on the loopback address, one after the other. Chromium, without a window, signs in at \
            their pages as a user would. Each line is a cell: what the server must be able to do with Martlet. At last, \
            processes share a session of Glewlwyd that the browser began.

            Exits with 0 only if every cell has passed that the server offers.
            """)

    @Option(help: "How many seconds processes share a session of Glewlwyd; 0 for not at all. By default 60, or 15.")
    var seconds: Int?

    @Option(help: "How many seconds an access token of that session lives.")
    var lifetime = 5

    @Option(help: "How many processes share the session.")
    var processes = 4

    @Option(help: "The server to run: \(OAuthRigServer.allNames). Can be repeated. By default, all of them.")
    var server: [OAuthRigServer] = []

    @Flag(help: "Run a part that takes at most two minutes.")
    var short = false

    @Flag(help: "Share the session without the lock between processes, to show that the run can fail.")
    var withoutLock = false

    @Option(help: "Run only the cells whose name has this text.")
    var only: String?

    @Option(help: "A folder for pictures of the pages.")
    var pictures: String?

    @Option(help: "The Python interpreter that has the servers' packages.")
    var python = ".venv/bin/python3"

    @Option(help: "The folder of the servers' code.")
    var folder = "Tools/Interop"

    @Flag(name: .customLong("no-color"), help: "Print without colors, as if NO_COLOR were set.")
    var noColor = false

    func validate() throws {
        guard lifetime >= 3 else { throw ValidationError("--lifetime must be 3 or more.") }
        if let seconds, seconds != 0, seconds < 2 * lifetime {
            throw ValidationError("--seconds must be 0, or two lifetimes or more.")
        }
        guard (1...16).contains(processes) else { throw ValidationError("--processes must be from 1 to 16.") }
    }

    func run() async throws {
        let rig = OAuthRig(
            seconds: seconds ?? (short ? 15 : 60), lifetime: lifetime, processes: processes, python: python,
            folder: folder,
            pictures: pictures, only: only, isShort: short, hidesLock: withoutLock,
            console: Console(allowsColor: !noColor))
        let servers = server.isEmpty ? OAuthRigServer.allCases : server
        let passed = try await runUntilInterrupted { await rig.run(servers) }
        if !passed { throw ExitCode.failure }
    }
}

/// `martlet oauth-worker`: a process that `martlet oauth` starts.
struct OAuthWorkerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "oauth-worker", abstract: "A process that oauth starts.", shouldDisplay: false)

    @Argument(help: "The issuer.")
    var issuer: String

    @Argument(help: "The base URL of the API.")
    var api: String

    @Argument(help: "The client's identifier.")
    var client: String

    @Argument(help: "The folder of the record.")
    var folder: String

    @Argument(help: "How many seconds to make calls.")
    var seconds: Int

    @Flag(help: "Run without the lock between processes.")
    var withoutLock = false

    func run() async throws {
        let worker = InteropWorker(folder: folder, hidesLock: withoutLock) { [issuer, api, client] store in
            let server = OAuthServer(
                issuer: issuer, client: OAuthClient(id: client), redirect: .claimed(OAuthSite.claimedURL))
            let tokens = TokenManager(baseURL: BaseURL(api), store: store, oauth: server)
            var config = NetworkConfig()
            // Count every failed call, even if a retry would have succeeded.
            config.retry = .never
            return (NetworkClient(tokens: tokens, config: config), tokens)
        }
        let tally = await worker.call(for: .seconds(seconds))
        try FileHandle.standardOutput.write(contentsOf: JSONEncoder().encode(tally))
    }
}
