import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("A refresh whose lock was taken away") struct LostLockTests {
    @Test("stores its tokens as doubtful, so that a refusal is called what it is") func stoppedAfterSending()
        async throws
    {
        let store = SharedStore()
        let app = try await App.signedIn(store: store)
        app.backend.invalidateAccessTokens()
        app.backend.afterRefresh { _ in
            store.isLost = true
            return nil
        }
        #expect(await app.call().isSuccess)
        #expect(try await store.record?.doubt != nil)

        // The other process has sent the same token, and that was the end of the session.
        store.isLost = false
        app.backend.revokeSession()
        app.backend.invalidateAccessTokens()
        let other = App(app.backend, store: store)
        #expect(await other.call().error != nil)
        #expect(other.tokens.state == .expired(.rotationLost))
    }

    @Test("leaves no doubt where the server takes the next token") func nothingLost() async throws {
        let store = SharedStore()
        let app = try await App.signedIn(store: store)
        app.backend.invalidateAccessTokens()
        app.backend.afterRefresh { _ in
            store.isLost = true
            return nil
        }
        #expect(await app.call().isSuccess)
        store.isLost = false
        app.backend.afterRefresh(nil)
        app.backend.invalidateAccessTokens()
        #expect(await app.call().isSuccess)
        let record = try await store.record
        #expect(record?.rotation == 2 && record?.journal == nil)
    }

    @Test(
        "casts doubt on what the other process has got, if its own token is refused or unanswered",
        arguments: [true, false])
    func stoppedBeforeSending(isAnswered: Bool) async throws {
        let store = SharedStore()
        let app = try await App.signedIn(store: store)
        app.backend.invalidateAccessTokens()
        app.backend.beforeRefresh { _ in
            // While this process was stopped, another one has renewed the tokens.
            store.isLost = true
            guard var record = try await store.record else { return nil }
            record.bundle = app.backend.issue()
            record.rotation += 1
            record.journal = nil
            try await store.write(record)
            if !isAnswered { throw TransportError.connectionLost("reset by peer") }
            return nil
        }
        _ = await app.call()
        // The doubt is written once the callers have been answered.
        while try await store.record?.journal == nil { await Task.yield() }
        let record = try #require(await store.record)
        #expect(record.rotation == 1 && record.doubt != nil)
        #expect(app.tokens.state.isSignedIn)
    }

    @Test("keeps tokens that come late as doubtful, since the lock was let go") func lateTokens() async throws {
        let (store, time, gate) = (SharedStore(), ManualTimeSource(), Gate())
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: store,
            refresher: .custom { _, _ in
                // In a task of its own, so that giving up does not reach it.
                await Task.detached { await gate.pass() }.value
                return TokenBundle(accessToken: "late", refreshToken: "late-refresh")
            }, transport: SimulatedBackend().transport, time: time)
        try await tokens.signIn(with: TokenBundle(accessToken: "first", refreshToken: "first-refresh"))
        let refresh = Task { try await tokens.refresh() }
        await gate.waitForArrivals()
        time.advance(by: tokens.policy.attemptTimeout)
        await #expect(throws: SessionError.self) { try await refresh.value }

        var events = tokens.events.makeAsyncIterator()
        gate.open()
        while let event = await events.next() {
            if case .refreshSucceeded = event { break }
        }
        let record = try #require(await store.record)
        #expect(record.rotation == 1 && record.doubt != nil)
    }
}

/// A store that others can reach, with a lock that can be lost.
private final class SharedStore: TokenStore {
    private struct Lock: StoreLock, HeldStoreLock {
        let store: SharedStore

        func acquire(lease: Duration) async throws -> any HeldStoreLock { self }
        var isHeld: Bool { !store.isLost }
        func release() {}
    }

    private let inner = InMemoryTokenStore()
    private let state = Locked(false)

    var isLost: Bool {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    var record: StoredSession? {
        get async throws {
            guard case .found(let record) = await inner.read() else { return nil }
            return record
        }
    }

    var lock: (any StoreLock)? { Lock(store: self) }
    func read() async -> StoreReading { await inner.read() }
    func write(_ session: StoredSession) async throws { await inner.write(session) }
    func delete() async throws { await inner.delete() }
}
