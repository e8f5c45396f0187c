import Foundation
import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

@Suite("Races of a session's steps", .timeLimit(.minutes(10))) struct SessionRaceTests {
    @Test("a refresh that acquires its lock after a sign-out writes nothing to the store")
    func lateLockAfterSignOut() async throws {
        let store = SharedStubStore()
        let app = App(store: store)
        store.isFull.withLock { $0 = true }
        try await app.tokens.signIn(with: app.backend.issue())
        store.isFull.withLock { $0 = false }
        let refresh = Task { try await app.tokens.refresh() }
        await store.gate.waitForArrivals()
        let events = app.tokens.events
        await app.tokens.signOut()
        store.gate.open()
        #expect(await events.first { if case .refreshDiscarded = $0 { true } else { false } } != nil)
        await app.tokens.flushStore()
        #expect(await store.read().isEmpty)
        await #expect(throws: SessionError.signedOut) { try await refresh.value }
        #expect(app.backend.refreshCalls == 0)
    }

    @Test("a refresh that acquires its lock after another sign-in leaves the new user's record alone")
    func lateLockAfterSignIn() async throws {
        let store = SharedStubStore()
        let app = App(store: store)
        store.isFull.withLock { $0 = true }
        try await app.tokens.signIn(with: app.backend.issue())
        store.isFull.withLock { $0 = false }
        let refresh = Task { try await app.tokens.refresh() }
        await store.gate.waitForArrivals()
        let events = app.tokens.events
        let bob = try await app.tokens.signIn(with: app.backend.issue())
        store.gate.open()
        #expect(await events.first { if case .refreshDiscarded = $0 { true } else { false } } != nil)
        await app.tokens.flushStore()
        guard case .found(let record) = await store.read() else {
            Issue.record("the record was deleted")
            return
        }
        #expect(record.id == bob.id)
        await #expect(throws: SessionError.sessionChanged) { try await refresh.value }
        try await app.tokens.refresh()
        #expect(app.backend.reuseDetected == 0 && app.tokens.state == .signedIn(bob))
    }

    @Test("a listening task can be cancelled while its child waits for a token and the session publishes a state")
    func cancelledListener() async throws {
        for round in 0..<1000 {
            let app = try await App.signedIn()
            let atServer = Gate()
            app.backend.beforeRefresh { _ in
                await atServer.pass()
                return nil
            }
            let states = app.tokens.states
            let listening = Task {
                async let token = app.tokens.refresh()
                for await _ in states {}
                do {
                    _ = try await token
                    return nil as SessionError?
                } catch {
                    return error as? SessionError
                }
            }
            await atServer.waitForArrivals()
            for _ in 0..<round % 4 { await Task.yield() }
            async let cancelling: Void = listening.cancel()
            await app.tokens.signOut()
            await cancelling
            atServer.open()
            let error = await listening.value
            #expect(error == .cancelled || error == .signedOut)
        }
    }

    @Test("nothing remains of callers that were cancelled before or while they waited") func cancelledCallers()
        async throws
    {
        let app = try await App.signedIn()
        let atServer = Gate()
        app.backend.beforeRefresh { _ in
            await atServer.pass()
            return nil
        }
        let refresh = Task { try await app.tokens.refresh() }
        await atServer.waitForArrivals()
        for isCancelledFirst in [true, false] {
            let caller = Task {
                if isCancelledFirst { withUnsafeCurrentTask { $0?.cancel() } }
                try await app.tokens.refresh()
            }
            while !isCancelledFirst, app.tokens.inspect({ $0.waiting.count }) < 2 { await Task.yield() }
            caller.cancel()
            await #expect(throws: SessionError.cancelled) { try await caller.value }
        }
        #expect(app.tokens.inspect { $0.waiting.count } == 1)
        atServer.open()
        _ = try await refresh.value
    }

    @Test("a refresh token is not sent again if the response that seemed lost arrives just before") func lateResponse()
        async throws
    {
        let (backend, time) = (SimulatedBackend(), WatchedTime())
        var policy = SessionPolicy()
        policy.rotationGrace = .seconds(60)
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"),
            policy: policy, transport: backend.transport, time: time, random: { $0.upperBound })
        try await tokens.signIn(with: backend.issue())
        backend.loseResponses(1)
        // The time limit of the replay begins with a look at the clock, before the refresher is called.
        time.onRead {
            guard case .sending(let job, _)? = tokens.inspect({ $0.machine.session?.refresh }), job.replays == 1
            else { return false }
            tokens.transition { machine in
                _ = machine.refreshFinished(
                    job, .success(.fresh(2), nil, estimatedExpiry: nil), at: .zero, jitter: 0)
            }
            return true
        }
        try await tokens.refresh()
        #expect(try await tokens.validTokens().accessToken == Tokens.fresh(2).accessToken)
        await tokens.inspect { $0.refresh }?.task.value
        #expect(backend.refreshCalls == 1)
    }

    @Test("C17: a caller that waited for one user's token does not get the next user's")
    func askingAgain() async throws {
        let store = SharedStubStore()
        let time = WatchedTime()
        let backend = SimulatedBackend()
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: store, refresher: .json(path: "/auth/refresh"),
            transport: backend.transport, time: time, random: { $0.upperBound })
        try await tokens.signIn(with: backend.issue())
        backend.invalidateAccessTokens()
        let refresh = Task { try await tokens.refresh() }
        await store.gate.waitForArrivals()
        await store.renew(backend.issue())
        // A resumed caller reads the clock before it asks again, and Bob signs in at that moment.
        time.onRead {
            guard tokens.inspect({ $0.machine.currentRecord?.rotation == 1 }) else { return false }
            tokens.signInAtOnce(.fresh(7))
            return true
        }
        store.gate.open()
        await #expect(throws: SessionError.sessionChanged) { try await refresh.value }
        #expect(backend.refreshCalls == 0)
    }

    @Test("C17: a call that released its slot for a refresh does not continue as the next user")
    func releasedSlot() async throws {
        let backend = SimulatedBackend()
        let gate = Gate()
        let transport = WatchedTransport(backend.transport)
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"),
            transport: transport, time: ManualTimeSource(), random: { $0.upperBound })
        let client = NetworkClient(tokens: tokens)
        let hold = Gate()
        backend.beforeRefresh { _ in
            await hold.pass()
            return nil
        }
        backend.beforeCall { request in
            guard request.path == "/slow" else { return nil }
            await gate.pass()
            // The first slot released from here on is this call's, and the second is that of the call queued behind it.
            transport.onQuery(2) {
                tokens.signInAtOnce(.fresh(7))
                hold.open()
            }
            return .status(401)
        }
        try await tokens.signIn(with: backend.issue())
        async let slow: Void? = try? client.send(Get("/slow"))
        await gate.waitForArrivals()
        let queued = Task { () -> NetworkError? in
            do throws(NetworkError) {
                let _: Echo = try await client.send(Get("/me"))
                return nil
            } catch {
                return error
            }
        }
        // One query to acquire a slot, and one to join the queue.
        await transport.waitForQueries(3)
        gate.open()
        guard case .sessionChanged = await queued.value else {
            Issue.record("the call continued as another user")
            return
        }
        #expect(backend.calls(to: "/me") == 0)
        _ = await slow
    }

    @Test("while the store hangs, a thousand changes cost one further reading") func coalescedReadings() async throws {
        let (store, gate) = (SharedStubStore(), Gate())
        let app = try await App.signedIn(store: store)
        store.readGate.withLock { $0 = gate }
        store.reportChange()
        await gate.waitForArrivals()
        let reads = store.reads.withLock { $0 }
        for _ in 0..<1_000 {
            store.reportChange()
            await Task.yield()
        }
        gate.open()
        for _ in 0..<10 { await app.tokens.flushStore() }
        #expect(store.reads.withLock { $0 } - reads <= 2)
    }

    @Test("only one retry of a failed read is scheduled, even if the record changes many times") func oneReadRetry()
        async throws
    {
        let store = SharedStubStore()
        let app = try await App.signedIn(store: store)
        store.isLocked.withLock { $0 = true }
        for _ in 1...20 {
            let reads = store.reads.withLock { $0 }
            store.reportChange()
            while store.reads.withLock({ $0 }) == reads { await Task.yield() }
            await app.tokens.flushStore()
            await app.time.waitForSleepers()
        }
        // Each scheduled retry would run as long as the record is unreadable.
        for _ in 0..<1_000 { await Task.yield() }
        #expect(app.time.sleeperCount == 1)

        store.isLocked.withLock { $0 = false }
        await store.renew(app.backend.issue())
        let events = app.tokens.events
        app.time.advance(by: .seconds(3600))
        #expect(await events.first { if case .adopted = $0 { true } else { false } } != nil)
    }

    @Test("C25: an expiry declared by the server keeps a newer record that becomes readable later")
    func newerRecordAtTheEnd() async throws {
        let store = SharedStubStore()
        store.gate.open()
        let app = try await App.signedIn(store: store)
        app.backend.revokeSession()
        app.backend.beforeRefresh { _ in
            store.isLocked.withLock { $0 = true }
            return nil
        }
        var events = app.tokens.events.makeAsyncIterator()
        await #expect(throws: SessionError.self) { try await app.tokens.refresh() }
        for _ in 1...2 {
            while let event = await events.next() {
                if case .storeDeleteFailed = event { break }
            }
        }
        await store.renew(app.backend.issue())
        let newer = await store.memory.read()
        store.isLocked.withLock { $0 = false }
        let clock = Task {
            while !Task.isCancelled {
                app.time.advanceToNextSleeper()
                await Task.yield()
            }
        }
        while let event = await events.next() {
            if event == .storeRecovered(nil) { break }
        }
        clock.cancel()
        #expect(await store.memory.read() == newer)
        // Another process refreshed the tokens, and they are valid for this process too.
        #expect(app.tokens.state.isSignedIn)
        #expect(await app.call().isSuccess)
    }
}

extension TokenManager {
    /// Signs in up to the point where the manager waits for the store.
    fileprivate func signInAtOnce(_ tokens: Tokens) {
        transition { machine in
            machine.signedIn(StoredSession(id: SessionID(), tokens: tokens), deadlines: nil, by: machine.makeID())
        }
    }
}
