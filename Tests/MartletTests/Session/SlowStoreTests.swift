import MartletTesting
import Testing

@testable import Martlet

/// Reading waits for a person, who confirms who they are when the gate is opened.
private struct AskingStore: TokenStore {
    let record: StoredSession
    let person: Gate

    func read() async -> StoreReading {
        await person.pass()
        return .found(record)
    }

    func write(_ session: StoredSession) async {}
    func delete() async {}
}

/// Fails to write at first, and says after the next write only late that it is done.
private final class LateStore: TokenStore {
    let record = Locked<StoredSession?>(nil)
    let answer = Gate()
    let writes = Locked(0)
    /// Opened once something was left as it is.
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
        if number == 1 { throw StorageFailure(.unreachable, "full") }
        await write(session)
        if number == 2 { await answer.pass() }
        return reading
    }
}

/// Does nothing before its gate is opened.
private final class StuckStore: TokenStore {
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

@Suite("A store that takes longer than callers wait for", .timeLimit(.minutes(1))) struct SlowStoreTests {
    @Test("is unavailable for them, and its session is there once it has answered") func late() async throws {
        let person = Gate()
        let time = ManualTimeSource()
        let record = StoredSession(id: SessionID(), bundle: .fresh(1))
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: AskingStore(record: record, person: person),
            refresher: .json(path: "/auth/refresh"), transport: StubTransport { _ in .status(404) }, time: time)
        let states = tokens.states
        let caller = Task { try await tokens.validToken() }
        await person.waitForArrivals()
        await time.waitForSleepers()
        time.advance(by: SessionPolicy().storeTimeout)
        let error = await #expect(throws: SessionError.self) { try await caller.value }
        guard case .unavailable? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        person.open()
        for await state in states where state.isSignedIn { break }
        #expect(try await tokens.validToken() == record.bundle.accessToken)
    }

    @Test("and gets stuck lets nobody wait for it for ever, and has what was stored once it goes on") func stuck()
        async throws
    {
        let store = StuckStore()
        let time = ManualTimeSource()
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: store, refresher: .json(path: "/auth/refresh"),
            transport: StubTransport { _ in .status(404) }, time: time)
        // The second one's turn does not come, as the first one's does not end.
        for _ in 1...2 {
            let caller = Task { try await tokens.validToken() }
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
        // Its turn has come.
        _ = await events.first { if case .storeRecovered = $0 { true } else { false } }
        guard case .found(let record) = await store.read() else {
            Issue.record("nothing was stored")
            return
        }
        #expect(record.id == session.id)
    }

    @Test("has the session that it was slow to write: a second try does not write over the next one") func lateNote()
        async throws
    {
        let store = LateStore()
        let time = ManualTimeSource()
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: store,
            refresher: .custom { _, _ in throw RefreshFailure(.offline, description: "") },
            transport: StubTransport { _ in .status(404) }, time: time)
        try await tokens.signIn(with: .fresh(1))
        let caller = Task { try await tokens.refresh() }
        await store.answer.waitForArrivals()
        await time.waitForSleepers()
        time.advance(by: SessionPolicy().storeTimeout)
        await #expect(throws: SessionError.self) { try await caller.value }
        // Another process has seen the session by now, and somebody else has signed in there.
        let other = StoredSession(id: SessionID(), bundle: .fresh(2))
        await store.write(other)
        store.answer.open()
        await store.kept.pass()
        #expect(await store.read() == .found(other))
    }
}
