import Foundation
import Testing

@testable import Martlet

/// Minimal cases of store failures found by the state search.
@Suite("A store that fails while sessions change", .timeLimit(.minutes(10))) struct StoreTroubleTests {
    private typealias Machine = SessionStateMachine
    private let ada = StoredSession(id: SessionID(rawValue: "ada"), generation: 1, tokens: .pair("ada"))
    private let bob = StoredSession(id: SessionID(rawValue: "bob"), generation: 2, tokens: .pair("bob"))
    private let failure = StorageError(.unreachable, "full")

    private func record(_ user: String, at generation: Int) -> StoredSession {
        StoredSession(id: SessionID(rawValue: user), generation: generation, tokens: .pair(user))
    }

    @Test(
        "after a sign-out that has read nothing, a guest replaces the user who has signed out, and no later one",
        arguments: [false, true])
    func guestAfterUnreadSignOut(isLater: Bool) {
        var machine = Machine(policy: SessionPolicy(), sharesStore: true)
        machine.signedOut(at: Machine.wallClock)
        machine.answer(.end, .unavailable(failure), failure: failure)
        let now = machine.makeGeneration(at: Machine.wallClock)
        let user = record("user", at: isLater ? now : now - 1)
        machine.signedIn(record("guest", at: now + 1), deadlines: nil, isUnattended: true, by: 1)
        let update = machine.answer(.write, .found(user))
        #expect(isLater == (update == .keep))
        #expect(machine.currentRecord?.id.rawValue == (isLater ? "user" : "guest"))
        #expect(machine.takeActions().contains(.revoke(user.tokens, expiresAt: nil)) == !isLater)
    }

    @Test("a guest follows a user of another process who has signed in and out unnoticed", arguments: [1, 1_000])
    func guestAfterEnd(lead: Int) {
        var machine = Machine(policy: SessionPolicy(), sharesStore: true)
        _ = machine.loadRequested(by: 0)
        machine.answer(.read, .empty)
        let guest = record("guest", at: 9)
        machine.signedIn(guest, deadlines: nil, isUnattended: true, by: 1)
        guard case .write(let written) = machine.answer(.write, .ended(EndMark(.end(ofGeneration: 8 * lead)))) else {
            Issue.record("the guest was not written")
            return
        }
        #expect(written.id == guest.id && written.generation > 8 * lead)
        #expect(machine.currentRecord?.id == guest.id)
    }

    @Test("a guest gives way to a session that another process has adopted from a library, which has no generation")
    func guestAfterAdoption() {
        var machine = Machine(policy: SessionPolicy(), sharesStore: true)
        _ = machine.loadRequested(by: 0)
        machine.answer(.read, .empty)
        let (guest, adopted) = (record("guest", at: 9), record("adopted", at: 0))
        machine.signedIn(guest, deadlines: nil, isUnattended: true, by: 1)
        #expect(machine.answer(.write, .found(adopted)) == .keep)
        #expect(machine.currentRecord == adopted)
        #expect(!machine.takeActions().contains(.revoke(adopted.tokens, expiresAt: nil)))
    }

    @Test("a guest that meets a record that cannot be read ends no session, because its process knows of none")
    func guestOverUnreadable() {
        for mustBeSaved in [false, true] {
            var policy = SessionPolicy()
            policy.requiresSavedTokens = mustBeSaved
            var machine = Machine(policy: policy, sharesStore: true)
            _ = machine.loadRequested(by: 0)
            machine.answer(.read, .empty)
            let adopted = record("adopted", at: 0)
            machine.signedIn(record("guest", at: 9), deadlines: nil, isUnattended: true, by: 1)
            #expect(machine.answer(.write, .unavailable(failure), failure: failure) == .keep)
            #expect(machine.takeActions().contains(.store(.end)) == mustBeSaved)
            // A mark of no session would be read as one of the first.
            #expect(machine.answer(.end, .unavailable(failure), failure: failure) == .keep)
            #expect(machine.answer(.end, .found(adopted)) == .keep)
            if mustBeSaved { continue }
            #expect(machine.answer(.write, .empty) != .keep)
            #expect(machine.currentRecord?.id.rawValue == "guest")
        }
    }

    @Test("a guest whose write had no effect, and was reported late, gives way to a session that was adopted since")
    func lateGuest() {
        var machine = Machine(policy: SessionPolicy(), sharesStore: true)
        _ = machine.loadRequested(by: 0)
        machine.answer(.read, .empty)
        machine.signedIn(record("guest", at: 9), deadlines: nil, isUnattended: true, by: 1)
        let decision = machine.decide(.write, over: .empty, hasLostLock: false, at: Machine.wallClock)
        machine.answer(.write, .unavailable(failure), failure: failure)
        machine.storeAnsweredLate(.write, decision, .init(reading: .unavailable(failure)))
        let adopted = record("adopted", at: 0)
        #expect(machine.answer(.write, .found(adopted)) == .keep)
        #expect(machine.currentRecord == adopted)
    }

    @Test("a guest whose first write has failed gives way to a later sign-out in another process")
    func guestBeforeEnd() {
        var machine = Machine(policy: SessionPolicy(), sharesStore: true)
        _ = machine.loadRequested(by: 0)
        machine.answer(.read, .empty)
        machine.signedIn(record("guest", at: 9), deadlines: nil, isUnattended: true, by: 1)
        machine.answer(.write, .empty, failure: failure)
        #expect(machine.answer(.write, .ended(EndMark(.end(ofGeneration: 10)))) == .keep)
        #expect(machine.currentRecord == nil)
    }

    @Test("a guest whose first write has failed follows the sign-out that this write had found") func guestRetries() {
        var machine = Machine(policy: SessionPolicy(), sharesStore: true)
        _ = machine.loadRequested(by: 0)
        machine.answer(.read, .empty)
        machine.signedIn(record("guest", at: 9), deadlines: nil, isUnattended: true, by: 1)
        let ended = StoreReading.ended(EndMark(.end(ofGeneration: 8)))
        machine.answer(.write, ended, failure: failure)
        guard case .write = machine.answer(.write, ended) else {
            Issue.record("the guest was not written")
            return
        }
        #expect(machine.currentRecord?.id.rawValue == "guest")
    }

    @Test("with a store of its own, a guest replaces a session of a fast clock that a sign-out has not read")
    func guestAfterFastClock() {
        var machine = Machine(policy: SessionPolicy())
        machine.signedOut(at: Machine.wallClock)
        machine.answer(.end, .unavailable(failure), failure: failure)
        let now = machine.makeGeneration(at: Machine.wallClock)
        machine.signedIn(record("guest", at: now), deadlines: nil, isUnattended: true, by: 1)
        machine.answer(.write, .found(record("ahead", at: now + 86_400_000)))
        #expect(machine.currentRecord?.id.rawValue == "guest")
    }

    @Test("a guest that cannot be saved ends no user of another process, nor a user's sign-in that was sent before")
    func withdrawnGuest() {
        var policy = SessionPolicy()
        policy.requiresSavedTokens = true
        var machine = Machine(policy: policy, sharesStore: true)
        _ = machine.loadRequested(by: 0)
        machine.answer(.read, .empty)
        let start = machine.epoch
        let guest = StoredSession(id: SessionID(rawValue: "guest"), generation: 9, tokens: .pair("guest"))
        machine.signedIn(guest, deadlines: nil, isUnattended: true, by: 1)
        machine.answer(.write, .found(bob), failure: failure)
        #expect(machine.acceptsSignIn(since: start))
        #expect(machine.answer(.end, .found(bob)) == .keep)
        #expect(machine.currentRecord == bob)
        #expect(!machine.takeActions().contains(.revoke(bob.tokens, expiresAt: nil)))
    }

    @Test("a session that a sign-in replaces is revoked once, however often the write fails, and after its removal")
    func replacedRevokedOnce() {
        var machine = Machine(policy: SessionPolicy(), sharesStore: true)
        machine.signedIn(bob, deadlines: nil, by: 1)
        let revocation = Machine.Action.revoke(ada.tokens, expiresAt: nil)
        machine.answer(.write, .found(ada), failure: failure)
        #expect(!machine.takeActions().contains(revocation))
        machine.answer(.end, .found(ada), failure: failure)
        #expect(machine.takeActions().filter { $0 == revocation }.count == 1)
        for _ in 1...3 {
            machine.answer(.write, .found(ada), failure: failure)
            machine.answer(.end, .found(ada), failure: failure)
            #expect(!machine.takeActions().contains(revocation))
        }
        machine.answer(.write, .found(ada))
        #expect(machine.currentRecord?.id == bob.id && !machine.takeActions().contains(revocation))
    }

    @Test("a record that another process damages is reported once, and the session goes on") func damagedLater() {
        var machine = Machine.restored(ada, sharesStore: true)
        machine.answer(.read, .unavailable(failure))
        #expect(machine.takeActions().contains(.emit(.storeReadFailed(failure))))
        machine.answer(.read, .unavailable(failure))
        #expect(!machine.takeActions().contains(.emit(.storeReadFailed(failure))))
        #expect(machine.currentRecord == ada)
        machine.answer(.read, .found(ada))
        machine.answer(.read, .unavailable(failure))
        #expect(machine.takeActions().contains(.emit(.storeReadFailed(failure))))
    }

    @Test("signing out of a session that was never written deletes the previous record") func signOutUnwritten() {
        var machine = Machine.restored(ada, sharesStore: true)
        machine.signedIn(bob, deadlines: nil, by: 1)
        machine.signedOut(at: SessionStateMachine.wallClock)
        #expect(machine.answer(.end, .found(ada)).ends)
    }

    @Test("a refresh that waited for the lock is dropped if its session has ended") func lateJournal() throws {
        var machine = unwritten(bob, over: ada)
        machine.tokenRejected(bob.stamp, at: .zero)
        let started = machine.takeRefresh()
        let job = try #require(started)
        machine.signedOut(at: SessionStateMachine.wallClock)
        #expect(machine.answer(preparing: job, .found(ada)) == .stop)
        #expect(
            machine.decide(.prepare(job), over: .found(ada), hasLostLock: false, at: Machine.wallClock).update == .keep)
    }

    @Test("a retried write is dropped if a newer record has been adopted") func lateRetry() {
        var machine = unwritten(bob, over: ada)
        machine.answer(.end, .found(ada))
        let newer = bob.renewed(rotation: 1, .pair("bob-1"))
        machine.answer(.read, .found(newer))
        #expect(machine.currentRecord == newer)
        #expect(!machine.needs(.write))
    }

    @Test("a retried write of a new session keeps another process's newer record") func retryOverNewer() {
        var machine = unwritten(bob, over: ada)
        // The first write did succeed.
        let newer = bob.renewed(rotation: 1, .pair("bob-1"))
        #expect(machine.answer(.write, .found(newer)) == .keep)
        #expect(machine.currentRecord == newer)
    }

    @Test("a sign-in that was never stored is revoked if another process's sign-in takes its place")
    func unwrittenAndReplaced() {
        var machine = unwritten(bob, over: ada)
        let carol = StoredSession(id: SessionID(), generation: 3, tokens: .pair("carol"))
        #expect(machine.answer(.write, .found(carol)) == .keep)
        #expect(machine.currentRecord == carol)
        #expect(machine.takeActions().contains(.revoke(bob.tokens, expiresAt: nil)))
    }

    @Test("a sign-in comes after the one that it has replaced, whatever the clocks say") func replacedHigherGeneration()
    {
        for highest in [4, Int.max] {
            let carol = StoredSession(id: SessionID(), generation: highest, tokens: .pair("carol"))
            var machine = Machine(policy: SessionPolicy())
            machine.signedIn(bob, deadlines: nil, by: 1)
            machine.answer(.write, .found(carol))
            #expect(machine.currentRecord?.id == bob.id)
            // The process of the replaced sign-in took its write to have failed, and repeats it.
            var other = unwritten(carol, over: ada)
            #expect(other.answer(.write, .found(machine.currentRecord ?? ada)) == .keep)
            #expect(other.currentRecord == machine.currentRecord)
            #expect(machine.makeGeneration(at: .distantPast) > min(highest, 1 << 60))
        }
    }

    @Test("a sign-in that an earlier task has written late is not repeated over a sign-out of another process")
    func writtenByEarlierTask() {
        var machine = unwritten(ada, over: bob)
        let carol = StoredSession(id: SessionID(), generation: 3, tokens: .pair("carol"))
        machine.signedIn(carol, deadlines: nil, by: 2)
        let decision = machine.decide(.write, over: .empty, hasLostLock: false, at: Machine.wallClock)
        machine.storeAnsweredLate(.write, decision, .init(reading: .found(carol)))
        machine.answer(.write, .unavailable(failure), failure: failure)
        #expect(machine.answer(.write, .empty) == .keep)
        #expect(machine.absence == .signedOut)
    }

    @Test("a sign-in that is written late, above another process's sign-in, does not count as ended")
    func writtenLateAboveAnother() {
        var machine = Machine(policy: SessionPolicy(), sharesStore: true)
        _ = machine.loadRequested(by: 1)
        let early = machine.undecided(.read)
        let ada = StoredSession(id: SessionID(), generation: 5, tokens: .pair("ada"))
        let bob = StoredSession(id: SessionID(), generation: 5, tokens: .pair("bob"))
        machine.signedIn(bob, deadlines: nil, by: 2)
        machine.storeAnswered(.read, .init(decision: early, snapshot: .init(reading: .found(ada))), at: .test())
        let decision = machine.decide(.write, over: .found(ada), hasLostLock: false, at: Machine.wallClock)
        guard case .write(let written) = decision.update else {
            Issue.record("nothing was written")
            return
        }
        // The answer comes after the time limit.
        machine.answer(.write, .unavailable(failure), failure: failure)
        machine.storeAnsweredLate(.write, decision, .init(reading: .found(written)))
        #expect(machine.answer(.end, .found(written)) == .keep)
        machine.answer(.read, .found(written))
        #expect(machine.currentRecord == written)
        #expect(!machine.needs(.write))
    }

    @Test("a sign-in whose write failed replaces an earlier one that its process has ended")
    func overEndedSignIn() {
        var machine = Machine.restored(StoredSession(id: SessionID(), generation: 1, tokens: .pair("ada")))
        let bob = StoredSession(id: SessionID(), generation: 2, tokens: .pair("bob"))
        machine.signedIn(bob, deadlines: nil, by: 1)
        machine.signedOut(at: Machine.wallClock)
        let carol = StoredSession(id: SessionID(), generation: 3, tokens: .pair("carol"))
        machine.signedIn(carol, deadlines: nil, by: 2)
        machine.answer(.write, .unavailable(failure), failure: failure)
        // The write of the first sign-in was on its way.
        machine.answer(.read, .found(bob))
        #expect(machine.currentRecord?.id == carol.id)
        guard case .write(let written) = machine.answer(.write, .found(bob)) else {
            Issue.record("the retry wrote nothing")
            return
        }
        #expect(written.id == carol.id)
        #expect(machine.currentRecord?.id == carol.id)
    }

    @Test(
        "a sign-out of a process that has read nothing spares only a sign-in that came after it",
        arguments: [(-1, true), (1, false), (60_000, true)])
    func unreadSignOut(milliseconds: Int, ends: Bool) {
        var machine = Machine(policy: SessionPolicy(), sharesStore: true)
        machine.signedOut(at: Machine.wallClock)
        let generation = StoredSession.generation(at: Machine.wallClock) + milliseconds
        let ada = StoredSession(id: SessionID(), generation: generation, tokens: .pair("ada"))
        let later = Machine.wallClock.addingTimeInterval(1)
        let decision = machine.decide(.end, over: .found(ada), hasLostLock: false, at: later)
        #expect(decision.update.ends == ends)
    }

    @Test("a sign-in whose write failed replaces only the session that it knew, even if that was refreshed")
    func retryKnowsItsBase() {
        var machine = unwritten(bob, over: ada)
        #expect(machine.answer(.write, .found(ada.renewed(rotation: 1, .pair("ada-1")))) == .write(bob))
        machine = Machine(policy: SessionPolicy(), sharesStore: true)
        machine.signedIn(bob, deadlines: nil, by: 1)
        machine.answer(.write, .empty, failure: failure)
        #expect(machine.answer(.write, .found(ada)) == .keep)
        #expect(machine.currentRecord == ada)
    }

    @Test("a pending deletion is dropped when its record has been overwritten") func obsoleteDeletion() {
        var machine = unwritten(bob, over: ada)
        #expect(machine.needs(.end))
        machine.answer(.write, .found(ada))
        #expect(!machine.needs(.end))
    }

    @Test("the expiry of a session that was never written does not restore the previous one") func expiredUnwritten()
        throws
    {
        var machine = unwritten(bob, over: ada)
        machine.tokenRejected(bob.stamp, at: .zero)
        let started = machine.takeRefresh()
        let job = try #require(started)
        #expect(machine.answer(preparing: job, .found(ada), failure: failure) == .send)
        let reason = ExpiryReason.refreshTokenRejected(code: nil)
        _ = machine.refreshFinished(job, .terminal(reason), at: .zero, jitter: 0)
        #expect(machine.answer(.confirmExpiry, .found(ada)) == .keep)
        #expect(machine.absence == .expired(reason, bob.id))
        #expect(machine.answer(.end, .found(ada)).ends)
    }

    @Test("a sign-in by another process during a deletion is noticed after the deletion")
    func changeWhileDeleting() {
        var machine = Machine.restored(ada, sharesStore: true)
        machine.signedOut(at: SessionStateMachine.wallClock)
        machine.answer(.read, .found(bob))
        #expect(machine.absence == .signedOut)
        #expect(machine.answer(.end, .found(bob)) == .keep)
        #expect(machine.currentRecord == bob)
    }

    @Test("a late write of a sign-in that was never stored is undone by the sign-out that followed") func lateSignIn() {
        var machine = SessionStateMachine(policy: SessionPolicy(), sharesStore: true)
        machine.signedIn(ada, deadlines: nil, by: 1)
        let decision = machine.decide(.write, over: .empty, hasLostLock: false, at: Machine.wallClock)
        machine.answer(.write, .unavailable(failure), failure: failure)
        machine.signedOut(at: SessionStateMachine.wallClock)
        machine.answer(.end, .unavailable(failure), failure: failure)
        machine.storeAnsweredLate(.write, decision, .init(reading: .found(ada)))
        #expect(machine.needs(.end, isLate: true))
        #expect(machine.answer(.end, .found(ada)).ends)
        #expect(machine.absence == .signedOut)
    }

    @Test("a sign-in that a late write has stored becomes visible only after its own write") func lateWriteOfNext() {
        var machine = SessionStateMachine(policy: SessionPolicy())
        machine.signedIn(ada, deadlines: nil, by: 1)
        machine.answer(.write, .unavailable(failure), failure: failure)
        machine.signedIn(bob, deadlines: nil, by: 2)
        // The write of the first sign-in gets its turn now, and writes the newest record.
        let decision = machine.decide(.write, over: .empty, hasLostLock: false, at: Machine.wallClock)
        machine.storeAnsweredLate(.write, decision, .init(reading: .found(bob)))
        #expect(machine.visibleState(at: .zero) == nil)
        machine.answer(.write, .found(bob))
        #expect(machine.session?.isVisible == true && machine.session?.isBusy == false)
    }

    @Test("a repeated sign-out leaves an unreadable record alone, which may be another process's later sign-in")
    func repeatedSignOut() {
        for sharesStore in [true, false] {
            var machine = SessionStateMachine(policy: SessionPolicy(), sharesStore: sharesStore)
            machine.signedOut(at: SessionStateMachine.wallClock)
            #expect(machine.answer(.end, .unavailable(failure), failure: failure).ends)
            #expect(machine.needs(.end))
            #expect(machine.answer(.end, .unavailable(failure)).ends != sharesStore)
        }
    }

    @Test("a session that the user signed out of is deleted again if another process repeats its write")
    func repeatedWriteAfterSignOut() {
        for isKnown in [true, false] {
            var machine = isKnown ? Machine.restored(ada, sharesStore: true) : Machine(policy: SessionPolicy())
            machine.signedOut(at: SessionStateMachine.wallClock)
            machine.answer(.end, .found(ada))
            _ = machine.takeActions()
            machine.answer(.read, .found(ada))
            #expect(machine.absence == .signedOut)
            #expect(machine.takeActions() == [.store(.end)])
            // It may be the record of a later sign-in that cannot be read.
            #expect(
                !machine.decide(.end, over: .unavailable(failure), hasLostLock: false, at: Machine.wallClock)
                    .update.ends)
            #expect(machine.answer(.end, .found(ada)).ends)
        }
    }

    @Test("a session that another process signed out of is adopted again if its record returns")
    func returningRecord() {
        var machine = Machine.restored(ada, sharesStore: true)
        machine.answer(.read, .empty)
        #expect(machine.absence == .signedOut)
        machine.answer(.read, .found(ada))
        #expect(machine.currentRecord == ada)
    }

    @Test("a deletion that succeeds after its time limit is not repeated, which could delete a later sign-in")
    func lateDeletion() {
        for isKnown in [true, false] {
            var machine = isKnown ? Machine.restored(ada, sharesStore: true) : Machine(policy: SessionPolicy())
            machine.signedOut(at: SessionStateMachine.wallClock)
            let decision = machine.decide(.end, over: .found(ada), hasLostLock: false, at: Machine.wallClock)
            #expect(decision.update.ends)
            machine.answer(.end, .unavailable(failure), failure: failure)
            _ = machine.takeActions()
            machine.storeAnsweredLate(.end, decision, .init(reading: .empty))
            #expect(!machine.needs(.end))
            // The sign-out itself has asked for the revocation of the session that it knew.
            let revocation = Machine.Action.revoke(ada.tokens, expiresAt: nil)
            #expect(machine.takeActions() == (isKnown ? [] : [revocation]) + [.emit(.storeRecovered(nil))])
        }
    }

    @Test("a session is revoked even if the sign-in that has overwritten it is over") func replacedByFormer() {
        for isLate in [false, true] {
            var machine = Machine(policy: SessionPolicy())
            machine.signedIn(bob, deadlines: nil, by: 1)
            let decision = machine.decide(.write, over: .found(ada), hasLostLock: false, at: Machine.wallClock)
            #expect(decision.update == .write(bob))
            let carol = StoredSession(id: SessionID(), generation: 3, tokens: .pair("carol"))
            machine.signedIn(carol, deadlines: nil, by: 2)
            _ = machine.takeActions()
            if isLate {
                machine.storeAnsweredLate(.write, decision, .init(reading: .found(bob)))
            } else {
                machine.storeAnswered(
                    .write, .init(decision: decision, snapshot: .init(reading: .found(ada))), at: .test())
            }
            #expect(machine.takeActions() == [.revoke(ada.tokens, expiresAt: nil)])
        }
    }

    @Test("a session that a sign-in has overwritten after its time limit is revoked") func replacedLate() {
        var machine = Machine(policy: SessionPolicy())
        machine.signedIn(bob, deadlines: nil, by: 1)
        let decision = machine.decide(.write, over: .found(ada), hasLostLock: false, at: Machine.wallClock)
        machine.answer(.write, .unavailable(failure), failure: failure)
        _ = machine.takeActions()
        machine.storeAnsweredLate(.write, decision, .init(reading: .found(bob)))
        #expect(machine.takeActions() == [.revoke(ada.tokens, expiresAt: nil), .emit(.storeRecovered(bob.stamp))])
    }

    @Test("tokens are revoked without waiting for a deletion that is no longer needed") func lateRevocation() {
        var machine = Machine.restored(ada, sharesStore: true)
        machine.signedOut(at: SessionStateMachine.wallClock)
        machine.answer(.end, .unavailable(failure), failure: failure)
        machine.signedIn(bob, deadlines: nil, by: 1)
        machine.answer(.write, .unavailable(failure), failure: failure)
        machine.signedOut(at: SessionStateMachine.wallClock)
        let decision = machine.decide(.end, over: .empty, hasLostLock: false, at: Machine.wallClock)
        _ = machine.takeActions()
        machine.storeAnsweredLate(.end, decision, .init(reading: .empty))
        #expect(machine.takeActions().contains(.revoke(bob.tokens, expiresAt: nil)))
        #expect(!machine.needs(.end))
    }

    @Test("a sign-out by another process is noticed even if a deletion was pending when the record had gone")
    func signOutWhileDeleting() {
        var machine = unwritten(bob, over: ada)
        machine.answer(.end, .unavailable(failure), failure: failure)
        let carol = StoredSession(id: SessionID(), generation: 3, tokens: .pair("carol"))
        machine.answer(.write, .found(carol))
        #expect(machine.currentRecord == carol && machine.needs(.end))
        machine.answer(.read, .empty)
        machine.answer(.end, .empty)
        #expect(machine.absence == .signedOut)
    }

    @Test("a retry delay that began for a reading retains the manager once there is a write") func workDuringDelay() {
        var machine = Machine.restored(ada, sharesStore: true)
        machine.answer(.read, .unavailable(failure))
        #expect(machine.takeActions().last == .retryStore(after: .seconds(1), hasWork: false))
        machine.signedIn(bob, deadlines: nil, by: 1)
        machine.answer(.write, .found(ada), failure: failure)
        #expect(machine.takeActions().contains(.retryStore(after: .seconds(2), hasWork: true)))
    }

    // MARK: - Setup

    /// A machine signed in over another session whose store failed to write the new record.
    private func unwritten(_ record: StoredSession, over former: StoredSession) -> Machine {
        var machine = Machine.restored(former, sharesStore: true)
        machine.signedIn(record, deadlines: nil, by: 1)
        machine.answer(.write, .found(former), failure: failure)
        _ = machine.takeActions()
        return machine
    }
}

extension Tokens {
    fileprivate static func pair(_ name: String) -> Tokens {
        Tokens(accessToken: Secret("access-\(name)"), refreshToken: Secret("refresh-\(name)"))
    }
}
