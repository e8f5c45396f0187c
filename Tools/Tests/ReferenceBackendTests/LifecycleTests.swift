import Foundation
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import ReferenceBackend
import Testing

@Suite("Backend lifecycle", .timeLimit(.minutes(10)))
struct LifecycleTests {
    @Test("Many backends run in parallel")
    func sideBySide() async throws {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for index in 0..<24 {
                group.addTask {
                    try await withBackend(Dialect.allCases[index % 6]) { backend, client in
                        let session = try await TestSession(on: client)
                        #expect(try await client.with(session.accessToken).get("/me").status == 200)
                        return backend.port
                    }
                }
            }
            for try await port in group { #expect(port > 0) }
        }
    }

    @Test("Stopping closes idle connections at once and may be repeated")
    func stop() async throws {
        var configuration = BackendConfiguration.testing()
        // So long that the test would time out if the stop waited for it.
        configuration.shutdownGrace = .seconds(86400)
        let backend = try await ReferenceBackend.start(configuration)
        let client = TestClient(backend)
        #expect(try await client.get("/public/ping").status == 200)
        #expect(backend.controls.counters.connectionsOpen == 1)
        async let first: Void = backend.stop()
        async let second: Void = backend.stop()
        _ = await (first, second)
        #expect(backend.controls.counters.connectionsOpen == 0)
        await #expect(throws: (any Error).self) { try await client.get("/public/ping") }
    }

    @Test("Stopping closes a silent connection after the grace period")
    func stopWithSilentPeer() async throws {
        var configuration = BackendConfiguration.testing()
        configuration.tls = .selfSigned
        configuration.shutdownGrace = .milliseconds(50)
        let backend = try await ReferenceBackend.start(configuration)
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: backend.port).get()
        while backend.controls.counters.connectionsOpen == 0 { await Task.yield() }
        await backend.stop()
        try await channel.closeFuture.get()
        #expect(backend.controls.counters.connectionsOpen == 0)
    }

    @Test("A response in progress is finished before the backend stops")
    func stopDuringResponse() async throws {
        // Long enough for a slow machine.
        try await withBackend(configure: { $0.shutdownGrace = .seconds(86400) }) { backend, client in
            let request = Task { try await client.get("/_control/drip?count=20&intervalMs=5").text }
            try await backend.controls.waitUntil("/_control/drip")
            await backend.stop()
            #expect(try await request.value == String(repeating: ".", count: 20))
        }
    }

    @Test("`run` runs a backend until its task is cancelled")
    func run() async throws {
        let (backends, started) = AsyncStream<ReferenceBackend>.makeStream()
        let task = Task { try await ReferenceBackend.run(.testing()) { started.yield($0) } }
        for await backend in backends {
            let client = TestClient(backend)
            #expect(try await client.get("/public/ping").status == 200)
            task.cancel()
            // `run` has stopped the backend by now, however it ended.
            _ = try? await task.value
            await #expect(throws: (any Error).self) { try await client.get("/public/ping") }
            break
        }
    }

    @Test("Starting on a port in use fails")
    func portTaken() async throws {
        try await withBackend { backend, _ in
            var configuration = BackendConfiguration.testing()
            configuration.port = backend.port
            await #expect(throws: (any Error).self) { try await ReferenceBackend.start(configuration) }
        }
    }

    @Test(
        "A restarted backend keeps the sessions, tokens, users and articles of its file",
        arguments: Dialect.allCases)
    func restart(dialect: Dialect) async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let file = DatabaseLocation.file(directory.appendingPathComponent("backend.sqlite").path)

        let (kept, left, expired) = try await withBackend(dialect, configure: { $0.database = file }) {
            backend, client in
            let expired = try await TestSession(on: client)
            try await backend.controls.expireAccessTokens()
            let left = try await TestSession(on: client)
            _ = try await client.with(left.accessToken).post("/auth/logout")
            let kept = try await TestSession(on: client)
            _ = try await client.with(kept.accessToken).post("/articles", ["title": "Wrens", "body": ""])
            return (kept, left, expired)
        }
        try await withBackend(dialect, configure: { $0.database = file }) { _, client in
            #expect(try await client.with(kept.accessToken).get("/me").status == 200)
            #expect(try await client.with(kept.accessToken).get("/articles").text.contains("Wrens"))
            #expect(try await client.refresh(kept.refreshToken, dialect).status == 200)
            #expect(try await client.with(left.accessToken).get("/me").status == 401)
            let status = try await client.with(expired.accessToken).get("/me").status
            #expect(status == (dialect == .legacy419 ? 419 : 401))
        }
    }

    @Test("No log line contains a token, a password or a cookie", arguments: Dialect.allCases)
    func logs(dialect: Dialect) async throws {
        let lines = NIOLockedValueBox<[String]>([])
        let logger = Logger(label: "test") { _ in CapturingLogHandler(lines: lines) }
        var secrets: [String] = ["correct horse"]
        try await withBackend(dialect, configure: { $0.logger = logger }) { backend, client in
            let first = try await TestSession(on: client)
            let refreshed = try await client.with(first.accessToken).refresh(first.refreshToken, dialect)
            let second = try TestSession(refreshed, otherwise: first.refreshToken)
            let account: JSONValue = ["email": "wren@example.org", "password": "correct horse"]
            let third = try TestSession(try await client.post("/auth/register", account))
            _ = try await client.get("/me?token=\(second.accessToken)")
            _ = try await client.with(second.accessToken).get("/me")
            backend.controls.inject("/me", .dropConnection)
            _ = try? await client.with(second.accessToken).get("/me")
            _ = try await client.refresh(first.refreshToken, dialect)
            _ = try await client.with(third.accessToken).post("/auth/logout")
            for session in [first, second, third] { secrets += [session.accessToken, session.refreshToken] }
        }
        let text = lines.withLockedValue { $0.joined(separator: "\n") }
        #expect(text.contains("path=/me"))
        #expect(text.contains("status=401"))
        for secret in secrets { #expect(!text.contains(secret)) }
    }
}

/// Captures every line at every level.
private struct CapturingLogHandler: LogHandler {
    let lines: NIOLockedValueBox<[String]>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    init(lines: NIOLockedValueBox<[String]>) {
        self.lines = lines
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { $1 }
        let pairs = all.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
        lines.withLockedValue { $0.append("\(event.message) \(pairs)") }
    }
}
