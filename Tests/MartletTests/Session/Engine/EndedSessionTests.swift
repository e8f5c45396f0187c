import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("A session that a user has ended", .timeLimit(.minutes(10))) struct EndedSessionTests {
    private let failure = StorageError(.unreachable, "full")
    private let clock = SessionStateMachine.wallClock

    private func signedIn(sharesStore: Bool = true) -> SessionStateMachine {
        .restored(StoredSession(id: SessionID(), generation: 5, tokens: .fresh(1)), sharesStore: sharesStore)
    }

    private func signIn(_ number: Int, to machine: inout SessionStateMachine) -> StoredSession {
        let record = StoredSession(
            id: SessionID(), generation: machine.makeGeneration(at: clock), tokens: .fresh(number))
        machine.signedIn(record, deadlines: nil, by: number)
        return record
    }

    /// The write of a sign-in that is stored above a session that its process did not know.
    private func write(
        above found: StoredSession, by machine: SessionStateMachine
    ) throws -> (decision: SessionStateMachine.StoreDecision, record: StoredSession) {
        let decision = machine.decide(.write, over: .found(found), hasLostLock: false, at: clock)
        guard case .write(let record) = decision.update else { throw failure }
        #expect(record.position > found.position)
        return (decision, record)
    }

    @Test("does not come back if the store has reported its write as failed", arguments: [false, true])
    func failedWrite(isLate: Bool) throws {
        var machine = signedIn()
        let tomorrow = StoredSession.generation(at: clock.addingTimeInterval(86_400))
        let other = StoredSession(id: SessionID(), generation: tomorrow, tokens: .fresh(3))
        _ = signIn(2, to: &machine)
        let (decision, stored) = try write(above: other, by: machine)
        machine.signedOut(at: clock)
        machine.storeAnswered(
            .write,
            .init(
                decision: decision, snapshot: .init(reading: isLate ? .unavailable(failure) : .found(other)),
                failure: failure), at: .test())
        if isLate { machine.storeAnsweredLate(.write, decision, .init(reading: .unavailable(failure))) }
        #expect(machine.answer(.end, .found(stored)).ends)
        #expect(machine.visibleState(at: .zero) == .signedOut)
    }

    @Test(
        "does not come back because the sign-in that has replaced it could not be written",
        arguments: [false, true], [false, true])
    func replaced(hasFailed: Bool, isLate: Bool) throws {
        var machine = signedIn()
        let other = StoredSession(
            id: SessionID(), generation: machine.makeGeneration(at: clock) + 3, tokens: .fresh(3))
        _ = signIn(2, to: &machine)
        let (decision, stored) = try write(above: other, by: machine)
        if isLate {
            machine.storeAnswered(
                .write,
                .init(decision: decision, snapshot: .init(reading: .unavailable(failure)), failure: failure),
                at: .test())
        }
        let carol = signIn(4, to: &machine)
        if isLate {
            machine.storeAnsweredLate(
                .write, decision, .init(reading: hasFailed ? .unavailable(failure) : .found(stored)))
        } else {
            machine.storeAnswered(
                .write,
                .init(
                    decision: decision, snapshot: .init(reading: .found(other)), failure: hasFailed ? failure : nil),
                at: .test())
        }
        machine.answer(.write, .unavailable(failure), failure: failure)
        if machine.needs(.end) { machine.answer(.end, .unavailable(failure), failure: failure) }
        _ = machine.takeActions()
        machine.storeRetryDue()
        let retry = machine.answer(.write, .found(stored))
        guard case .write(let record) = retry else { throw failure }
        #expect(record.id == carol.id && record.position > stored.position)
        #expect(machine.currentRecord?.id == carol.id)
    }

    @Test("does not come back when another process stores it at a higher position") func raised() throws {
        var machine = signedIn()
        var ada = try #require(machine.currentRecord)
        machine.signedOut(at: clock)
        #expect(machine.answer(.end, .found(ada)).ends)
        ada.generation += 1_000_000_000_000_000
        machine.answer(.read, .found(ada))
        #expect(machine.visibleState(at: .zero) == .signedOut)
        #expect(machine.answer(.end, .found(ada)).ends)
    }

    @Test(
        "does not come back when another process stores it over the session that has replaced it",
        arguments: [false, true])
    func stored(hasExpired: Bool) throws {
        var machine = signedIn()
        let ada = try #require(machine.currentRecord)
        if hasExpired {
            #expect(machine.refreshForced(by: 7, at: .zero) == .wait)
            let started = machine.takeRefresh()
            let job = try #require(started)
            #expect(machine.answer(preparing: job, .found(ada)) == .send)
            _ = machine.refreshFinished(job, .terminal(.refreshTokenRejected(code: nil)), at: .zero, jitter: 0)
            machine.answer(.confirmExpiry, .found(ada), failure: failure)
        }
        let bob = signIn(2, to: &machine)
        machine.answer(.write, .found(ada))
        machine.answer(.read, .found(ada))
        #expect(machine.currentRecord?.id == bob.id)
        machine.storeRetryDue()
        guard case .write(let record) = machine.answer(.write, .found(ada)) else {
            Issue.record("the session was not written again")
            return
        }
        #expect(record.id == bob.id)
        guard case .signedIn(let session) = machine.visibleState(at: .zero) else { throw failure }
        #expect(session.id == bob.id && session.isSaved)
    }

    @Test("does not come back if its process had not read it, and could not write when it did")
    func unreadAndUnwritten() {
        var machine = SessionStateMachine(policy: SessionPolicy(), sharesStore: true)
        _ = machine.loadRequested(by: 0)
        machine.signedOut(at: clock)
        let tomorrow = StoredSession.generation(at: clock.addingTimeInterval(86_400))
        let ada = StoredSession(id: SessionID(), generation: tomorrow, tokens: .fresh(1))
        #expect(machine.answer(.end, .found(ada), failure: failure).ends)
        let later = StoredSession(id: SessionID(), generation: tomorrow + 1, tokens: .fresh(2))
        #expect(!machine.answer(.end, .found(later)).ends, "another process has signed a user in since")
        #expect(machine.visibleState(at: .zero)?.isSignedIn == true)
        machine = SessionStateMachine(policy: SessionPolicy(), sharesStore: true)
        _ = machine.loadRequested(by: 0)
        machine.signedOut(at: clock)
        #expect(machine.answer(.end, .found(ada), failure: failure).ends)
        machine.answer(.read, .found(ada))
        #expect(machine.answer(.end, .found(ada)).ends)
        #expect(machine.visibleState(at: .zero) == .signedOut)
    }

    @Test(
        "does not come back in a store of one process, whatever its position", arguments: [-1, 0, 1] as [TimeInterval])
    func unshared(days: TimeInterval) {
        var machine = SessionStateMachine(policy: SessionPolicy(), sharesStore: false)
        _ = machine.loadRequested(by: 0)
        machine.signedOut(at: clock)
        machine.answer(.end, .unavailable(failure), failure: failure)
        let generation = StoredSession.generation(at: clock.addingTimeInterval(86_400 * days + 1))
        let ada = StoredSession(id: SessionID(), generation: generation, tokens: .fresh(1))
        #expect(machine.answer(.end, .found(ada)).ends)
        #expect(machine.visibleState(at: .zero) == .signedOut)
    }

    @Test("gives way to the sign-in of a process that could not read the store, whatever its position")
    func signInBelow() {
        var machine = SessionStateMachine(policy: SessionPolicy(), sharesStore: true)
        _ = machine.loadRequested(by: 0)
        let mark = EndMark(.end(ofGeneration: StoredSession.generation(at: clock.addingTimeInterval(86_400))))
        machine.answer(.read, .ended(mark))
        let ada = signIn(1, to: &machine)
        machine.answer(.write, .ended(mark))
        #expect(ada.position > mark.position)
        let bob = StoredSession(id: SessionID(), generation: 7, tokens: .fresh(2))
        machine.answer(.read, .found(bob))
        #expect(machine.currentRecord?.id == bob.id)
        machine.answer(.read, .found(bob))
        #expect(machine.currentRecord?.id == bob.id)
    }

    @Test("gives way to such a sign-in even while the ending of earlier sessions is pending")
    func signInBelowAPendingEnding() {
        var machine = signedIn()
        let ada = signIn(2, to: &machine)
        machine.answer(.write, .unavailable(failure), failure: failure)
        machine.answer(.end, .unavailable(failure), failure: failure)
        machine.answer(.clearJournal(ada), .found(ada))
        let bob = StoredSession(id: SessionID(), generation: 4, tokens: .fresh(3))
        machine.answer(.write, .found(bob))
        #expect(machine.currentRecord?.id == bob.id)
        #expect(!machine.needs(.end))
    }

    @Test("stays ended: a sign-in that learns of its mark before a blind write is stored above the mark")
    func learnsTheMark() {
        var machine = SessionStateMachine(policy: SessionPolicy(), sharesStore: true)
        _ = machine.loadRequested(by: 0)
        let mark = EndMark(.end(ofGeneration: StoredSession.generation(at: clock.addingTimeInterval(86_400))))
        let reading = machine.undecided(.read)
        let ada = signIn(1, to: &machine)
        #expect(ada.position < mark.position)
        machine.storeAnswered(.read, .init(decision: reading, snapshot: .init(reading: .ended(mark))), at: .test())
        guard case .write(let record) = machine.answer(.write, .unavailable(failure)) else {
            Issue.record("the sign-in was not written")
            return
        }
        #expect(record.position > mark.position)
    }

    @Test("after an overtaken write, a sign-in's own write does not replace another process's later sign-in")
    func overtakenWrite() {
        var machine = signedIn()
        let bob = signIn(2, to: &machine)
        let overtaken = machine.decide(.write, over: .empty, hasLostLock: false, at: clock)
        machine.storeAnsweredLate(.write, overtaken, .init(reading: .unavailable(failure)))
        let carol = StoredSession(
            id: SessionID(), generation: machine.makeGeneration(at: clock), tokens: .fresh(3))
        #expect(machine.answer(.write, .found(carol)) == .keep)
        #expect(carol.position > bob.position)
        #expect(machine.currentRecord?.id == carol.id)
    }

    @Test("does not end the sign-in that has replaced it", arguments: [false, true])
    func endedBySignIn(hasFailed: Bool) throws {
        var machine = signedIn()
        let tomorrow = StoredSession.generation(at: clock.addingTimeInterval(86_400))
        let other = StoredSession(id: SessionID(), generation: tomorrow, tokens: .fresh(3))
        _ = signIn(2, to: &machine)
        let (decision, bob) = try write(above: other, by: machine)
        machine.storeAnswered(
            .write, .init(decision: decision, snapshot: .init(reading: .unavailable(failure)), failure: failure),
            at: .test())
        let carol = signIn(4, to: &machine)
        machine.answer(.write, .unavailable(failure), failure: failure)
        guard case .end(let mark) = machine.answer(.end, .found(bob), failure: hasFailed ? failure : nil) else {
            throw failure
        }
        #expect(mark.covers(bob))
        guard case .write(let record) = machine.answer(.write, .ended(mark)) else {
            Issue.record("the sign-in was not written")
            return
        }
        #expect(record.id == carol.id && record.position > mark.position)
        #expect(machine.currentRecord?.id == carol.id)
    }

    @Test("does not end a sign-in whose record was read before its own write failed")
    func readBeforeItsWrite() {
        var machine = signedIn()
        let bob = signIn(2, to: &machine)
        let overtaken = machine.decide(.write, over: .empty, hasLostLock: false, at: clock)
        machine.storeAnsweredLate(.write, overtaken, .init(reading: .unavailable(failure)))
        machine.answer(.read, .found(bob))
        machine.answer(.write, .unavailable(failure), failure: failure)
        #expect(!machine.needs(.end))
        #expect(machine.currentRecord?.id == bob.id)
    }

    @Test("has its tokens revoked once", arguments: [false, true]) func revokedOnce(sharesStore: Bool) throws {
        var machine = signedIn(sharesStore: sharesStore)
        let ada = try #require(machine.currentRecord)
        var revoked: [Tokens] = []
        func collect() {
            for case .revoke(let tokens, _) in machine.takeActions() { revoked.append(tokens) }
        }
        for number in 2...3 {
            _ = signIn(number, to: &machine)
            collect()
            machine.answer(.write, .unavailable(failure), failure: failure)
            if machine.needs(.end) { machine.answer(.end, .unavailable(failure), failure: failure) }
            collect()
        }
        machine.signedOut(at: clock)
        machine.answer(.end, .found(ada))
        collect()
        #expect(revoked.count == 3 && Set(revoked).count == 3)
    }

    @Test("has its newest tokens revoked, even if its first ending has failed", arguments: [1, 2])
    func newestTokens(rotation: Int) throws {
        let ada = StoredSession(id: SessionID(), generation: 5, rotation: 1, tokens: .fresh(1))
        var machine = SessionStateMachine.restored(ada, sharesStore: true)
        machine.signedOut(at: clock)
        machine.answer(.end, .unavailable(failure), failure: failure)
        machine.answer(.end, .found(ada.renewed(rotation: rotation, .fresh(2))))
        let revoked = machine.takeActions().compactMap { if case .revoke(let tokens, _) = $0 { tokens } else { nil } }
        #expect(revoked == [.fresh(1), .fresh(2)])
    }

    @Test(
        "is not deleted unread by a sign-out, which is repeated, unless the store can never be read",
        arguments: [StorageError.Kind.unreachable, .locked, .corrupt])
    func unreadAtSignOut(kind: StorageError.Kind) {
        let ada = StoredSession(id: SessionID(), generation: 1, tokens: .fresh(1))
        var machine = SessionStateMachine.restored(ada, sharesStore: true)
        machine.signedOut(at: clock)
        let update = machine.answer(.end, .unavailable(StorageError(kind, "no answer")))
        #expect(update.ends == (kind == .corrupt))
        #expect(machine.needs(.end) == (kind != .corrupt))
        guard kind != .corrupt else { return }
        // Another process had signed in since.
        let bob = StoredSession(id: SessionID(), generation: 2, tokens: .fresh(2))
        #expect(machine.answer(.end, .found(bob)) == .keep)
        #expect(machine.currentRecord?.id == bob.id)
    }

    @Test("gives way to a later sign-in of another process, even if the sign-out could never read its record")
    func damagedRecord() {
        var machine = SessionStateMachine(policy: SessionPolicy(), sharesStore: true)
        _ = machine.loadRequested(by: 0)
        machine.answer(.read, .unavailable(failure))
        machine.signedOut(at: clock)
        machine.answer(.end, .unavailable(failure), failure: failure)
        machine.answer(.end, .unavailable(StorageError(.corrupt, "damaged")))
        #expect(!machine.needs(.end))
        _ = machine.takeActions()
        // The store is read again, although no change is reported.
        machine.storeRetryDue()
        #expect(machine.takeActions().contains(.store(.read)))
        let later = StoredSession(
            id: SessionID(), generation: StoredSession.generation(at: clock) + 1, tokens: .fresh(2))
        machine.answer(.read, .found(later))
        #expect(machine.currentRecord?.id == later.id)
    }

    @Test("does not come back if a sign-out could neither read nor write the store at first") func failedMark() {
        var machine = SessionStateMachine.restored(
            StoredSession(id: SessionID(), generation: 1, tokens: .fresh(1)), sharesStore: true)
        let bob = signIn(2, to: &machine)
        machine.answer(.write, .unavailable(failure), failure: failure)
        machine.signedOut(at: clock.addingTimeInterval(3600))
        machine.answer(.end, .unavailable(failure), failure: failure)
        // Another process has signed in before the sign-out, by the clock, and with a faster one than this process.
        let ada = StoredSession(id: SessionID(), generation: bob.generation + 5, tokens: .fresh(3))
        #expect(machine.answer(.end, .found(ada)).ends)
        #expect(machine.currentRecord == nil)
    }

    // A process that has signed it out may know only its earlier tokens, which another process has refreshed since.
    @Test("has its tokens revoked by the sign-in that ends it without having been stored", arguments: [false, true])
    func endedUnstored(isLate: Bool) {
        var machine = SessionStateMachine(policy: SessionPolicy(), sharesStore: true)
        _ = machine.loadRequested(by: 0)
        machine.answer(.read, .empty)
        let bob = signIn(2, to: &machine)
        let ada = StoredSession(id: SessionID(), generation: bob.generation - 1, rotation: 1, tokens: .fresh(1))
        machine.answer(.read, .found(ada))
        machine.answer(.write, .unavailable(failure), failure: failure)
        _ = machine.takeActions()
        if isLate {
            let decision = machine.decide(.end, over: .found(ada), hasLostLock: false, at: clock)
            machine.answer(.end, .unavailable(failure), failure: failure)
            machine.storeAnsweredLate(.end, decision, .init(reading: .ended(EndMark(ada.position))))
        } else {
            #expect(machine.answer(.end, .found(ada)).ends)
        }
        let revoked = machine.takeActions().compactMap { if case .revoke(let tokens, _) = $0 { tokens } else { nil } }
        #expect(revoked == [.fresh(1)])
        #expect(machine.currentRecord?.id == bob.id)
    }

    @Test(
        "has its tokens revoked if its removal is reported as failed, even after the time limit",
        arguments: [false, true])
    func failedRemoval(isLate: Bool) {
        var machine = SessionStateMachine(policy: SessionPolicy(), sharesStore: true)
        _ = machine.loadRequested(by: 0)
        machine.answer(.read, .empty)
        let bob = signIn(2, to: &machine)
        let ada = StoredSession(id: SessionID(), generation: bob.generation - 1, rotation: 1, tokens: .fresh(1))
        machine.answer(.read, .found(ada))
        machine.answer(.write, .unavailable(failure), failure: failure)
        _ = machine.takeActions()
        let decision = machine.decide(.end, over: .found(ada), hasLostLock: false, at: clock)
        #expect(decision.update.ends)
        if isLate {
            machine.answer(.end, .unavailable(failure), failure: failure)
            machine.storeAnsweredLate(.end, decision, .init(reading: .unavailable(failure)))
        } else {
            machine.storeAnswered(
                .end, .init(decision: decision, snapshot: .init(reading: .found(ada)), failure: failure), at: .test())
        }
        machine.answer(.end, .ended(EndMark(ada.position)))
        let revoked = machine.takeActions().compactMap { if case .revoke(let tokens, _) = $0 { tokens } else { nil } }
        #expect(revoked == [.fresh(1)])
    }

    @Test(
        "has its newest tokens revoked if several attempts to remove it are reported as failed",
        arguments: [false, true])
    func newestOfFailedRemovals(succeeds: Bool) {
        var machine = SessionStateMachine(policy: SessionPolicy(), sharesStore: true)
        _ = machine.loadRequested(by: 0)
        machine.answer(.read, .empty)
        let bob = signIn(2, to: &machine)
        let ada = StoredSession(id: SessionID(), generation: bob.generation - 1, tokens: .fresh(1))
        machine.answer(.write, .found(ada), failure: failure)
        _ = machine.takeActions()
        // Another process has refreshed the tokens since.
        let newest = ada.renewed(rotation: 1, .fresh(3))
        let decision = machine.decide(.end, over: .found(newest), hasLostLock: false, at: clock)
        #expect(decision.update.ends)
        machine.answer(.end, .unavailable(failure), failure: failure)
        let mark = StoreReading.ended(EndMark(newest.position))
        machine.storeAnsweredLate(.end, decision, .init(reading: succeeds ? mark : .unavailable(failure)))
        if !succeeds { machine.answer(.end, mark) }
        let revoked = machine.takeActions().compactMap { if case .revoke(let tokens, _) = $0 { tokens } else { nil } }
        // First those that this process knew.
        #expect(revoked == [.fresh(1), .fresh(3)])
    }

    @Test("has its tokens revoked if the preparation of a refresh stores the sign-in that has replaced it")
    func replacedByPreparation() {
        var machine = SessionStateMachine(policy: SessionPolicy(), sharesStore: true)
        _ = machine.loadRequested(by: 0)
        machine.answer(.read, .empty)
        let bob = signIn(2, to: &machine)
        let ada = StoredSession(id: SessionID(), generation: bob.generation - 1, rotation: 1, tokens: .fresh(1))
        machine.answer(.read, .found(ada))
        machine.answer(.write, .unavailable(failure), failure: failure)
        _ = machine.takeActions()
        _ = machine.refreshForced(by: 9, at: .zero)
        guard let job = machine.takeRefresh() else {
            Issue.record("no refresh has started")
            return
        }
        #expect(machine.answer(preparing: job, .found(ada)) == .send)
        let revoked = machine.takeActions().compactMap { if case .revoke(let tokens, _) = $0 { tokens } else { nil } }
        #expect(revoked == [.fresh(1)])
        #expect(machine.currentRecord?.id == bob.id)
    }

    @Test("does not end a later sign-in that was stored while its own write was repeated") func laterSignIn() {
        var machine = signedIn()
        let bob = signIn(2, to: &machine)
        let overtaken = machine.decide(.write, over: .empty, hasLostLock: false, at: clock)
        machine.storeAnsweredLate(.write, overtaken, .init(reading: .unavailable(failure)))
        let carol = StoredSession(
            id: SessionID(), generation: machine.makeGeneration(at: clock) + 5, tokens: .fresh(3))
        machine.answer(.write, .found(carol), failure: failure)
        #expect(!machine.answer(.end, .found(carol)).ends)
        #expect(machine.answer(.write, .found(carol)) == .keep)
        #expect(machine.currentRecord?.id == carol.id && bob.id != carol.id)
    }

    @Test(
        "does not come back if a store keeps the record of its sign-in but reports a failure",
        arguments: [0, 86_400])
    func slowStore(ahead: TimeInterval) async throws {
        let time = ManualTimeSource()
        let isSlow = Locked(false)
        let disk = SimulatedDisk(time: time) { process, operation in
            guard process == "one", isSlow.withLock({ $0 }) else { return .init() }
            let failure = StorageError(.unreachable, "could not flush")
            switch operation {
            case .read: return .init(fault: .unreachable(failure))
            case .update: return .init(after: .seconds(1), fault: .failedAfterCommit(failure))
            case .lock: return .init()
            }
        }
        let one = App(store: disk.open("one"), time: time)
        let other = App(
            store: disk.open("other"), time: ManualTimeSource(wallClock: time.wallClock.addingTimeInterval(ahead)))
        #expect(await one.tokens.restore() == .signedOut)
        isSlow.withLock { $0 = true }
        try await other.tokens.signIn(with: other.backend.issue())
        let bob = Task {
            try await one.tokens.signIn(with: one.backend.issue(), account: SessionAccount(userID: "bob"))
        }
        while disk.record?.account.userID != "bob" { await Task.yield() }
        let signOut = Task { await one.tokens.signOut() }
        while one.tokens.epoch < 2 { await Task.yield() }
        isSlow.withLock { $0 = false }
        while disk.record?.account.userID == "bob" {
            time.advanceToNextSleeper()
            await Task.yield()
        }
        await #expect(throws: SessionError.self) { try await bob.value }
        await signOut.value
        await one.tokens.flushStore()
        #expect(one.tokens.state == .signedOut)
    }
}
