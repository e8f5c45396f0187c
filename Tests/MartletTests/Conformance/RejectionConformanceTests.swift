import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("Conformance: rejected tokens and several processes", .timeLimit(.minutes(10))) struct RejectionConformanceTests
{
    @Test("C102: a replay with a token that another process has replaced is followed by one with the newest token")
    func replacedElsewhere() async throws {
        try await TemporaryFolder.with { folder in
            let (app, store) = try await sharing(folder)
            app.backend.invalidateAccessTokens()
            app.backend.beforeCall { [backend = app.backend] request in
                if request.bearer == "access-2" { try await Self.rotateElsewhere(store, backend) }
                return nil
            }
            #expect(await app.call().isSuccess)
            #expect(app.transport.requests(to: "/me").map(\.bearer) == ["access-1", "access-2", "access-3"])
            #expect(app.backend.refreshCalls == 1)
        }
    }

    @Test("C102: a call is never replayed more than three times") func threeReplays() async throws {
        try await TemporaryFolder.with { folder in
            let (app, store) = try await sharing(folder)
            app.backend.beforeCall { [backend = app.backend] _ in
                try await Self.rotateElsewhere(store, backend)
                return .json(#"{"message":"answer \#(backend.calls(to: "/me"))"}"#, status: 401)
            }
            guard case .unauthorized(_, let response) = await app.call().error else {
                Issue.record("the last rejection did not surface")
                return
            }
            #expect(String(decoding: response.body, as: UTF8.self).contains("answer 4"))
            #expect(app.backend.calls(to: "/me") == 4)
            #expect(app.backend.refreshCalls == 0, "each newer token came from another process")
        }
    }

    @Test("C102: a second rejection of the newest token reaches the caller unchanged and starts no refresh")
    func newestRejected() async throws {
        try await TemporaryFolder.with { folder in
            let (app, _) = try await sharing(folder)
            app.backend.beforeCall { [backend = app.backend] _ in
                .json(#"{"message":"answer \#(backend.calls(to: "/me"))"}"#, status: 401)
            }
            guard case .unauthorized(_, let response) = await app.call().error else {
                Issue.record("the second rejection did not surface")
                return
            }
            #expect(String(decoding: response.body, as: UTF8.self).contains("answer 2"))
            #expect(app.backend.calls(to: "/me") == 2)
            #expect(app.backend.refreshCalls == 1)
        }
    }

    @Test("C102: a replay of a token that another process is replacing waits for that") func beingReplaced()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let (app, store) = try await sharing(folder)
            app.backend.invalidateAccessTokens()
            app.backend.beforeCall { request in
                guard request.bearer == "access-2" else { return nil }
                // Another process has sent the refresh token, and died.
                try await store.update { reading in
                    guard case .found(var record) = reading else { return .keep }
                    record.journal = RefreshJournal(of: record, sentAt: SessionStateMachine.wallClock)
                    return .write(record)
                }
                return .status(401)
            }
            #expect(await app.call().isSuccess)
            #expect(app.transport.requests(to: "/me").map(\.bearer) == ["access-1", "access-2", "access-3"])
            #expect(app.backend.refreshCalls == 2)
        }
    }

    @Test("C102: callers whose second rejections arrive together share a reading of the store") func oneReading()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let store = FailingTokenStore(QuietStore(FileTokenStore(path: folder.path + "/session.json")))
            let app = try await App.signedIn(store: store)
            let (first, arrived, gate) = (Gate(), Gate(), Gate())
            app.backend.beforeCall { request in
                await (request.bearer == "access-1" ? first : arrived).pass()
                return .status(401)
            }
            async let results = app.burst(20)
            await first.waitForArrivals(20)
            first.open()
            await arrived.waitForArrivals(20)
            await app.tokens.flushStore()
            store.hold(.read, at: gate)
            arrived.open()
            await gate.waitForArrivals()
            while app.tokens.waitingLookups < 20 { await Task.yield() }
            #expect(gate.arrivals == 1)
            gate.open()
            #expect(await results.allSatisfy { !$0.isSuccess })
            #expect(gate.arrivals <= 2, "one that had begun, and one that began after all rejections")
        }
    }

    @Test("a second rejection does not hold up other calls while the store is read") func slotDuringReading()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let store = FailingTokenStore(QuietStore(FileTokenStore(path: folder.path + "/session.json")))
            let app = try await App.signedIn(store: store) { $0.maximumConcurrentRequests = 1 }
            let (second, reading) = (Gate(), Gate())
            app.backend.beforeCall { request in
                guard request.path == "/broken" else { return nil }
                if request.bearer != "access-1" { await second.pass() }
                return .status(401)
            }
            let broken = Task { await app.call("/broken") }
            await second.waitForArrivals()
            await app.tokens.flushStore()
            store.hold(.read, at: reading)
            second.open()
            await reading.waitForArrivals()
            #expect(await app.call().isSuccess)
            reading.open()
            #expect(await !broken.value.isSuccess)
        }
    }

    @TaskLocal private static var caller = "none"

    @Test("a reading of the store that callers may share sees no task-local value of the one that starts it")
    func taskLocals() async throws {
        try await TemporaryFolder.with { folder in
            let seen = Log()
            let store = QuietStore(FileTokenStore(path: folder.path + "/session.json")) { seen.add(Self.caller) }
            let app = try await App.signedIn(store: store)
            app.backend.beforeCall { _ in .status(401) }
            let before = seen.lines.count
            let result = await Self.$caller.withValue("first") { await app.call() }
            #expect(!result.isSuccess)
            let readings = seen.lines.dropFirst(before)
            #expect(!readings.isEmpty && Set(readings) == ["none"])
        }
    }

    @Test("C102: a replay with a token that this process has replaced is followed by one with the newest token")
    func replacedHere() async throws {
        let app = try await App.signedIn()
        app.backend.invalidateAccessTokens()
        app.backend.beforeCall { [backend = app.backend, tokens = app.tokens] request in
            guard request.bearer == "access-2" else { return nil }
            backend.invalidateAccessTokens()
            try await tokens.refresh()
            return nil
        }
        #expect(await app.call().isSuccess)
        #expect(app.transport.requests(to: "/me").map(\.bearer) == ["access-1", "access-2", "access-3"])
        #expect(app.backend.refreshCalls == 2)
    }

    /// An app whose record other processes share, and which is never told of their changes.
    private func sharing(_ folder: TemporaryFolder) async throws -> (App, QuietStore) {
        let store = QuietStore(FileTokenStore(path: folder.path + "/session.json"))
        return (try await App.signedIn(store: store), store)
    }

    /// Another process refreshes the tokens. The server accepts only the new access token.
    private static func rotateElsewhere(_ store: QuietStore, _ backend: SimulatedBackend) async throws {
        backend.invalidateAccessTokens()
        let tokens = backend.issue()
        try await store.update { reading in
            guard case .found(let record) = reading else { return .keep }
            return .write(record.renewed(rotation: record.rotation + 1, tokens))
        }
    }
}

/// A store that processes share and that reports no changes, as when a report has not arrived yet.
private struct QuietStore: TokenStore {
    let inner: FileTokenStore
    private let willRead: @Sendable () -> Void

    init(_ inner: FileTokenStore, willRead: @escaping @Sendable () -> Void = {}) {
        self.inner = inner
        self.willRead = willRead
    }

    var refreshLock: (any StoreLock)? { inner.refreshLock }

    func read() async -> StoreReading {
        willRead()
        return await inner.read()
    }

    func write(_ session: StoredSession) async throws { try await inner.write(session) }
    func delete() async throws { try await inner.delete() }
    func changes() -> AsyncStream<Void>? { nil }

    @discardableResult
    func update(_ decide: @escaping @Sendable (StoreReading) -> StoreUpdate) async throws -> StoreReading {
        try await inner.update(decide)
    }
}
