import Foundation
import MartletTestSupport
import MartletTesting
import Testing

@testable import Martlet

@Suite("Downloads", .noBlockingCalls, .timeLimit(.minutes(10))) struct DownloadTests {
    private let content: Data
    private let server: DownloadServer

    init() {
        var generator = SeededGenerator(seed: 5)
        content = generator.bytes(10_500)
        server = DownloadServer(content)
    }

    @Test("a download becomes one complete file, and nothing else is left in the folder") func whole() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            let response = try await client(server.transport).download(Get("/film", .none), to: path)
            #expect(response.value == DownloadedFile(path: path, size: 10_500))
            #expect(FileManager.default.contents(atPath: path) == content)
            #expect(folder.names == ["film.bin"])
        }
    }

    @Test("a download whose response an interceptor cannot process replaces no file") func unprocessed() async throws {
        struct Refusing: RequestInterceptor {
            func process(_ response: ServerResponse, for context: inout RequestContext) async throws -> ServerResponse {
                throw CocoaError(.coderInvalidValue)
            }
        }
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            try Data("old".utf8).write(to: URL(fileURLWithPath: path))
            let client = client(server.transport) { $0.interceptors = [Refusing()] }
            let failure = await error { try await client.download(Get("/film", .none), to: path) }
            guard case .interceptorFailed = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(FileManager.default.contents(atPath: path) == Data("old".utf8))
            #expect(folder.names == ["film.bin"])
        }
    }

    @Test("a public download that keeps no bytes does not wait for the store") func publicFile() async throws {
        try await TemporaryFolder.with { folder in
            let (store, reading) = (FailingTokenStore(), Gate())
            store.hold(.read, at: reading)
            let backend = SimulatedBackend()
            backend.beforeCall { _ in StubTransport.Response(200, body: Data("film".utf8)) }
            let app = App(backend, store: store)
            let download = try await app.client.download(Get("/film", .none), to: folder.path + "/film")
            #expect(download.size == 4)
            reading.open()
        }
    }

    @Test("a download ends with its session, and does not replace the file of the next user", arguments: [true, false])
    func endsWithItsSession(isSignIn: Bool) async throws {
        try await TemporaryFolder.with { folder in
            let (path, gate) = (folder.path + "/export", Gate())
            let backend = SimulatedBackend()
            backend.beforeCall { request in
                guard request.bearer == "access-1" else {
                    return StubTransport.Response(200, body: Data("Bob's".utf8))
                }
                return StubTransport.Response(
                    200, headers: [.contentLength: "5"],
                    stream: ByteStream {
                        var pieces = [Data("Ada".utf8), Data("'s".utf8)]
                        return {
                            if pieces.count == 1 { try await gate.passUnlessCancelled() }
                            return pieces.isEmpty ? nil : pieces.removeFirst()
                        }
                    })
            }
            let app = try await App.signedIn(backend)
            let ada = Task { await error { _ = try await app.client.download(Get("/me/export"), to: path) } }
            await gate.waitForArrivals()
            if isSignIn {
                try await app.tokens.signIn(with: backend.issue())
                try await app.client.download(Get("/me/export"), to: path)
            } else {
                await app.tokens.signOut()
            }
            let failure = await ada.value
            gate.open()
            guard case .sessionChanged = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(FileManager.default.contents(atPath: path) == (isSignIn ? Data("Bob's".utf8) : nil))
            #expect(folder.names == (isSignIn ? ["export"] : []))
        }
    }

    @Test("a download of a call without a session goes on when a user signs in") func withoutSession() async throws {
        try await TemporaryFolder.with { folder in
            let (path, gate, store, reading) = (folder.path + "/film", Gate(), FailingTokenStore(), Gate())
            let backend = SimulatedBackend()
            backend.beforeCall { _ in
                StubTransport.Response(
                    200,
                    stream: ByteStream {
                        var pieces = [Data("fi".utf8), Data("lm".utf8)]
                        return {
                            if pieces.count == 1 { try await gate.passUnlessCancelled() }
                            return pieces.isEmpty ? nil : pieces.removeFirst()
                        }
                    })
            }
            store.hold(.read, at: reading)
            let app = App(backend, store: store)
            let download = Task { try await app.client.download(Get("/film", .ifSignedIn), to: path) }
            await reading.waitForArrivals()
            reading.open()
            await gate.waitForArrivals()
            try await app.tokens.signIn(with: backend.issue())
            gate.open()
            _ = try await download.value
            #expect(FileManager.default.contents(atPath: path) == Data("film".utf8))
        }
    }

    @Test("a closure receives the counts in order, all of them before the download returns") func progress()
        async throws
    {
        try await TemporaryFolder.with { folder in
            for monitor in [nil, TransferMonitor(interval: .zero)] {
                let counts = Locked<[TransferCount]>([])
                let response = try await client(server.transport).download(
                    Get("/film", .none), to: folder.path + "/film.bin", monitor: monitor
                ) { count in
                    counts.withLock { $0.append(count) }
                }
                #expect(response.size == 10_500)
                let seen = counts.withLock { $0 }
                #expect(seen.last == TransferCount(completed: 10_500, total: 10_500))
                #expect(seen.map(\.completed) == seen.map(\.completed).sorted())
            }
            let counts = Locked(0)
            server.change { $0.breaks = [2000, 2000, 2000, 2000] }
            let failure = await error {
                try await client(server.transport) { $0.retry = .never }.download(
                    "/film", to: folder.path + "/second.bin"
                ) { _ in counts.withLock { $0 += 1 } }
            }
            #expect(failure != nil && counts.withLock { $0 } > 0)
        }
    }

    @Test("an observer learns how many bytes were received", arguments: [10_500, 0])
    func observedBytes(size: Int) async throws {
        struct ByteLog: NetworkObserver {
            let log: Log

            func observe(_ event: CallEvent) {
                if case .received(_, let response) = event { log.add("\(response.bytes)") }
            }
        }
        try await TemporaryFolder.with { folder in
            let log = Log()
            let server = DownloadServer(Data(content.prefix(size)))
            let client = client(server.transport) { $0.observers = [ByteLog(log: log)] }
            try await client.download(Get("/film", .none), to: folder.path + "/film.bin")
            #expect(log.lines == ["\(size)"])
        }
    }

    @Test("an unrequested part and a response without content are errors") func notWhole() async throws {
        try await TemporaryFolder.with { folder in
            let path = try folder.file("film.bin", Data("older".utf8))
            let part = StubTransport { _ in
                StubTransport.Response(206, headers: [.contentRange: "bytes 0-2/1000"], body: Data("abc".utf8))
            }
            let failure = await error { try await client(part).download(Get("/film", .none), to: path) }
            guard case .invalidResponse = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            let nothing = StubTransport { _ in .status(204) }
            let second = await error { try await client(nothing).download(Get("/film", .none), to: path) }
            guard case .downloadFailed(_, .noContent) = second else {
                Issue.record("\(String(describing: second))")
                return
            }
            #expect(FileManager.default.contents(atPath: path) == Data("older".utf8))
            #expect(folder.names == ["film.bin"])
        }
    }

    @Test("a range requested by the endpoint itself is saved as such") func ownRange() async throws {
        try await TemporaryFolder.with { folder in
            let transport = server.transport
            let path = folder.path + "/part"
            try await client(transport).download(
                Call<NoContent>(.get, "/film", headers: [.range: "bytes=10000-"], authentication: .none), to: path)
            #expect(FileManager.default.contents(atPath: path) == content.dropFirst(10_000))
        }
    }

    @Test("a failed download leaves the existing file, and nothing else") func failing() async throws {
        try await TemporaryFolder.with { folder in
            let path = try folder.file("film.bin", Data("older".utf8))
            server.change { $0.breaks = [4000, 1, 1, 1] }
            let failure = await error {
                try await persistentClient(server.transport).download(Get("/film", .none), to: path)
            }
            guard case .connectionLost = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(FileManager.default.contents(atPath: path) == Data("older".utf8))
            #expect(folder.names == ["film.bin"])
        }
    }

    @Test("a download that ends early is not complete") func short() async throws {
        try await TemporaryFolder.with { folder in
            server.change { $0.headers[.contentLength] = "20000" }
            let transport = StubTransport { [server] _ in
                StubTransport.Response(
                    200, headers: [.contentLength: "20000"], body: server.state.withLock { $0.content })
            }
            let failure = await error {
                try await client(transport) { $0.retry = .never }.download(
                    Get("/film", .none), to: folder.path + "/film")
            }
            guard case .connectionLost = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(folder.names == [])
        }
    }

    @Test("a response without content creates no file, even if the endpoint accepts it", arguments: [205, 304, 302])
    func notModified(status: Int) async throws {
        struct Film: APIEndpoint {
            let path: RequestPath = "/film"
            let authentication = AuthenticationRequirement.none
            let acceptableStatuses = StatusCodes(200..<400)
        }
        try await TemporaryFolder.with { folder in
            let path = try folder.file("film.bin", Data("older".utf8))
            let transport = StubTransport { _ in .status(status) }
            let failure = await error { try await client(transport).download(Film(), to: path) }
            #expect(failure != nil)
            #expect(status == 205 || failure?.response?.status == status)
            #expect(FileManager.default.contents(atPath: path) == Data("older".utf8))
            #expect(folder.names == ["film.bin"])
        }
    }

    @Test("a download of no bytes is an empty file") func empty() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/empty"
            let response = try await client(StubTransport { _ in .status(200) }).download(Get("/film", .none), to: path)
            #expect(response.value.size == 0)
            #expect(FileManager.default.contents(atPath: path) == Data())
        }
    }

    @Test("concurrent downloads to one destination do not disturb each other") func together() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            let client = client(server.transport)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<20 { group.addTask { try await client.download(Get("/film", .none), to: path) } }
                try await group.waitForAll()
            }
            #expect(FileManager.default.contents(atPath: path) == content)
            #expect(folder.names == ["film.bin"])
        }
    }

    @Test("a download times out only while no bytes arrive") func idle() async throws {
        try await TemporaryFolder.with { folder in
            let time = ManualTimeSource()
            server.beforePiece { _ in time.advance(by: .seconds(20)) }
            let path = folder.path + "/film.bin"
            let client = client(server.transport) { config in
                config.time = time
                config.retry = .never
            }
            // 11 pieces with 20 s before each, and a timeout of 30 s.
            try await client.download(Get("/film", .none), to: path)
            #expect(FileManager.default.contents(atPath: path) == content)

            server.beforePiece { position in
                guard position == 5000 else { return }
                await time.waitForSleepers(1)
                time.advance(by: .seconds(31))
                try await Gate().passUnlessCancelled()
            }
            let failure = await error { try await client.download(Get("/film", .none), to: path + "2") }
            guard case .timedOut = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(folder.names == ["film.bin"])
        }
    }

    @Test("a monitor reports each attempt, and the progress from its position", arguments: [false, true])
    func monitored(breaks: Bool) async throws {
        try await TemporaryFolder.with { folder in
            if breaks { server.change { $0.breaks = [4000] } }
            let monitor = TransferMonitor(interval: .zero)
            let events = monitor.events
            try await persistentClient(server.transport).download(
                Get("/film", .none), to: folder.path + "/film.bin", monitor: monitor)
            var attempts: [Int] = []
            for await event in events {
                if case .attempt(let number) = event { attempts.append(number) }
            }
            #expect(attempts == (breaks ? [1, 2] : [1]))
            #expect(monitor.received == TransferCount(completed: 10_500, total: 10_500))
        }
    }

    @Test("a download is requested without compression") func identity() async throws {
        try await TemporaryFolder.with { folder in
            let transport = server.transport
            try await client(transport).download(Get("/film", .none), to: folder.path + "/film.bin")
            #expect(transport.requests.first?.headers[.acceptEncoding] == "identity")
        }
    }
}
