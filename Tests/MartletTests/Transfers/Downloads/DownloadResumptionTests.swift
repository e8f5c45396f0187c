import Foundation
import MartletTestSupport
import MartletTesting
import Testing

@testable import Martlet

@Suite("Resuming a download", .noBlockingCalls, .timeLimit(.minutes(10))) struct DownloadResumptionTests {
    private let content: Data
    private let server: DownloadServer

    init() {
        var generator = SeededGenerator(seed: 5)
        content = generator.bytes(10_500)
        server = DownloadServer(content)
    }

    @Test("a broken connection is resumed as often as needed") func resuming() async throws {
        try await TemporaryFolder.with { folder in
            server.change { $0.breaks = [4000, 0, 2500] }
            let transport = server.transport
            let path = folder.path + "/film.bin"
            let response = try await persistentClient(transport).download(Get("/film", .none), to: path)
            #expect(FileManager.default.contents(atPath: path) == content)
            #expect(
                transport.requests.map { $0.headers[.range] } == [nil, "bytes=4000-", "bytes=4000-", "bytes=6500-"])
            #expect(transport.requests.dropFirst().allSatisfy { $0.headers[.ifRange] == "\"one\"" })
            #expect(response.attempts == 4)
            #expect(folder.names == ["film.bin"])
        }
    }

    @Test("a file that has changed since is downloaded from the start") func changed() async throws {
        try await TemporaryFolder.with { folder in
            var generator = SeededGenerator(seed: 6)
            let newer = generator.bytes(9000)
            let server = server
            server.change { $0.breaks = [4000] }
            let transport = StubTransport { request in
                if request.number == 2 {
                    server.change { state in
                        state.content = newer
                        state.headers[.eTag] = "\"two\""
                    }
                }
                return server.respond(request)
            }
            let path = folder.path + "/film.bin"
            try await persistentClient(transport).download(Get("/film", .none), to: path)
            #expect(FileManager.default.contents(atPath: path) == newer)
        }
    }

    @Test(
        "without a strong validator, the whole file is requested again",
        arguments: [
            [.acceptRanges: "bytes"],
            [.acceptRanges: "bytes", .eTag: "W/\"one\""],
            [.acceptRanges: "none", .eTag: "\"one\""],
            [
                .acceptRanges: "bytes", .lastModified: "Sat, 21 Nov 2026 12:00:00 GMT",
                .date: "Sat, 21 Nov 2026 12:00:00 GMT",
            ],
        ] as [HTTPFields])
    func notResumable(headers: HTTPFields) async throws {
        try await TemporaryFolder.with { folder in
            server.change { state in
                state.headers = headers
                state.breaks = [4000]
            }
            let transport = server.transport
            let path = folder.path + "/film.bin"
            try await persistentClient(transport).download(Get("/film", .none), to: path)
            #expect(FileManager.default.contents(atPath: path) == content)
            #expect(transport.requests.map { $0.headers[.range] } == [nil, nil])
        }
    }

    @Test("a Last-Modified date that is old enough is a validator") func lastModified() async throws {
        try await TemporaryFolder.with { folder in
            let date = "Sat, 21 Nov 2026 11:00:00 GMT"
            server.change { state in
                state.headers = [
                    .acceptRanges: "bytes", .lastModified: date, .date: "Sat, 21 Nov 2026 12:00:00 GMT",
                ]
                state.breaks = [4000]
            }
            let transport = server.transport
            let path = folder.path + "/film.bin"
            try await persistentClient(transport).download(Get("/film", .none), to: path)
            #expect(FileManager.default.contents(atPath: path) == content)
            #expect(transport.requests.last?.headers[.ifRange] == date)
        }
    }

    @Test(
        "a response with another range than requested restarts the download",
        arguments: ["bytes 3000-10499/10500", "bytes 4000-10499/99999", "lines 4-9/10", nil])
    func wrongRange(range: String?) async throws {
        try await TemporaryFolder.with { folder in
            let server = server
            server.change { $0.breaks = [4000] }
            let transport = StubTransport { request in
                guard request.number == 2 else { return server.respond(request) }
                var headers: HTTPFields = [.eTag: "\"one\""]
                headers[.contentRange] = range
                return StubTransport.Response(206, headers: headers, body: Data("something else".utf8))
            }
            let path = folder.path + "/film.bin"
            try await persistentClient(transport).download(Get("/film", .none), to: path)
            #expect(FileManager.default.contents(atPath: path) == content)
            #expect(transport.requests.map { $0.headers[.range] } == [nil, "bytes=4000-", nil])
        }
    }

    @Test(
        "a server that ignores If-Range and sends another file restarts the download",
        arguments: ["\"two\"", nil])
    func ignoredCondition(tag: String?) async throws {
        try await TemporaryFolder.with { folder in
            var generator = SeededGenerator(seed: 8)
            let newer = generator.bytes(10_500)
            let server = server
            server.change { $0.breaks = [4000] }
            let transport = StubTransport { request in
                guard request.number == 2 else { return server.respond(request) }
                server.change { state in
                    state.content = newer
                    state.headers[.eTag] = "\"two\""
                }
                var headers: HTTPFields = [.contentRange: "bytes 4000-10499/10500"]
                headers[.eTag] = tag
                return StubTransport.Response(206, headers: headers, body: newer.dropFirst(4000))
            }
            let path = folder.path + "/film.bin"
            try await persistentClient(transport).download(Get("/film", .none), to: path)
            #expect(FileManager.default.contents(atPath: path) == newer)
        }
    }

    @Test("an abandoned attempt that continues does not disturb the next one") func straggler() async throws {
        try await TemporaryFolder.with { folder in
            let time = ManualTimeSource()
            let straggler = Gate()
            let waits = Locked(true)
            server.beforePiece { position in
                guard position == 5000, waits.withLock({ $0 }) else {
                    // The first attempt is over. The rest of its body arrives now, before the last piece of the second
                    // attempt.
                    if position == 10_000 {
                        straggler.open()
                        for _ in 0..<200 { await Task.yield() }
                    }
                    return
                }
                waits.withLock { $0 = false }
                await time.waitForSleepers(1)
                time.advance(by: .seconds(31))
                await straggler.pass()
            }
            let path = folder.path + "/film.bin"
            let client = persistentClient(server.transport) { $0.time = time }
            let response = try await client.download(Get("/film", .none), to: path)
            #expect(response.attempts == 2)
            #expect(FileManager.default.contents(atPath: path) == content)
            #expect(folder.names == ["film.bin"])
        }
    }

    @Test("a connection that breaks after the last byte is not an error") func brokenAtTheEnd() async throws {
        try await TemporaryFolder.with { folder in
            server.change { $0.breaks = [10_500] }
            let path = folder.path + "/film.bin"
            let response = try await client(server.transport).download(Get("/film", .none), to: path)
            #expect(response.attempts == 1)
            #expect(FileManager.default.contents(atPath: path) == content)
        }
    }

    @Test(
        "a 416 restarts the download, even for an endpoint that accepts every status") func unsatisfiableButAccepted()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let server = server
            server.change { $0.breaks = [4000] }
            let transport = StubTransport { request in
                request.number == 2 ? .status(416) : server.respond(request)
            }
            let path = folder.path + "/film.bin"
            try await persistentClient(transport).download(
                Call<NoContent>(.get, "/film", authentication: .none, acceptableStatuses: .any), to: path)
            #expect(FileManager.default.contents(atPath: path) == content)
        }
    }

    @Test("a 416 restarts the download") func unsatisfiable() async throws {
        try await TemporaryFolder.with { folder in
            let server = server
            server.change { $0.breaks = [4000] }
            let transport = StubTransport { request in
                request.number == 2 ? .status(416, headers: [.contentRange: "bytes */17"]) : server.respond(request)
            }
            let path = folder.path + "/film.bin"
            // The restart after a 416 does not need the retry policy's permission.
            try await persistentClient(transport, attempts: 2).download(Get("/film", .none), to: path)
            #expect(FileManager.default.contents(atPath: path) == content)
        }
    }

    @Test("a 416 restarts the download, even if an interceptor has an error of its own for it") func ownError()
        async throws
    {
        struct Refusing: RequestInterceptor {
            struct Refused: Error {}
            func validate(_ response: ServerResponse, for context: inout RequestContext) async throws {
                if response.status >= 400 { throw Refused() }
            }
        }
        try await TemporaryFolder.with { folder in
            let server = server
            server.change { $0.breaks = [4000] }
            let transport = StubTransport { request in
                request.number == 2 ? .status(416) : server.respond(request)
            }
            let path = folder.path + "/film.bin"
            try await persistentClient(transport, attempts: 2) { $0.interceptors = [Refusing()] }
                .download(Get("/film", .none), to: path)
            #expect(FileManager.default.contents(atPath: path) == content)
        }
    }

    @Test("a download that has lasted longer than the time for retries is resumed") func long() async throws {
        try await TemporaryFolder.with { folder in
            let time = ManualTimeSource()
            server.change { $0.breaks = [4000, 2500] }
            server.beforePiece { position in if position > 0 { time.advance(by: .seconds(100)) } }
            let transport = server.transport
            let path = folder.path + "/film.bin"
            let client = client(transport) { config in
                config.time = time
                config.timeout = .seconds(10_000)
                config.retry = RetryPolicy(firstDelay: .zero)
            }
            try await client.download(Get("/film", .none), to: path)
            #expect(FileManager.default.contents(atPath: path) == content)
            #expect(transport.requests.map { $0.headers[.range] } == [nil, "bytes=4000-", "bytes=6500-"])
        }
    }

    @Test("a download that was restarted is resumed after the next broken connection") func resumedAfterRestart()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let server = server
            server.change { $0.breaks = [4000, 3000] }
            let transport = StubTransport { request in
                request.number == 2 ? .status(416) : server.respond(request)
            }
            let path = folder.path + "/film.bin"
            try await persistentClient(transport).download(Get("/film", .none), to: path)
            #expect(FileManager.default.contents(atPath: path) == content)
            #expect(transport.requests.map { $0.headers[.range] } == [nil, "bytes=4000-", nil, "bytes=3000-"])
        }
    }

    @Test(
        "C51: a 401 during a download causes a refresh, and the rest is requested with the new token")
    func refusedMidway()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let server = server
            let app = try await App.signedIn { $0.retry = RetryPolicy(firstDelay: .zero) }
            let ranges = Locked<[String?]>([])
            server.change { $0.breaks = [4000] }
            app.backend.beforeCall { request in
                let isValid = app.backend.state.withLock { $0.validAccess.contains(request.bearer ?? "") }
                guard isValid else { return nil }
                ranges.withLock { $0.append(request.headers[.range]) }
                // The token expires while the first part is being received.
                app.backend.invalidateAccessTokens()
                return server.respond(request)
            }
            let path = folder.path + "/film.bin"
            try await app.client.download(Get("/film"), to: path)
            #expect(FileManager.default.contents(atPath: path) == content)
            #expect(ranges.withLock { $0 } == [nil, "bytes=4000-"])
            #expect(app.backend.refreshCalls == 1)
            #expect(folder.names == ["film.bin"])
        }
    }

    @Test("C51: a rejected download is refreshed and replayed, and one that finally fails leaves nothing behind")
    func refused() async throws {
        try await TemporaryFolder.with { folder in
            let app = try await App.signedIn()
            app.backend.invalidateAccessTokens()
            let path = folder.path + "/me.json"
            try await app.client.download(Get("/me"), to: path)
            #expect(app.backend.refreshCalls == 1)
            #expect(FileManager.default.contents(atPath: path) == Data(#"{"path":"/me","token":"seen"}"#.utf8))

            app.backend.invalidateAccessTokens()
            app.backend.revokeSession()
            let failure = await error { try await app.client.download(Get("/me"), to: folder.path + "/other") }
            guard case .sessionExpired = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(folder.names == ["me.json"])
        }
    }
}
