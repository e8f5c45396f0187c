public import ArgumentParser
public import ReferenceBackend

/// `martlet serve`: the reference backend on a port of its own, until Ctrl-C.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Run the reference backend until Ctrl-C, for curl or for an app.")

    @Option(help: "The port to listen on; 0 takes a free one.")
    var port = 8080

    @Option(help: "The address to listen on; 0.0.0.0 lets other machines in, and goes without --hostile.")
    var host = "127.0.0.1"

    @Option(help: "How the server speaks about sessions.")
    var dialect = Dialect.envelope

    @Option(help: ArgumentHelp("A SQLite file to keep; without it all is gone at the end.", valueName: "path"))
    var database: String?

    @Flag(help: "Serve the controls that make the server misbehave, under /_control/.")
    var hostile = false

    func run() async throws {
        var configuration = BackendConfiguration(dialect: dialect)
        configuration.host = host
        configuration.port = port
        configuration.hostileControls = hostile
        if let database { configuration.database = .file(database) }
        let console = Console(allowsColour: true)
        do {
            try await ReferenceBackend.run(configuration) { backend in
                let guide = CurlGuide(baseURL: backend.baseURL, dialect: dialect, showsControls: hostile)
                console.line(
                    "The reference backend listens at \(backend.baseURL), in the dialect \"\(dialect.rawValue)\".")
                console.line("Stop it with Ctrl-C.")
                for (what, commands) in guide.steps {
                    console.line()
                    console.line(console.paint("# \(what)", .note))
                    commands.forEach { console.line($0) }
                }
            }
        } catch  where "\(error)".contains("already in use") {
            throw ValidationError("Port \(port) is taken. Choose another with --port, or 0 for a free one.")
        }
    }
}

extension Dialect: ExpressibleByArgument {}
