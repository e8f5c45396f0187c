import Foundation
import Testing

@testable import Martlet

/// Minimal cases of store failures found by the state search.
@Suite("A store that fails while sessions change") struct StoreTroubleTests {
    private typealias Machine = SessionStateMachine
    private let ada = StoredSession(id: SessionID(rawValue: "ada"), bundle: .pair("ada"))
    private let bob = StoredSession(id: SessionID(rawValue: "bob"), bundle: .pair("bob"))
    private let failure = StorageError(.unreachable, "full")

    @Test("signing out of a session that was never written deletes the previous record") func signOutUnwritten() {
        var machine = restored(ada)
        machine.signedIn(bob, deadlines: nil, by: 1)
        _ = machine.takeActions()
        machine.signedOut()
        let deletion = machine.deletion
        #expect(deletion?.scope.includes(ada) == true)
        #expect(deletion.map { Machine.deletionDecision($0)(.found(ada)) } == .delete)
    }

    @Test("a refresh that waited for the lock is dropped if its session has ended") func lateJournal() {
        var machine = unwritten(bob, over: ada)
        _ = machine.tokenRejected(bob.stamp, reportedBy: 2, at: .zero)
        for case .refresh(let job) in machine.takeActions() {
            machine.signedOut()
            #expect(machine.pending(job) == nil)
        }
    }

    @Test("a retried write is dropped if a newer record has been adopted") func lateRetry() {
        var machine = unwritten(bob, over: ada)
        machine.saveRetryDue()
        var newer = bob
        newer.rotation = 1
        newer.bundle = .pair("bob-1")
        for case .save(let job) in machine.takeActions() {
            machine.deletion = nil
            machine.snapshotTaken(.init(reading: .found(newer)), since: machine.epoch)
            #expect(machine.currentRecord == newer)
            #expect(machine.pending(job) == nil)
        }
    }

    @Test("a retried write of a new session keeps another process's newer record") func retryOverNewer() {
        var machine = unwritten(bob, over: ada)
        machine.saveRetryDue()
        // The first write did succeed.
        var newer = bob
        newer.rotation = 1
        newer.bundle = .pair("bob-1")
        for case .save(let job) in machine.takeActions() {
            #expect(Machine.saveDecision(job)(.found(newer)) == .keep)
            machine.saveFinished(job, over: .init(reading: .found(newer)), failure: nil)
        }
        #expect(machine.currentRecord == newer)
    }

    @Test("a pending deletion is dropped when its record has been overwritten") func obsoleteDeletion() throws {
        var machine = unwritten(bob, over: ada)
        let deletion = try #require(machine.deletion)
        machine.saveRetryDue()
        for case .save(let job) in machine.takeActions() {
            machine.saveFinished(job, over: .init(reading: .found(ada)), failure: nil)
        }
        #expect(machine.deletion == nil)
        #expect(Machine.deletionDecision(deletion)(.found(bob)) == .keep)
    }

    @Test("the expiry of a session that was never written does not restore the previous one") func expiredUnwritten() {
        var machine = unwritten(bob, over: ada)
        machine.lastEnded = nil
        let job = Machine.RefreshJob(id: 90, record: bob, hasBeenStored: false)
        guard case .signedIn(var session) = machine.state else { return }
        session.phase = .confirmingExpiry(job, .refreshTokenRejected(code: nil))
        machine.state = .signedIn(session)
        machine.expiryCheckFinished(job, over: .init(reading: .found(ada)), failure: nil)
        #expect(machine.state == .expired(.refreshTokenRejected(code: nil), bob.id))
        #expect(machine.deletion?.scope.includes(ada) == true)
    }

    @Test("a sign-in by another process during a deletion is noticed after the deletion")
    func changeWhileDeleting() {
        var machine = restored(ada)
        machine.signedOut()
        #expect(machine.snapshotTaken(.init(reading: .found(bob)), since: machine.epoch) == .unavailable)
        #expect(machine.state == .signedOut)
        machine.deletionFinished(machine.deletion?.id ?? 0, over: .init(reading: .found(bob)), failure: nil)
        #expect(machine.snapshotTaken(.init(reading: .found(bob)), since: machine.epoch) == .reconciled)
        #expect(machine.currentRecord == bob)
    }

    @Test("a record that a deletion did not cover is adopted when the deletion is done") func keptByDeletion() {
        var machine = restored(ada)
        machine.signedOut()
        machine.deletionFinished(machine.deletion?.id ?? 0, over: .init(reading: .found(bob)), failure: nil)
        #expect(machine.deletion == nil)
        #expect(machine.currentRecord == bob)
    }

    // MARK: - Setup

    private func restored(_ record: StoredSession) -> Machine {
        var machine = Machine(policy: SessionPolicy(), sharesStore: true)
        _ = machine.loadRequested(by: 0)
        machine.loaded(.init(reading: .found(record)))
        _ = machine.takeActions()
        return machine
    }

    /// A machine signed in over another session whose store failed to write the new record.
    private func unwritten(_ record: StoredSession, over former: StoredSession) -> Machine {
        var machine = restored(former)
        machine.signedIn(record, deadlines: nil, by: 1)
        for case .save(let job) in machine.takeActions() {
            machine.saveFinished(job, over: .init(reading: .found(former)), failure: failure)
        }
        _ = machine.takeActions()
        return machine
    }
}

extension TokenBundle {
    fileprivate static func pair(_ name: String) -> TokenBundle {
        TokenBundle(accessToken: Secret("access-\(name)"), refreshToken: Secret("refresh-\(name)"))
    }
}
