import Foundation
import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

@Suite("Between two steps") struct SessionRaceTests {
    @Test("a refresh that comes to its turn after a sign-out puts nothing back into the store")
    func lateNoteAfterSignOut() async throws {
        let store = SharedShelf()
        let app = App(store: store)
        store.isFull.withLock { $0 = true }
        try await app.tokens.signIn(with: app.backend.issue())
        store.isFull.withLock { $0 = false }
        let refresh = Task { try await app.tokens.refresh() }
        await store.gate.waitForArrivals()
        await app.tokens.signOut()
        let events = app.tokens.events
        store.gate.open()
        #expect(await events.first { if case .refreshDiscarded = $0 { true } else { false } } != nil)
        await app.tokens.storeLane.flush()
        #expect(await store.read() == .empty)
        await #expect(throws: SessionError.signedOut) { try await refresh.value }
        #expect(app.backend.refreshCalls == 0)
    }

    @Test("a refresh that comes to its turn after a switch leaves the record to whoever signed in since")
    func lateNoteAfterSwitch() async throws {
        let store = SharedShelf()
        let app = App(store: store)
        store.isFull.withLock { $0 = true }
        try await app.tokens.signIn(with: app.backend.issue())
        store.isFull.withLock { $0 = false }
        let refresh = Task { try await app.tokens.refresh() }
        await store.gate.waitForArrivals()
        let bob = try await app.tokens.signIn(with: app.backend.issue())
        let events = app.tokens.events
        store.gate.open()
        #expect(await events.first { if case .refreshDiscarded = $0 { true } else { false } } != nil)
        await app.tokens.storeLane.flush()
        guard case .found(let record) = await store.read() else {
            Issue.record("the record is gone")
            return
        }
        #expect(record.id == bob.id)
        await #expect(throws: SessionError.sessionChanged) { try await refresh.value }
        try await app.tokens.refresh()
        #expect(app.backend.reuseDetected == 0 && app.tokens.state == .signedIn(bob))
    }

    @Test("a task that listens can be cancelled while its child waits for a token, and the session tells something")
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
                async let token: Void = app.tokens.refresh()
                for await _ in states {}
                do {
                    try await token
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

    @Test("C17: whoever waited for one user's token does not get the next one's, when others had renewed the first")
    func askingAgain() async throws {
        let store = SharedShelf()
        let time = WatchedTime()
        let backend = SimulatedBackend()
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: store, refresher: .json(path: "/auth/refresh"),
            transport: backend.transport, time: time, random: .upperBound)
        try await tokens.signIn(with: backend.issue())
        backend.invalidateAccessTokens()
        let refresh = Task { try await tokens.refresh() }
        await store.gate.waitForArrivals()
        await store.renew(backend.issue())
        // Whoever has been told of the renewal looks at the clock before it asks again, and that is when Bob signs in.
        time.onLook {
            guard tokens.core.withLock({ $0.machine.currentRecord?.rotation == 1 }) else { return false }
            tokens.signInAtOnce(.fresh(7))
            return true
        }
        store.gate.open()
        await #expect(throws: SessionError.sessionChanged) { try await refresh.value }
        #expect(backend.refreshCalls == 0)
    }

