internal import ArgumentParser

/// `martlet`: demonstrates the library and runs a server to try it with.
@main struct MartletCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "martlet",
        abstract: "Martlet keeps an app signed in. Watch a demo, run a test server, or stress the session engine.",
        subcommands: [
            DemoCommand.self, ServeCommand.self, TortureCommand.self, TortureWorkerCommand.self, KillsCommand.self,
            KillsWorkerCommand.self, InteropCommand.self, InteropWorkerCommand.self, OAuthCommand.self,
            OAuthWorkerCommand.self, OAuthRelyingPartyCommand.self, OAuthVerdictsCommand.self,
        ])
}
