import MartletTesting
import Testing

@testable import Martlet

/// A store whose reads wait for the user's confirmation at a gate.
private struct PromptingStore: TokenStore {
    /// No read is repeated by itself, so that the tests know every sleeping task.
    var readingPromptsUser: Bool { true }

    let record: StoredSession
    let user: Gate

    func read() async -> StoreReading {
        await user.pass()
        return .found(record)
    }

    func write(_ session: StoredSession) async {}
    func delete() async {}
}

/// A store of several processes whose reads prompt the user, who refuses.
private final class RefusedStore: TokenStore {
    let inner = SimulatedDisk(time: ManualTimeSource()).open("one")
    let reads = Locked(0)
    let changed = AsyncStream<Void>.makeStream()

    var readingPromptsUser: Bool { true }
    var refreshLock: (any StoreLock)? { inner.refreshLock }

    func read() async -> StoreReading {
        reads.withLock { $0 += 1 }
        return .unavailable(StorageError(.locked, "the user has cancelled"))
    }

    func update(_ decide: @escaping @Sendable (StoreReading) -> StoreUpdate) async throws -> StoreReading {
        defer { changed.continuation.yield() }
        return try await inner.update(decide)
    }

    func write(_ session: StoredSession) async throws { try await inner.write(session) }
    func delete() async throws { try await inner.delete() }
    func changes() -> AsyncStream<Void>? { changed.stream }
}

/// A store whose first write fails, and whose second write succeeds but reports so late.
private final class LateStore: TokenStore {
    let record = Locked<StoredSession?>(nil)
    let response = Gate()
    let writes = Locked(0)
    /// Opened when an update keeps a record.
    let kept = Gate()

    func read() async -> StoreReading { record.withLock { $0 }.map { .found($0) } ?? .empty }
    func write(_ session: StoredSession) async { record.withLock { $0 = session } }
    func delete() async { record.withLock { $0 = nil } }

    func update(_ decide: @escaping @Sendable (StoreReading) -> StoreUpdate) async throws -> StoreReading {
        let reading = await read()
        guard case .write(let session) = decide(reading) else {
            if reading != .empty { kept.open() }
            return reading
        }
        let number = writes.withLock { count in
            count += 1
            return count
        }
        if number == 1 { throw StorageError(.unreachable, "full") }
        await write(session)
        if number == 2 { await response.pass() }
        return reading
    }
}

/// A store that waits at a gate before each operation.
private final class StuckStore: TokenStore {
    /// No read is repeated by itself, so that the tests know every sleeping task.
    var readingPromptsUser: Bool { true }

    let gate = Gate()
    private let record = Locked<StoredSession?>(nil)

    func read() async -> StoreReading {
        await gate.pass()
        return record.withLock { $0 }.map { .found($0) } ?? .empty
    }

    func write(_ session: StoredSession) async {
        await gate.pass()
        record.withLock { $0 = session }
    }

    func delete() async {
        await gate.pass()
        record.withLock { $0 = nil }
    }
}

