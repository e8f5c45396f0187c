public import ArgumentParser
public import ReferenceBackend

/// `martlet serve`: runs the reference backend in the foreground until SIGINT or SIGTERM.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Run the reference backend until Ctrl-C, for use with curl or an app.",
        discussion: """
            GET / lists the endpoints of the dialect. POST /auth/register creates an account, POST /auth/login signs in, \
            POST /auth/guest/register signs in a guest, and GET /me, /feed and /articles need the token or show who is \
            signed in. GET /files/{size} sends a file that can be resumed, and GET /events a stream of events. With \
            --hostile, /_control/ expires tokens, and adds delays and failures.
            """)

    @Option(help: "The port to listen on; 0 selects a free port.")
    var port = 8080

    @Option(help: "The address to listen on. 0.0.0.0 accepts other machines and excludes --hostile.")
    var host = "127.0.0.1"

    @Option(help: "The session protocol of the server.")
    var dialect = Dialect.envelope

    @Option(
        help: ArgumentHelp(
            "The SQLite file to keep data in. By default, data is kept in memory and lost at exit.", valueName: "path"))
    var database: String?

    @Flag(help: "Serve the fault controls under /_control/.")
    var hostile = false

    @Flag(
        name: .customLong("openid"),
        help: "Be an OpenID provider that signs a user in without a page. The client is app; the issuer is the address."
    )
    var openID = false

    func run() async throws {
        var configuration = BackendConfiguration(dialect: dialect)
        configuration.host = host
        configuration.port = port
        configuration.hostileControls = hostile
        if openID { configuration.openID = OpenIDProvider() }
        if let database { configuration.database = .file(database) }
        let console = Console(allowsColor: true)
        do {
            try await ReferenceBackend.run(configuration) { backend in
                let guide = CurlGuide(baseURL: backend.baseURL, dialect: dialect, showsControls: hostile)
                console.line(
                    "The reference backend listens at \(backend.baseURL) and uses the dialect \"\(dialect.rawValue)\".")
                console.line("Press Ctrl-C to stop it.")
                for (title, commands) in guide.steps {
                    console.line()
                    console.line(console.paint("# \(title)", .note))
                    commands.forEach { console.line($0) }
                }
            }
        } catch  where "\(error)".contains("already in use") {
            throw ValidationError(
                "Cannot listen on port \(port): it is already in use. Pass another with --port, or 0 for a free one.")
        }
    }
}

extension Dialect: ExpressibleByArgument {}