    @Test("C17: a call that gives its place away until there is a new token does not go on as the next user's")
    func givingAPlaceAway() async throws {
        let backend = SimulatedBackend()
        let gate = Gate()
        let transport = WatchedTransport(backend.transport)
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"),
            transport: transport, time: ManualTimeSource(), random: .upperBound)
        let client = NetworkClient(tokens: tokens)
        let hold = Gate()
        backend.beforeRefresh { _ in
            await hold.pass()
            return nil
        }
        backend.beforeCall { request in
            guard request.path == "/slow" else { return nil }
            await gate.pass()
            // The first place to be given back from here on is this call's, the second that of the call behind it.
            transport.onLook(2) {
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
        // Once to take a place and once to stand in line for it.
        await transport.waitForLooks(3)
        gate.open()
        guard case .sessionChanged = await queued.value else {
            Issue.record("the call went on as somebody else's")
            return
        }
        #expect(backend.calls(to: "/me") == 0)
        _ = await slow
    }

    @Test("one look at a time waits for a record that cannot be read, however often that is changed") func oneLook()
        async throws
    {
        let store = SharedShelf()
        let app = try await App.signedIn(store: store)
        store.isLocked.withLock { $0 = true }
        for _ in 1...20 {
            let reads = store.reads.withLock { $0 }
            store.somebodyChangedIt()
            while store.reads.withLock({ $0 }) == reads { await Task.yield() }
            await app.tokens.storeLane.flush()
            await app.time.waitForSleepers()
        }
        // Each of them would go on for as long as it cannot be read.
        for _ in 0..<1_000 { await Task.yield() }
        #expect(app.time.sleeperCount == 1)

        store.isLocked.withLock { $0 = false }
        await store.renew(app.backend.issue())
        let events = app.tokens.events
        app.time.advance(by: .seconds(3600))
        #expect(await events.first { if case .adopted = $0 { true } else { false } } != nil)
    }

    @Test("C25: an end that the server declares spares a newer record of the session that can only be read later")
    func newerRecordAtTheEnd() async throws {
        let store = SharedShelf()
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
                if case .storeFailed(.delete, _) = event { break }
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
        // It was another process that renewed the tokens, and they are good for this one too.
        #expect(app.tokens.state.isSignedIn)
        #expect(await app.call().isSuccess)
    }
}

extension TokenManager {
    /// A sign-in up to the point where it waits for the store.
    fileprivate func signInAtOnce(_ bundle: TokenBundle) {
        transition { machine in
            machine.signedIn(StoredSession(id: SessionID(), bundle: bundle), life: nil, by: machine.makeID())
        }
    }
}

/// A clock that tells when somebody looks at it.
private final class WatchedTime: TimeSource {
    private let inner = ManualTimeSource()
    private let action = Locked<(@Sendable () -> Bool)?>(nil)

    /// - Parameter action: Called at each look until it returns `true`.
    func onLook(_ action: @escaping @Sendable () -> Bool) {
        self.action.withLock { $0 = action }
    }

    var uptime: Duration {
        // Taken out while it runs: it looks at the clock itself.
        let action = action.withLock { action in
            defer { action = nil }
            return action
        }
        if let action, !action() { onLook(action) }
        return inner.uptime
    }
    var wallClock: Date { inner.wallClock }
    func sleep(until deadline: Duration) async throws { try await inner.sleep(until: deadline) }
}

/// A store that other processes share: its lock is held by a test, its disk may be full, it may be locked.
private final class SharedShelf: TokenStore {
    let gate = Gate()
    let isFull = Locked(false)
    let isLocked = Locked(false)
    let reads = Locked(0)
    let memory = InMemoryTokenStore()
    private let news = AsyncStream<Void>.makeStream()

    private struct Held: HeldStoreLock {
        var isHeld: Bool { true }
        func release() {}
    }
    private struct GatedLock: StoreLock {
        let gate: Gate
        func acquire(lease: Duration) async throws -> any HeldStoreLock {
            await gate.pass()
            return Held()
        }
    }

    var lock: (any StoreLock)? { GatedLock(gate: gate) }

    func changes() -> AsyncStream<Void>? { news.stream }
    func somebodyChangedIt() { news.continuation.yield() }

    func read() async -> StoreReading {
        reads.withLock { $0 += 1 }
        if isLocked.withLock({ $0 }) { return .unavailable(StorageFailure(.locked, "locked")) }
        return await memory.read()
    }
    func delete() async { await memory.delete() }
    func write(_ session: StoredSession) async throws {
        if isFull.withLock({ $0 }) { throw StorageFailure(.unreachable, "the disk is full") }
        await memory.write(session)
    }

    /// What another process does.
    func renew(_ bundle: TokenBundle) async {
        guard case .found(var record) = await memory.read() else { return }
        record.bundle = bundle
        record.rotation += 1
        record.journal = nil
        await memory.write(record)
    }
}

/// A transport with one connection, which tells when somebody asks how many there are.
private final class WatchedTransport: Transport {
    private struct State {
        var looks = 0
        var countdown: (left: Int, action: @Sendable () -> Void)?
    }

    private let inner: StubTransport
    private let state = Locked(State())

    init(_ inner: StubTransport) {
        self.inner = inner
    }

    func onLook(_ number: Int, _ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.countdown = (number, action) }
    }

    func waitForLooks(_ count: Int) async {
        while state.withLock({ $0.looks }) < count { await Task.yield() }
    }

    func parallelRequests(to origin: Origin) -> Int? {
        let due = state.withLock { state -> (@Sendable () -> Void)? in
            state.looks += 1
            guard let (left, action) = state.countdown else { return nil }
            state.countdown = left > 1 ? (left - 1, action) : nil
            return left > 1 ? nil : action
        }
        due?()
        return 1
    }

    func makeLane() -> any Transport { inner }

    func send(_ request: HTTPRequest, body: OutgoingBody?) async throws -> TransportResponse {
        try await inner.send(request, body: body)
    }
}
