import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("Conformance: revocation, priorities and lost networks") struct SignOutConformanceTests {
    /// The header fields and bodies that the revocation endpoint received.
    private func revocations(of app: App) -> [StubTransport.Request] {
        app.transport.requests.filter { $0.path == "/auth/logout" }
    }

    @Test("C79: a revocation carries no access token that a strict server rejects", arguments: [true, false])
    func strictServer(isExpired: Bool) async throws {
        let app = try await App.signedIn()
        if isExpired { app.time.advance(by: .seconds(3601)) }
        await app.tokens.signOut(waitingForServer: .seconds(5))
        let sent = revocations(of: app)
        #expect(sent.map(\.bearer) == [isExpired ? nil : "access-1"])
        #expect(app.backend.revoked.count == 1)
    }

    @Test("C79: a sign-out can wait until the server was told, but no longer than its limit")
    func awaitedSignOut() async throws {
        let app = try await App.signedIn()
        let gate = Gate()
        app.backend.beforeLogout { _ in
            await gate.pass()
            return nil
        }
        let signOut = Task { await app.tokens.signOut(waitingForServer: .seconds(5)) }
        await gate.waitForArrivals()
        #expect(app.tokens.state == .signedOut)
        gate.open()
        await signOut.value
        #expect(app.backend.revoked.count == 1)
    }

    @Test("C79: a sign-in over a live session revokes the old one") func secondSignIn() async throws {
        let app = try await App.signedIn()
        let events = app.tokens.events
        try await app.tokens.signIn(with: app.backend.issue())
        #expect(await events.first { $0 == .revoked } != nil)
        #expect(app.backend.revoked.count == 1 && app.backend.revoked[0].contains("refresh-1"))
        #expect(await app.call().isSuccess)
    }

    @TaskLocal private static var request = "none"

    @Test("C78: no task-local of the caller that starts a refresh reaches the refresher") func taskLocals() async throws
    {
        let app = try await App.signedIn()
        let seen = Log()
        app.backend.beforeRefresh { _ in
            seen.add(Self.request)
            return nil
        }
        app.backend.invalidateAccessTokens()
        let result = await Self.$request.withValue("caller") { await app.call() }
        #expect(result.isSuccess)
        #expect(seen.lines == ["none"])
    }

    @Test("C78: a refresh that starts in the background runs at the priority of its most urgent caller")
    func priority() async throws {
        let app = try await App.signedIn()
        let gate = Gate()
        let priorities = Locked<[TaskPriority]>([])
        app.backend.beforeRefresh { _ in
            priorities.withLock { $0.append(Task.currentPriority) }
            await gate.pass()
            priorities.withLock { $0.append(Task.currentPriority) }
            return nil
        }
        var joined = app.tokens.events.compactMap { if case .refreshJoined = $0 { true } else { nil } }
            .makeAsyncIterator()
        let starter = Task(priority: .background) { try await app.tokens.refresh() }
        await gate.waitForArrivals()
        let urgent = Task(priority: .high) { try await app.tokens.refresh() }
        _ = await joined.next()
        gate.open()
        try await urgent.value
        try await starter.value
        let (first, last) = priorities.withLock { ($0.first, $0.last) }
        #expect(first ?? .high < .high)
        #expect(last == .high)
    }

    @Test("C81: a network that goes away after the refresh token was sent leaves it in doubt")
    func networkGone() async throws {
        let store = FailingTokenStore()
        let app = try await App.signedIn(store: store)
        app.backend.beforeRefresh { _ in throw TransportError.connectionLost("the network went away") }
        await #expect(throws: SessionError.self) { try await app.tokens.refresh() }
        #expect(await store.record?.journal != nil)
        app.backend.beforeRefresh { _ in throw TransportError.offline }
        app.time.advance(by: .seconds(60))
        await #expect(throws: SessionError.self) { try await app.tokens.refresh() }
        #expect(await store.record?.journal != nil, "the first token may still have been spent")
        let other = FailingTokenStore()
        let second = try await App.signedIn(store: other)
        second.backend.beforeRefresh { _ in throw TransportError.offline }
        await #expect(throws: SessionError.self) { try await second.tokens.refresh() }
        await second.tokens.storePort.flush()
        #expect(await other.record?.journal == nil, "nothing was sent")
    }
}
