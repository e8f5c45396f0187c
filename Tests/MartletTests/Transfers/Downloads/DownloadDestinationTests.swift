import Foundation
import MartletTestSupport
import MartletTesting
import Testing

@testable import Martlet

@Suite("The destination of a download", .noBlockingCalls, .timeLimit(.minutes(10))) struct DownloadDestinationTests {
    private let content: Data
    private let server: DownloadServer

    init() {
        var generator = SeededGenerator(seed: 5)
        content = generator.bytes(10_500)
        server = DownloadServer(content)
    }

    @Test("if an existing file must not be replaced, nothing is requested") func noReplacing() async throws {
        try await TemporaryFolder.with { folder in
            let path = try folder.file("film.bin", Data("older".utf8))
            var options = DownloadOptions()
            options.replacesExisting = false
            let transport = server.transport
            let failure = await error {
                try await client(transport).download(Get("/film", .none), to: path, options: options)
            }
            guard case .downloadFailed(_, .file(_, let reason)) = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(reason.contains("exists already"))
            #expect(transport.requests.isEmpty)
            #expect(FileManager.default.contents(atPath: path) == Data("older".utf8))
        }
    }

    @Test("a download to no path says so, and requests nothing", arguments: ["", "film\0.bin"])
    func noPath(path: String) async {
        let transport = server.transport
        let failure = await error { try await client(transport).download(Get("/film", .none), to: path) }
        guard case .downloadFailed(_, .file(_, let reason)) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(reason == "The path to write to is empty, or contains a NUL. Give the path of a file.")
        #expect(transport.requests.isEmpty)
    }

    @Test(
        "a file created during the download is not overwritten if that is not allowed") func noReplacingLate()
        async throws
    {
        try await TemporaryFolder.with { folder in
            var options = DownloadOptions()
            options.replacesExisting = false
            server.beforePiece { position in
                if position == 5000 { try folder.file("film.bin", Data("newer".utf8)) }
            }
            let path = folder.path + "/film.bin"
            let failure = await error {
                try await client(server.transport).download(Get("/film", .none), to: path, options: options)
            }
            guard case .downloadFailed(_, .file(_, let reason)) = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(reason.contains("exists already"))
            #expect(FileManager.default.contents(atPath: path) == Data("newer".utf8))
            #expect(folder.names == ["film.bin"])
        }
    }

    @Test("a path of the API is downloaded without an endpoint") func path() async throws {
        try await TemporaryFolder.with { folder in
            let transport = server.transport
            let file = try await client(transport).download("/film", to: folder.path + "/film.bin")
            #expect(file.path == folder.path + "/film.bin" && file.size == file.value.size && file.size > 0)
            #expect(transport.requests.map(\.path) == ["/film"])
        }
    }

    @Test("a missing folder fails the download before a request is sent") func noFolder() async throws {
        try await TemporaryFolder.with { folder in
            let transport = server.transport
            let failure = await error {
                try await client(transport).download(Get("/film", .none), to: folder.path + "/none/film.bin")
            }
            guard case .downloadFailed(_, .file(let path, let reason)) = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(reason.contains("does not exist. Create it first."))
            #expect(path == folder.path + "/none")
            #expect(transport.requests.isEmpty)
        }
    }

    @Test("a pipe at the destination is refused before a request is sent, and is not replaced") func ontoPipe()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film"
            try #require(mkfifo(path, 0o600) == 0)
            let transport = server.transport
            let failure = await error { try await client(transport).download(Get("/film", .none), to: path) }
            guard case .downloadFailed(_, .file(_, let reason)) = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(reason.contains("is a pipe, a device or a socket"))
            #expect(transport.requests.isEmpty)
            let type = try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
            #expect(type == .typeUnknown, "a pipe")
        }
    }

    @Test("a link at the destination is replaced, and its target is not") func ontoLink() async throws {
        try await TemporaryFolder.with { folder in
            let target = try folder.file("target", Data("older".utf8))
            let path = folder.path + "/film"
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
            try await client(server.transport).download(Get("/film", .none), to: path)
            let type = try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
            #expect(type == .typeRegular)
            #expect(FileManager.default.contents(atPath: path) == content)
            #expect(FileManager.default.contents(atPath: target) == Data("older".utf8))
        }
    }

    @Test("a file in place of the folder is named as such") func belowFile() async throws {
        try await TemporaryFolder.with { folder in
            let file = try folder.file("film", Data("older".utf8))
            let failure = await error {
                try await client(server.transport).download(Get("/film", .none), to: file + "/part")
            }
            guard case .downloadFailed(_, .file(_, let reason)) = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(reason.hasSuffix("is not a folder, or is below a file. Give the path of a file in a folder."))
        }
    }

    @Test("a folder at the destination fails the download before a request is sent") func ontoFolder() async throws {
        try await TemporaryFolder.with { folder in
            try FileManager.default.createDirectory(atPath: folder.path + "/film", withIntermediateDirectories: false)
            let transport = server.transport
            let failure = await error {
                try await client(transport).download(Get("/film", .none), to: folder.path + "/film")
            }
            guard case .downloadFailed(_, .file(_, let reason)) = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(reason.contains("is a directory. Add the name of a file."))
            #expect(folder.names == ["film"] && transport.requests.isEmpty)
        }
    }
}
