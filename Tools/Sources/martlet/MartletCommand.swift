internal import ArgumentParser

/// `martlet`: shows what the library does, and gives it a server to do it with.
@main struct MartletCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "martlet",
        abstract: "Martlet keeps an app signed in. See it at work, or start a server to try it with.",
        subcommands: [
            DemoCommand.self, ServeCommand.self, TortureCommand.self, TortureWorkerCommand.self, KillsCommand.self,
            KillsWorkerCommand.self,
        ])
}