@Suite("A slow store", .timeLimit(.minutes(10))) struct SlowStoreTests {
    @Test("a store whose reads prompt the user is not read because it changes, or an endpoint rejects every token")
    func unasked()
        async throws
    {
        let store = RefusedStore()
        let app = App(store: store)
        app.backend.beforeCall { _ in .status(401) }
        try await app.tokens.signIn(with: app.backend.issue())
        let before = store.reads.withLock { $0 }
        for _ in 1...3 {
            #expect(await !app.call().isSuccess)
            for _ in 0..<600 {
                app.time.advance(by: .seconds(1))
                await Task.yield()
            }
        }
        #expect(store.reads.withLock { $0 } == before)
    }

    @Test("its callers time out, and its session is loaded when it responds") func lateRead() async throws {
        let user = Gate()
        let time = ManualTimeSource()
        let record = StoredSession(id: SessionID(), tokens: .fresh(1))
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: PromptingStore(record: record, user: user),
            refresher: .json(path: "/auth/refresh"), transport: StubTransport { _ in .status(404) }, time: time)
        let states = tokens.states
        let caller = Task { try await tokens.validTokens().accessToken }
        await user.waitForArrivals()
        await time.waitForSleepers()
        time.advance(by: SessionPolicy().storeTimeout)
        let error = await #expect(throws: SessionError.self) { try await caller.value }
        guard case .unavailable? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        user.open()
        for await state in states where state.isSignedIn { break }
        #expect(try await tokens.validTokens().accessToken == record.tokens.accessToken)
    }

    @Test("its answer counts if it arrives when the device wakes, although the time limit has passed")
    func answerAfterSleep() async throws {
        let user = Gate()
        let time = ManualTimeSource()
        let record = StoredSession(id: SessionID(), tokens: .fresh(1))
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: PromptingStore(record: record, user: user),
            refresher: .json(path: "/auth/refresh"), transport: StubTransport { _ in .status(404) }, time: time)
        let caller = Task { try await tokens.validTokens().accessToken }
        await user.waitForArrivals()
        await time.waitForSleepers()
        time.advance(by: SessionPolicy().storeTimeout + .seconds(60))
        await time.waitForSleepers()
        user.open()
        #expect(try await caller.value == record.tokens.accessToken)
    }

    @Test("a sign-in returns if its record is not written in time, and the record is written later") func lateWrite()
        async throws
    {
        let store = StuckStore()
        let time = ManualTimeSource()
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: store, refresher: .json(path: "/auth/refresh"),
            transport: StubTransport { _ in .status(404) }, time: time)
        // The read for the second caller waits in the store queue behind the first one.
        for _ in 1...2 {
            let caller = Task { try await tokens.validTokens().accessToken }
            await store.gate.waitForArrivals()
            await time.waitForSleepers()
            time.advance(by: SessionPolicy().storeTimeout)
            let error = await #expect(throws: SessionError.self) { try await caller.value }
            guard case .unavailable? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
        let signIn = Task { try await tokens.signIn(with: .fresh(1)) }
        await time.waitForSleepers()
        time.advance(by: SessionPolicy().storeTimeout)
        let session = try await signIn.value
        #expect(tokens.state == .signedIn(session))
        let events = tokens.events
        store.gate.open()
        // The record has been written.
        _ = await events.first { if case .storeRecovered = $0 { true } else { false } }
        guard case .found(let record) = await store.read() else {
            Issue.record("nothing was stored")
            return
        }
        #expect(record.id == session.id)
    }

    @Test("the time limit of an earlier sign-in does not apply to the next one") func ownLimit() async throws {
        let store = StuckStore()
        let time = ManualTimeSource()
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: store, refresher: .json(path: "/auth/refresh"),
            transport: StubTransport { _ in .status(404) }, time: time)
        let first = Task { try await tokens.signIn(with: .fresh(1)) }
        await store.gate.waitForArrivals()
        time.advance(by: .seconds(6))
        let second = Task {
            try await tokens.signIn(with: .fresh(2))
            return time.uptime
        }
        await #expect(throws: SessionError.self) { try await first.value }
        await time.waitForSleepers()
        time.advance(by: .seconds(4))
        // The limit of the first sign-in has expired.
        for _ in 0..<1000 { await Task.yield() }
        await time.waitForSleepers()
        time.advance(by: .seconds(6))
        #expect(try await second.value == .seconds(16))
        store.gate.open()
    }

    @Test("a session written late is not written again over a later sign-in of another process")
    func lateJournal() async throws {
        let store = LateStore()
        let time = ManualTimeSource()
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: store,
            refresher: .custom { _, _ in throw RefreshError(.offline, description: "") },
            transport: StubTransport { _ in .status(404) }, time: time)
        try await tokens.signIn(with: .fresh(1))
        let caller = Task { try await tokens.refresh() }
        await store.response.waitForArrivals()
        await time.waitForSleepers()
        time.advance(by: SessionPolicy().storeTimeout)
        await #expect(throws: SessionError.self) { try await caller.value }
        // Another process has read the session by now, and another user has signed in there.
        let other = StoredSession(id: SessionID(), tokens: .fresh(2))
        await store.write(other)
        store.response.open()
        await store.kept.pass()
        #expect(await store.read() == .found(other))
    }
}
