import Foundation
import Martlet
import MartletTesting
import Testing

@Suite("A failing store", .timeLimit(.minutes(10))) struct FailingTokenStoreTests {
    private let session = StoredSession(storing: .fresh(), at: Date(timeIntervalSince1970: 1_790_000_000))

    @Test("it fails the given number of operations and then works") func counted() async throws {
        let store = FailingTokenStore()
        let failure = StorageError(.corrupt, "torn")
        store.fail(.write, times: 2, with: failure)
        for _ in 0..<2 { await #expect(throws: failure) { try await store.write(session) } }
        try await store.write(session)
        #expect(await store.record == session)
        store.fail(.read, with: failure)
        #expect(await store.read() == .unavailable(failure))
        #expect(await store.read() == .found(session))
        store.fail(.delete, times: nil)
        for _ in 0..<3 { await #expect(throws: StorageError.self) { try await store.delete() } }
        store.recover()
        try await store.delete()
        #expect(await store.record == nil)
        #expect(store.operations.filter { $0 == .delete }.count == 4)
    }

    @Test("while it is locked, the session is unavailable and the user stays signed in") func locked() async throws {
        let store = FailingTokenStore(.inMemory(.fresh()))
        store.isLocked = true
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: store, refresher: .json(path: "/auth/refresh"),
            transport: StubTransport())
        guard case .unavailable(let why) = await tokens.restore() else {
            Issue.record("\(tokens.state)")
            return
        }
        #expect(why.kind == .locked)
        store.isLocked = false
        #expect(await tokens.restore().isSignedIn)
    }

    @Test("operations can wait at a gate or for a clock") func slow() async throws {
        let store = FailingTokenStore()
        let gate = Gate()
        store.hold(.write, at: gate)
        let writing = Task { [session] in try await store.write(session) }
        await gate.waitForArrivals()
        #expect(await store.record == nil)
        gate.open()
        try await writing.value
        #expect(await store.record == session)

        let time = ManualTimeSource()
        store.delay(.read, by: .seconds(5), on: time)
        let reading = Task { await store.read() }
        await time.waitForSleepers()
        time.advance(by: .seconds(5))
        #expect(await reading.value == .found(session))
    }

    @Test("updates over a shared store are atomic") func shared() async throws {
        let disk = SimulatedDisk(time: ManualTimeSource())
        let store = FailingTokenStore(disk.open("app"))
        #expect(store.refreshLock != nil && store.changes() != nil)
        try await store.update { [session] _ in .write(session) }
        #expect(disk.record == session)
        store.fail(.delete)
        await #expect(throws: StorageError.self) { try await store.update { _ in .delete } }
        #expect(disk.record == session)
        store.fail(.read)
        let shown = try await store.update { reading in
            if case .unavailable = reading { .keep } else { .delete }
        }
        guard case .unavailable = shown else {
            Issue.record("the update was shown \(shown) instead of the failed reading")
            return
        }
        #expect(disk.record == session)
        #expect(store.operations == [.read, .write, .read, .delete, .read])
    }
}
