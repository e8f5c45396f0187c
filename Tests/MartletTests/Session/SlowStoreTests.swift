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
}
