internal import ArgumentParser
internal import Foundation
internal import ReferenceBackend

/// `martlet demo`: runs a session from sign-in to sign-out against a reference backend with faults.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Run a session from sign-in to sign-out against a server that expires, rejects and revokes tokens.",
        discussion: "Exits with 0 only if every check passed.")

    @Option(help: ArgumentHelp("The picture to register the guest with.", valueName: "path"))
    var image = DemoCommand.defaultImage

    @Flag(name: .customLong("no-color"), help: "Print without colors, as if NO_COLOR were set.")
    var noColor = false

    private static let defaultImage = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Fixtures/portrait.jpg").standardized.path

    func validate() throws {
        guard FileManager.default.isReadableFile(atPath: image) else {
            throw ValidationError("Cannot read a picture at \"\(image)\". Pass a readable file with --image.")
        }
    }

    func run() async throws {
        let console = Console(allowsColor: !noColor)
        let folder = FileManager.default.temporaryDirectory.appending(path: "martlet-demo-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // Cheap password hashing: a debug build would otherwise spend most of its time on it.
        var configuration = BackendConfiguration.testing(.envelope)
        configuration.database = .file(folder.appending(path: "server.sqlite").path)
        let passed = try await ReferenceBackend.withRunning(configuration) { server in
            let setup = DemoSetup(
                server: server, sessionFile: folder.appending(path: "app/session.json").path, image: image)
            var demo = Demo(setup, console: console)
            return await demo.run()
        }
        if !passed { throw ExitCode.failure }
    }
}
