import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("Tokens that must be saved before they are used", .timeLimit(.minutes(10))) struct UnsavedTokensTests {
    private static let policy: SessionPolicy = {
        var policy = SessionPolicy()
        policy.requiresSavedTokens = true
        return policy
    }()

    @Test("if the new tokens cannot be saved, rejected calls fail with an error that says so, and are not replayed")
    func notReplayed() async throws {
        let store = FailingTokenStore()
        let app = try await App.signedIn(store: store, policy: Self.policy)
        app.backend.invalidateAccessTokens()
        store.fail(.write, times: nil)
        for result in await app.burst(5) {
            guard case .failure(.refreshFailed(_, let error, _)) = result else {
                Issue.record("\(result)")
                continue
            }
            #expect(error.kind == .notSaved && !error.mayHaveSpentToken)
            #expect("\(error)".contains("kept in memory"))
        }
        #expect(app.backend.refreshCalls == 1)
        guard case .signedIn(let session) = app.tokens.state else {
            Issue.record("\(app.tokens.state)")
            return
        }
        #expect(!session.isSaved)
        // Neither another call nor the app itself gets the tokens, and their refresh token is not spent.
        await #expect(throws: SessionError.self) { try await app.tokens.validTokens() }
        await #expect(throws: SessionError.self) { try await app.tokens.refresh() }
        #expect(app.tokens.currentTokens == nil)
        #expect(app.backend.refreshCalls == 1)
    }

    @Test("once a retry has saved the tokens, calls succeed with them, without another refresh")
    func recovered() async throws {
        let store = FailingTokenStore()
        let app = try await App.signedIn(store: store, policy: Self.policy)
        app.backend.invalidateAccessTokens()
        store.fail(.write, times: nil)
        _ = await app.call()
        store.recover()
        while case .signedIn(let session) = app.tokens.state, !session.isSaved {
            app.time.advanceToNextSleeper()
            await Task.yield()
        }
        _ = try await app.call().get()
        #expect(app.backend.refreshCalls == 1)
    }

    @Test("by default, tokens that cannot be saved are used from memory") func usedFromMemory() async throws {
        let store = FailingTokenStore()
        let app = try await App.signedIn(store: store)
        app.backend.invalidateAccessTokens()
        store.fail(.write, times: nil)
        _ = try await app.call().get()
        #expect(app.backend.refreshCalls == 1)
    }

    @Test("C101: a sign-in that cannot be saved throws, and leaves neither its user nor the one before signed in")
    func signIn() async throws {
        let store = FailingTokenStore()
        let app = try await App.signedIn(store: store, policy: Self.policy)
        var events = app.tokens.events.makeAsyncIterator()
        store.fail(.write, times: nil)
        await #expect(throws: SessionError.unavailable(StorageError(.unreachable, "the disk is full"))) {
            try await app.tokens.signIn(with: app.backend.issue())
        }
        #expect(app.tokens.state == .signedOut)
        #expect(await store.record == nil)
        var revoked = 0
        while revoked < 2, let event = await events.next() { if event == .revoked { revoked += 1 } }
        #expect(app.backend.revoked.contains { $0.contains("refresh-1") })
        #expect(app.backend.revoked.contains { $0.contains("refresh-2") })
        store.recover()
        try await app.tokens.signIn(with: app.backend.issue())
        _ = try await app.call().get()
    }

    @Test("C101: a client's sign-in that cannot be saved fails with the store's error") func clientSignIn() async throws
    {
        let store = FailingTokenStore()
        store.fail(.write, times: nil)
        let app = App(store: store, policy: Self.policy)
        app.backend.beforeCall { _ in .json(#"{"accessToken":"access-1","refreshToken":"refresh-1"}"#) }
        do {
            try await app.client.signIn(Get("/login", .none), as: NoContent.self)
            Issue.record("the sign-in succeeded")
        } catch .storageUnavailable(let call, _) {
            #expect("\(call)".contains("/login"))
        }
        #expect(app.tokens.state == .signedOut)
    }

    @Test("C101: a write that ends after its time limit does not bring the sign-in back") func lateWrite() async throws
    {
        let (store, gate) = (FailingTokenStore(), Gate())
        let app = App(store: store, policy: Self.policy)
        await app.tokens.restore()
        store.hold(.write, at: gate)
        let signIn = Task { try await app.tokens.signIn(with: app.backend.issue()) }
        await gate.waitForArrivals()
        app.time.advance(by: Self.policy.storeTimeout)
        await #expect(throws: SessionError.self) { try await signIn.value }
        gate.open()
        await app.tokens.flushStore()
        #expect(await store.record == nil)
        #expect(app.tokens.state == .signedOut)
    }

    @Test("C101: a withdrawn sign-in ends no later sign-in of another process") func laterSignIn() async throws {
        let (time, slowness) = (ManualTimeSource(), Locked(Duration.zero))
        let (disk, one, other) = Self.processes(time, slowness)
        let bob = try await Self.slowSignIn(one, time, slowness, taking: .seconds(30))
        time.advance(by: .seconds(1))
        let carol = try await other.tokens.signIn(with: other.backend.issue())
        time.advance(by: .seconds(9))
        await #expect(throws: SessionError.self) { try await bob.value }
        time.advance(by: .seconds(30))
        for await state in one.tokens.states where state == .signedIn(carol) { break }
        #expect(other.tokens.state == .signedIn(carol))
        #expect(disk.record?.id == carol.id)
    }

    @Test("C101: a withdrawn sign-in ends no later one, even if the clock was set back since")
    func clockSetBack()
        async throws
    {
        let (time, slowness) = (ManualTimeSource(), Locked(Duration.zero))
        let (disk, one, other) = Self.processes(time, slowness)
        let bob = try await Self.slowSignIn(one, time, slowness, taking: .seconds(11))
        time.setWallClock(time.wallClock.addingTimeInterval(-86400))
        time.advance(by: .seconds(10))
        let carol = try await other.tokens.signIn(with: other.backend.issue())
        time.advance(by: .seconds(1))
        await #expect(throws: SessionError.self) { try await bob.value }
        await one.tokens.flushStore()
        #expect(disk.record?.id == carol.id)
        #expect(other.tokens.state == .signedIn(carol))
    }

    /// Two processes that share a disk. Changes by the first one take as long as `slowness` says when they begin.
    private static func processes(
        _ time: ManualTimeSource, _ slowness: Locked<Duration>
    ) -> (disk: SimulatedDisk, one: App, other: App) {
        let disk = SimulatedDisk(time: time) { process, operation in
            .init(before: process == "one" && operation == .update ? slowness.withLock { $0 } : .zero)
        }
        return (
            disk, App(store: disk.open("one"), time: time, policy: policy), App(store: disk.open("other"), time: time)
        )
    }

    /// Starts a sign-in whose write takes this long, and returns when the write has begun.
    private static func slowSignIn(
        _ app: App, _ time: ManualTimeSource, _ slowness: Locked<Duration>, taking duration: Duration
    ) async throws -> Task<SignedInSession, any Error> {
        await app.tokens.restore()
        slowness.withLock { $0 = duration }
        let signIn = Task { try await app.tokens.signIn(with: app.backend.issue()) }
        await time.waitForSleepers(2)
        slowness.withLock { $0 = .zero }
        return signIn
    }

    @Test("C101: a sign-in whose write was reported as failed is not found again after it was withdrawn")
    func writtenAllTheSame() async throws {
        let (time, fails) = (ManualTimeSource(), Locked(false))
        let disk = SimulatedDisk(time: time) { process, operation in
            var behavior = SimulatedDisk.Behavior()
            let isHit = fails.withLock { fails in
                defer { if process == "one", operation == .update { fails = false } }
                return fails && process == "one" && operation == .update
            }
            if isHit { behavior.fault = .failedAfterCommit(StorageError(.unreachable, "broken down")) }
            return behavior
        }
        // Its record is where the next sign-in, which has read nothing, would stand by its clock.
        let other = App(store: disk.open("other"), time: time)
        try await other.tokens.signIn(with: other.backend.issue())
        let one = App(store: disk.open("one"), time: time, policy: Self.policy)
        fails.withLock { $0 = true }
        await #expect(throws: SessionError.self) { try await one.tokens.signIn(with: one.backend.issue()) }
        await one.tokens.flushStore()
        #expect(one.tokens.state == .signedOut)
        #expect(disk.record == nil)
    }

    @Test("C101: withdrawing a second sign-in does not bring back the first one, which was withdrawn")
    func writtenBeforeAnother() async throws {
        let failure = StorageError(.unreachable, "broken down")
        // The first sign-in is written all the same. Neither its deletion nor the second sign-in reaches the disk.
        let faults = Locked<[SimulatedDisk.Fault]>([
            .failedAfterCommit(failure), .unreachable(failure), .unreachable(failure),
        ])
        let disk = SimulatedDisk(time: ManualTimeSource()) { _, operation in
            var behavior = SimulatedDisk.Behavior()
            guard operation == .update else { return behavior }
            behavior.fault = faults.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            return behavior
        }
        let app = App(store: disk.open("app", isShared: false), policy: Self.policy)
        await app.tokens.restore()
        for _ in 1...2 {
            await #expect(throws: SessionError.self) { try await app.tokens.signIn(with: app.backend.issue()) }
            await app.tokens.flushStore()
        }
        #expect(faults.withLock(\.isEmpty))
        #expect(app.tokens.state == .signedOut)
        #expect(disk.record == nil)
    }

    @Test("C101: a withdrawn sign-in deletes no record that cannot be read") func unreadableRecord()
        async throws
    {
        let store = FailingTokenStore()
        store.fail(.read, times: nil, with: StorageError(.tooNew, "version 99"))
        store.fail(.write, times: nil)
        let app = App(store: store, policy: Self.policy)
        await app.tokens.restore()
        await #expect(throws: SessionError.self) { try await app.tokens.signIn(with: app.backend.issue()) }
        await app.tokens.flushStore()
        #expect(!store.operations.contains(.delete))
    }

    @Test("tokens that another process has saved are used at once") func adopted() throws {
        let ada = StoredSession(id: SessionID(rawValue: "ada"), generation: 1, tokens: .fresh(1))
        var machine = SessionStateMachine.restored(ada, policy: Self.policy, sharesStore: true)
        _ = machine.refreshForced(by: 1, at: .zero)
        let started = machine.takeRefresh()
        let job = try #require(started)
        #expect(machine.answer(preparing: job, .found(ada)) == .send)
        _ = machine.refreshFinished(
            job, .success(.fresh(2), nil, estimatedExpiry: nil), at: .zero, jitter: 0)
        machine.answer(.write, .found(ada), failure: StorageError(.unreachable, "full"))
        guard case .failure(.refreshFailed(let error)) = machine.tokenRequested(by: 2, at: .zero) else {
            Issue.record("the tokens are handed out")
            return
        }
        #expect(error.kind == .notSaved && machine.cachedCredential == nil)
        let newer = ada.renewed(rotation: 2, .fresh(3))
        machine.answer(.read, .found(newer))
        #expect(machine.cachedCredential?.credential.stamp == newer.stamp)
    }
}
