import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("Retries of failed writes", .timeLimit(.minutes(10))) struct SaveRetryTests {
    @Test("the first successful write after a failed one is reported as storeRecovered") func recovered() async throws {
        let store = FailingTokenStore()
        let app = try await App.signedIn(store: store)
        store.fail(.write, times: nil)
        try await app.tokens.refresh()
        var events = app.tokens.events.makeAsyncIterator()
        store.recover()
        try await app.tokens.refresh()
        while let event = await events.next() {
            if case .storeRecovered = event { break }
        }
    }

    @Test("a manager that the app has released stays until its pending write has succeeded")
    func released() async throws {
        let store = FailingTokenStore()
        store.fail(.write, times: nil)
        var app: App? = App(store: store)
        let time = try #require(app?.time)
        let session = try await app?.tokens.signIn(with: .fresh(1))
        #expect(session?.isSaved == false)
        weak let manager = app?.tokens
        app = nil
        await time.waitForSleepers(1)
        #expect(manager != nil)
        store.recover()
        time.advance(by: .seconds(60))
        while manager != nil { await Task.yield() }
        guard case .found(let record) = await store.read() else {
            Issue.record("the store has no record")
            return
        }
        #expect(record.id == session?.id)
    }

    @Test("after a success, the delays of the retries begin anew") func delays() {
        var machine = SessionStateMachine.restored(StoredSession(id: SessionID(), tokens: .fresh()), sharesStore: true)
        let failure = StorageError(.locked, "locked")
        for expected in [1, 2, 4] {
            machine.answer(.read, .unavailable(failure))
            #expect(machine.takeActions().last == .retryStore(after: .seconds(expected), hasWork: false))
            machine.storeRetryDue()
            _ = machine.takeActions()
        }
        machine.answer(.read, .found(machine.currentRecord ?? StoredSession(id: SessionID(), tokens: .fresh())))
        machine.answer(.read, .unavailable(failure))
        #expect(machine.takeActions().last == .retryStore(after: .seconds(1), hasWork: false))
    }

    @Test("failed writes share one retry timer, even if many refreshes cannot be stored") func oneTimer() {
        var machine = SessionStateMachine(policy: SessionPolicy())
        machine.signedIn(StoredSession(id: SessionID(), tokens: .fresh()), deadlines: nil, by: 1)
        let failure = StorageError(.unreachable, "full")
        var timers = 0
        func take() -> SessionStateMachine.RefreshJob? {
            var refresh: SessionStateMachine.RefreshJob?
            for action in machine.takeActions() {
                if case .refresh(let job) = action { refresh = job }
                if case .retryStore = action { timers += 1 }
            }
            return refresh
        }
        machine.answer(.write, .empty, failure: failure)
        for number in 0..<20 {
            let now = Duration.seconds(100 * number)
            _ = machine.refreshForced(by: 100 + number, at: now)
            if let job = take() {
                #expect(machine.answer(preparing: job, .empty, failure: failure, at: now) == .send)
                _ = machine.refreshFinished(
                    job, .success(.fresh(number), nil, estimatedExpiry: nil), at: now, jitter: 0)
            }
            machine.answer(.write, .empty, failure: failure)
            _ = take()
        }
        #expect(timers == 1)
    }
}
