import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("Conformance: revocation, priorities and lost networks", .timeLimit(.minutes(10))) struct SignOutConformanceTests
{
    /// The header fields and bodies that the revocation endpoint received.
    private func revocations(of app: App) -> [StubTransport.Request] {
        app.transport.requests.filter { $0.path == "/auth/logout" }
    }

    @Test("C79: a revocation carries no access token that a strict server rejects", arguments: [true, false])
    func strictServer(isExpired: Bool) async throws {
        let app = try await App.signedIn()
        if isExpired { app.time.advance(by: .seconds(3601)) }
        #expect(await app.tokens.signOut(waitingForServer: .seconds(5)))
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
        #expect(await signOut.value)
        #expect(app.backend.revoked.count == 1)
    }

    @Test("C79: tokens that a refresh brings after the sign-out are revoked with the refresh token that they keep")
    func lateAccessToken() async throws {
        let app = try await App.signedIn()
        let gate = Gate()
        app.backend.beforeRefresh { _ in
            await gate.pass()
            return .json(#"{"accessToken":"access-9"}"#)
        }
        let refresh = Task { try await app.tokens.refresh() }
        await gate.waitForArrivals()
        let signOut = Task { await app.tokens.signOut(waitingForServer: .seconds(5)) }
        while app.tokens.state != .signedOut { await Task.yield() }
        gate.open()
        #expect(await signOut.value)
        #expect(app.backend.revoked.count == 2)
        #expect(app.backend.revoked.allSatisfy { $0.contains("refresh-1") })
        _ = await refresh.result
    }

    @Test("C79: a sign-out says that the server has not answered in time, and the revocation goes on")
    func lateServer() async throws {
        var policy = SessionPolicy()
        policy.refreshTimeout = .seconds(86_400)
        let app = try await App.signedIn(policy: policy)
        let gate = Gate()
        app.backend.beforeLogout { _ in
            await gate.pass()
            return nil
        }
        let events = app.tokens.events
        let signOut = Task { await app.tokens.signOut(waitingForServer: .seconds(5)) }
        await gate.waitForArrivals()
        #expect(try await !app.time.advance(by: .milliseconds(100)) { await signOut.value })
        #expect(app.backend.revoked.isEmpty)
        gate.open()
        var seen: [SessionEvent] = []
        for await event in events {
            seen.append(event)
            if event == .revoked { break }
        }
        #expect(seen.contains(.revocationFailed("the server has not responded within 5 s")))
        #expect(app.backend.revoked.count == 1)
    }

    @Test("C79: if a server keeps failing until the time limit, its failures are reported, not a missing answer")
    func failingServer() async throws {
        let app = try await App.signedIn()
        app.backend.beforeLogout { _ in .status(503) }
        let events = app.tokens.events
        let isConfirmed = try await app.time.advance(by: .milliseconds(100)) {
            await app.tokens.signOut(waitingForServer: .seconds(5))
        }
        #expect(!isConfirmed)
        try await app.tokens.signIn(with: app.backend.issue())
        var failures: [String] = []
        for await event in events {
            if case .revocationFailed(let reason) = event { failures.append(reason) }
            if case .signedIn = event { break }
        }
        #expect(!failures.isEmpty && failures.allSatisfy { $0.contains("503") })
    }

    @Test(
        "C79: a revocation that the server refuses for good is sent once, and one that it may accept later is repeated",
        arguments: [(400, false, 1), (403, false, 1), (401, true, 1), (401, false, 2), (503, false, 6)])
    func refused(status: Int, isExpired: Bool, requests: Int) async throws {
        let app = try await App.signedIn()
        if isExpired { app.time.advance(by: .seconds(3601)) }
        app.backend.beforeLogout { _ in .status(status) }
        let isConfirmed = try await app.time.advance(by: .milliseconds(100)) {
            await app.tokens.signOut(waitingForServer: .seconds(86_400))
        }
        #expect(!isConfirmed)
        #expect(revocations(of: app).count == requests)
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
            // The priority is raised by a task of its own, a moment after the caller has joined.
            while Task.currentPriority < .high { await Task.yield() }
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
        _ = try await urgent.value
        _ = try await starter.value
        let (first, last) = priorities.withLock { ($0.first, $0.last) }
        #expect(first ?? .high < .high)
        #expect(last == .high)
    }

    @Test("C78: a caller that joins before the task of the refresh exists lends it its priority")
    func priorityBeforeTheTask() async throws {
        let app = try await App.signedIn()
        let priority = Locked<TaskPriority?>(nil)
        app.backend.beforeRefresh { _ in
            priority.withLock { $0 = Task.currentPriority }
            return nil
        }
        let tokens = app.tokens
        // The manager performs this action in the next step of the caller that has started the refresh.
        let job = tokens.transition { machine in
            _ = machine.refreshForced(by: machine.makeID(), at: .zero)
            return machine.takeRefresh()
        }
        tokens.transitionCore { core in core.announceRefresh(at: .background) }
        let urgent = Task(priority: .high) { try await tokens.refresh() }
        while tokens.inspect({ $0.startingPriority }) != .high { await Task.yield() }
        let started = try #require(job)
        await Task(priority: .background) { tokens.startRefresh(started) }.value
        _ = try await urgent.value
        #expect(priority.withLock { $0 } == .high)
    }

    @Test("C78: a refresh that waits for the lock between processes does so at the priority of its most urgent caller")
    func priorityOfTheLock() async throws {
        let lock = HeldUpLock()
        let app = try await App.signedIn(store: LockedStore(lock: lock))
        var joined = app.tokens.events.compactMap { if case .refreshJoined = $0 { true } else { nil } }
            .makeAsyncIterator()
        let starter = Task(priority: .background) { try await app.tokens.refresh() }
        await lock.gate.waitForArrivals()
        let urgent = Task(priority: .high) { try await app.tokens.refresh() }
        _ = await joined.next()
        while lock.priority.withLock({ $0 }) != .high { await Task.yield() }
        lock.gate.open()
        _ = try await urgent.value
        _ = try await starter.value
    }

    @Test("C78: a call that waits for the store lends it its priority") func priorityOfTheStore() async throws {
        let lock = HeldUpLock()
        let tokens = App(store: SlowStore(reading: lock)).tokens
        let starter = Task(priority: .background) { await tokens.restore() }
        await lock.gate.waitForArrivals()
        let urgent = Task(priority: .high) { await tokens.restore() }
        while lock.priority.withLock({ $0 }) != .high { await Task.yield() }
        lock.gate.open()
        #expect(await urgent.value == .signedOut)
        #expect(await starter.value == .signedOut)
    }

    @Test("a call whose token was rejected fails with sessionChanged after a sign-out, like every other call")
    func rejectedThenSignedOut() async throws {
        let app = try await App.signedIn()
        app.backend.invalidateAccessTokens()
        let gate = Gate()
        app.backend.beforeRefresh { _ in
            await gate.pass()
            return nil
        }
        async let rejected = app.call()
        await gate.waitForArrivals()
        async let waiting = app.call()
        while app.tokens.inspect({ $0.waiting.count }) < 2 { await Task.yield() }
        await app.tokens.signOut()
        for error in [await rejected.error, await waiting.error] {
            guard case .sessionChanged = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        gate.open()
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
        await second.tokens.flushStore()
        #expect(await other.record?.journal == nil, "nothing was sent")
    }
}

/// A lock between processes that another process holds until the test opens the gate.
private final class HeldUpLock: StoreLock {
    let gate = Gate()
    let priority = Locked<TaskPriority?>(nil)

    func acquire(lease: Duration) async throws -> any HeldStoreLock {
        let isOpen = Locked(false)
        Task { [gate] in
            await gate.pass()
            isOpen.withLock { $0 = true }
        }
        while !isOpen.withLock({ $0 }) {
            priority.withLock { $0 = Task.currentPriority }
            await Task.yield()
        }
        return Held()
    }

    private struct Held: HeldStoreLock {
        var isHeld: Bool { true }
        func release() {}
    }
}

/// A store whose reading takes until the test opens a gate.
private struct SlowStore: TokenStore {
    let inner = InMemoryTokenStore()
    let reading: HeldUpLock

    func read() async -> StoreReading {
        _ = try? await reading.acquire(lease: .zero)
        return await inner.read()
    }

    func write(_ session: StoredSession) async throws { await inner.write(session) }
    func delete() async throws { await inner.delete() }
}

private struct LockedStore: TokenStore {
    let inner = InMemoryTokenStore()
    let held: HeldUpLock

    init(lock: HeldUpLock) {
        held = lock
    }

    var refreshLock: (any StoreLock)? { held }
    func read() async -> StoreReading { await inner.read() }
    func write(_ session: StoredSession) async throws { await inner.write(session) }
    func delete() async throws { await inner.delete() }

    @discardableResult
    func update(_ decide: @escaping @Sendable (StoreReading) -> StoreUpdate) async throws -> StoreReading {
        try await inner.update(decide)
    }
}
