import Foundation
import HTTPTypes
import MartletTestSupport
import MartletTesting
import Testing

@testable import Martlet

@Suite("Partial downloads", .noBlockingCalls, .timeLimit(.minutes(10))) struct PartialDownloadTests {
    let content: Data
    let server: DownloadServer
    let options: DownloadOptions

    init() {
        var generator = SeededGenerator(seed: 7)
        content = generator.bytes(10_500)
        server = DownloadServer(content)
        var options = DownloadOptions()
        options.keepsPartial = true
        self.options = options
    }

    func breakOff(_ path: String, at count: Int, _ source: String = "/film") async {
        server.change { $0.breaks = [count] }
        let failure = await error {
            try await client(server.transport) { $0.retry = .never }.download(
                Get(source, .none), to: path, options: options)
        }
        #expect(failure != nil)
    }

    @Test("the next call resumes a partial download, and no part is left afterwards") func goesOn() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            await breakOff(path, at: 4000)
            let names = folder.names
            #expect(names.count == 2 && names.allSatisfy { $0.hasPrefix(".martlet-download-") })
            let transport = server.transport
            let response = try await client(transport).download(Get("/film", .none), to: path, options: options)
            #expect(response.value == DownloadedFile(path: path, size: 10_500, resumedBytes: 4000))
            #expect(transport.requests.first?.headers[.range] == "bytes=4000-")
            #expect(FileManager.default.contents(atPath: path) == content)
            #expect(folder.names == ["film.bin"])
        }
    }

    @Test("bytes that break off after the jar or the cache was emptied are not kept", arguments: [false, true])
    func emptied(isCache: Bool) async throws {
        try await TemporaryFolder.with { folder in
            let (jar, cache) = (CookieJar(), HTTPCache())
            server.change { $0.breaks = [4000] }
            server.beforePiece { position in
                if position > 0 { isCache ? cache.removeAll() : jar.removeAll() }
            }
            let failure = await error {
                try await client(server.transport) {
                    ($0.retry, $0.cookies, $0.cache) = (.never, jar, cache)
                }.download(Get("/film", .none), to: folder.path + "/film.bin", options: options)
            }
            #expect(failure != nil && folder.names == [])
        }
    }

    @Test("bytes of a signed-in user from another URL are not continued, although the file has the same tag")
    func otherURL() async throws {
        struct Workspace: RequestInterceptor {
            let number: Int
            func adapt(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
                request.path = "/film?workspace=\(number)"
            }
        }
        try await TemporaryFolder.with { (folder) async throws in
            let path = folder.path + "/film.bin"
            server.change { $0.breaks = [4000] }
            let transport = server.transport
            let tokens = await TokenManager.signedIn(
                account: SessionAccount(userID: "ada"), transport: transport, time: ManualTimeSource())
            func download(_ workspace: Int) async throws -> DownloadedFile {
                var config = NetworkConfig()
                config.retry = .never
                config.interceptors = [Workspace(number: workspace)]
                return try await NetworkClient(tokens: tokens, config: config)
                    .download(Get("/film", .required), to: path, options: options).value
            }
            await #expect(throws: NetworkError.self) { try await download(1) }
            #expect(try await download(2).resumedBytes == 0)
            server.change { $0.breaks = [4000] }
            await #expect(throws: NetworkError.self) { try await download(2) }
            #expect(try await download(2).resumedBytes == 4000)
        }
    }

    @Test("an attempt with other credentials that receives nothing leaves the bytes to those before it") func unmixed()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            let keys = Locked(["X", "Y", "X"])
            let signer = Authorizing { keys.withLock { $0.removeFirst() } }
            server.change { $0.breaks = [4000] }
            let server = server
            let transport = StubTransport { request in
                guard request.headers[.authorization] != "Y" else { throw TransportError.offline }
                return server.respond(request)
            }
            _ = await error {
                try await persistentClient(transport, attempts: 2) { $0.interceptors = [signer] }.download(
                    Get("/film", .none), to: path, options: options)
            }
            let response = try await client(transport) { $0.interceptors = [signer] }.download(
                Get("/film", .none), to: path, options: options)
            #expect(response.value.resumedBytes == 4000)
        }
    }

    @Test("bytes that two credentials have received in one call are the file, or belong to neither") func mixed()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            let keys = Locked<[String]>([])
            let signer = Authorizing { keys.withLock { $0.removeFirst() } }
            for (breaks, names) in [([4000, 6000], []), ([4000], ["film.bin"])] {
                server.change { $0.breaks = breaks }
                keys.withLock { $0 = ["X", "Y"] }
                let transport = server.transport
                let failure = await error {
                    try await persistentClient(transport, attempts: 2) { $0.interceptors = [signer] }.download(
                        Get("/film", .none), to: path, options: options)
                }
                #expect((failure == nil) == (breaks.count == 1))
                #expect(transport.requests.map { $0.headers[.range] } == [nil, "bytes=4000-"])
                #expect(folder.names == names)
            }
            #expect(FileManager.default.contents(atPath: path) == content)
        }
    }

    @Test("a partial download is removed when another download to the same destination succeeds")
    func succeeded() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            await breakOff(path, at: 4000)
            try await client(server.transport).download(Get("/film", .none), to: path)
            #expect(folder.names == ["film.bin"])
        }
    }

    @Test("a partial download in progress is not disturbed by another one to the same destination")
    func succeededMeanwhile() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            let other = DownloadServer(content)
            let hasCome = Locked(false)
            server.beforePiece { position in
                if position == 5000, !hasCome.withLock({ $0 }) {
                    hasCome.withLock { $0 = true }
                    try await client(other.transport).download(Get("/film", .none), to: path)
                }
            }
            await breakOff(path, at: 6000)
            #expect(hasCome.withLock { $0 })
            let transport = server.transport
            try await client(transport).download(Get("/film", .none), to: path, options: options)
            #expect(transport.requests.first?.headers[.range] == "bytes=6000-")
            #expect(folder.names == ["film.bin"])
        }
    }

    @Test("a changed file or another endpoint starts a new download") func begins() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            await breakOff(path, at: 4000)
            server.change { $0.headers[.eTag] = "\"two\"" }
            let response = try await client(server.transport).download(Get("/film", .none), to: path, options: options)
            #expect(response.value.resumedBytes == 0)
            #expect(FileManager.default.contents(atPath: path) == content)

            await breakOff(path, at: 4000)
            let transport = server.transport
            try await client(transport).download(Get("/other", .none), to: path, options: options)
            #expect(transport.requests.first?.headers[.range] == nil)
            #expect(FileManager.default.contents(atPath: path) == content)
        }
    }

    @Test("another query is another endpoint, although the file has the same tag", arguments: [1, 2])
    func otherQuery(id: Int) async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            func film(_ id: Int) -> Call<NoContent> { .get("/film", query: ["id": id], authentication: .none) }
            server.change { $0.breaks = [4000] }
            let failure = await error {
                try await client(server.transport) { $0.retry = .never }.download(film(1), to: path, options: options)
            }
            #expect(failure != nil)
            let transport = server.transport
            let response = try await client(transport).download(film(id), to: path, options: options)
            #expect(response.value.resumedBytes == (id == 1 ? 4000 : 0))
            #expect(transport.requests.map(\.path) == ["/film?id=\(id)"])
            #expect(transport.requests.first?.headers[.range] == (id == 1 ? "bytes=4000-" : nil))
        }
    }

    @Test("a part that cannot be resumed is not kept") func useless() async throws {
        try await TemporaryFolder.with { folder in
            server.change { $0.headers = [:] }
            await breakOff(folder.path + "/film.bin", at: 4000)
            #expect(folder.names == [])
            server.change { $0.headers = [.eTag: "\"one\""] }
            await breakOff(folder.path + "/film.bin", at: 0)
            #expect(folder.names == [])
        }
    }

    @Test("a partial download can be discarded") func discarded() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            await breakOff(path, at: 4000)
            await client(server.transport).discardPartialDownload(to: path)
            #expect(folder.names == [])
        }
    }

    @Test("discarding does not disturb a download in progress") func discardedMeanwhile()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            let client = client(server.transport)
            server.beforePiece { position in
                if position == 5000 { await client.discardPartialDownload(to: path) }
            }
            try await client.download(Get("/film", .none), to: path, options: options)
            #expect(FileManager.default.contents(atPath: path) == content)
            #expect(folder.names == ["film.bin"])
        }
    }

    @Test("another failed download does not remove a kept part") func others() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            await breakOff(path, at: 4000)
            let kept = folder.names
            let offline = StubTransport { _ in throw TransportError.offline }
            _ = await error {
                try await client(offline).download(Get("/other", .none), to: path, options: options)
            }
            #expect(folder.names == kept)
        }
    }

    @Test(
        "a partial download is not resumed in another session, even if neither names its user",
        arguments: [nil, ""] as [String?])
    func otherSession(userID: String?) async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/export"
            var headers: [String?] = []
            for _ in 0..<2 {
                let app = App { $0.retry = .never }
                try await app.tokens.signIn(with: app.backend.issue(), account: SessionAccount(userID: userID))
                let server = server
                server.change { $0.breaks = [4000] }
                let seen = Locked<[String?]>([])
                app.backend.beforeCall { request in
                    seen.withLock { $0.append(request.headers[.range]) }
                    return server.respond(request)
                }
                _ = await error { try await app.client.download(Get("/me/export"), to: path, options: options) }
                headers += seen.withLock { $0 }
            }
            #expect(headers == [nil, nil])
        }
    }

    @Test("a partial download is resumed only for the same header fields") func ownFields()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/report"
            server.change { state in
                state.headers = [
                    .acceptRanges: "bytes", .lastModified: "Fri, 20 Nov 2026 10:00:00 GMT",
                    .date: "Sat, 21 Nov 2026 12:00:00 GMT",
                ]
            }
            let transport = server.transport
            let client = client(transport) { $0.retry = .never }
            func breakOff(_ headers: HTTPFields) async {
                server.change { $0.breaks = [4000] }
                _ = await error {
                    try await client.download(
                        Call<NoContent>(.get, "/report", headers: headers, authentication: .none), to: path,
                        options: options)
                }
            }
            await breakOff([.accept: "text/csv"])
            await breakOff([.accept: "application/pdf"])
            await breakOff([.accept: "application/pdf", .authorization: "Basic QWRhOmxvdmVsYWNl"])
            await breakOff([.accept: "application/pdf", .authorization: "Basic R3JhY2U6aG9wcGVy"])
            await breakOff([.accept: "application/pdf", .authorization: "Basic R3JhY2U6aG9wcGVy"])
            #expect(transport.requests.map { $0.headers[.range] } == [nil, nil, nil, nil, "bytes=4000-"])
            let notes = try Data(contentsOf: URL(fileURLWithPath: PartialDownload(path).destination.resumeData))
            #expect(!String(decoding: notes, as: UTF8.self).contains("R3JhY2"))
        }
    }

    @Test("concurrent downloads to one destination do not share a part") func shared() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            let client = client(server.transport)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<20 {
                    group.addTask { try await client.download(Get("/film", .none), to: path, options: options) }
                }
                try await group.waitForAll()
            }
            #expect(FileManager.default.contents(atPath: path) == content)
            #expect(folder.names == ["film.bin"])
        }
    }
}

/// Puts a credential of the app's own on each attempt.
private struct Authorizing: RequestInterceptor {
    let next: @Sendable () -> String

    func adapt(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
        request.headerFields[.authorization] = next()
    }
}
