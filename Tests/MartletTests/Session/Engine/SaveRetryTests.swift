import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("Retries of failed writes") struct SaveRetryTests {
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

    @Test("failed writes share one retry timer, even if many refreshes cannot be stored") func oneTimer() {
        var machine = SessionStateMachine(policy: SessionPolicy())
        machine.signedIn(StoredSession(id: SessionID(), bundle: .fresh()), deadlines: nil, by: 1)
        let failure = StorageError(.unreachable, "full")
        var timers = 0
        func take() -> (save: SessionStateMachine.SaveJob?, refresh: SessionStateMachine.RefreshJob?) {
            var found: (save: SessionStateMachine.SaveJob?, refresh: SessionStateMachine.RefreshJob?)
            for action in machine.takeActions() {
                if case .save(let job) = action { found.save = job }
                if case .refresh(let job) = action { found.refresh = job }
                if case .retrySave = action { timers += 1 }
            }
            return found
        }
        let nothing = SessionStateMachine.StoreSnapshot(reading: .empty)
        let journal = RefreshJournal(startedAt: Date(timeIntervalSince1970: 0), fingerprint: "")
        if let save = take().save { machine.saveFinished(save, over: nothing, failure: failure) }
        for number in 0..<20 {
            _ = machine.refreshForced(by: 100 + number, at: .seconds(100 * number))
            if let job = take().refresh {
                let now = Duration.seconds(100 * number)
                let isToBeSent = machine.refreshPrepared(
                    job, over: nothing, journal: journal, failure: failure, at: now, jitter: 0)
                #expect(isToBeSent)
                _ = machine.refreshFinished(
                    job, .success(.fresh(number), nil, estimatedExpiry: nil), at: now, jitter: 0)
            }
            if let save = take().save { machine.saveFinished(save, over: nothing, failure: failure) }
            _ = take()
        }
        #expect(timers == 1)
    }
}
