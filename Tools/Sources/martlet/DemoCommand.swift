internal import ArgumentParser
internal import Foundation
internal import ReferenceBackend

/// `martlet demo`: the whole life of a session, against a server that does not make it easy.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Play the life of a session against a server that does not make it easy.",
        discussion: "Exits with 0 only if every figure was what it should be.")

    @Option(help: ArgumentHelp("The picture that the guest registers with.", valueName: "path"))
    var image = DemoCommand.defaultImage

    @Flag(name: .customLong("no-color"), help: "Print without colours, as with NO_COLOR set.")
    var noColour = false

    private static let defaultImage = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Fixtures/portrait.jpg").standardized.path

    func validate() throws {
        guard FileManager.default.isReadableFile(atPath: image) else {
            throw ValidationError("There is no picture to read at \"\(image)\". Name one with --image.")
        }
    }

    func run() async throws {
        let console = Console(allowsColour: !noColour)
        let folder = FileManager.default.temporaryDirectory.appending(path: "martlet-demo-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // Passwords that are cheap to check keep a debug build from spending its time on them.
        var configuration = BackendConfiguration.testing(.envelope)
        configuration.database = .file(folder.appending(path: "server.sqlite").path)
        let isRight = try await ReferenceBackend.withRunning(configuration) { server in
            let props = Props(
                server: server, sessionFile: folder.appending(path: "app/session.json").path, image: image)
            var demo = Demo(props, console: console)
            return await demo.play()
        }
        if !isRight { throw ExitCode.failure }
    }
}
