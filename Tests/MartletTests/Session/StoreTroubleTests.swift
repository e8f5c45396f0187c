import Foundation
import Testing

@testable import Martlet

/// What the state search found where a store fails at the wrong moment.
@Suite("A store that fails while sessions come and go") struct StoreTroubleTests {
    private typealias Machine = SessionStateMachine
    private let ada = StoredSession(id: SessionID(rawValue: "ada"), bundle: .pair("ada"))
    private let bob = StoredSession(id: SessionID(rawValue: "bob"), bundle: .pair("bob"))
    private let trouble = StorageFailure(.unreachable, "full")

    @Test("signing out of a session that was never written leaves nobody's record behind") func signOutUnwritten() {
        var machine = restored(ada)
        machine.signedIn(bob, life: nil, by: 1)
        _ = machine.takeActions()
        machine.signedOut()
        let deletion = machine.deletion
        #expect(deletion?.scope.includes(ada) == true)
        #expect(deletion.map { Machine.delete($0)(.found(ada)) } == .delete)
    }

    @Test("a refresh that waited for the lock does not write a session that is over") func lateNote() {
        var machine = unwritten(bob, over: ada)
        _ = machine.tokenRejected(bob.stamp, reportedBy: 2, at: .zero)
        for case .refresh(let order) in machine.takeActions() {
            machine.signedOut()
            #expect(machine.current(order) == nil)
        }
    }

    @Test("a second try to write gives way to what was adopted meanwhile") func lateRetry() {
        var machine = unwritten(bob, over: ada)
        machine.saveRetryDue()
        var newer = bob
        newer.rotation = 1
        newer.bundle = .pair("bob-1")
        for case .save(let order) in machine.takeActions() {
            machine.deletion = nil
            machine.looked(.init(reading: .found(newer)), since: machine.epoch)
            #expect(machine.currentRecord == newer)
            #expect(machine.current(order) == nil)
        }
    }

    @Test("a second try to write a new session leaves what another process has made of it") func retryOverNewer() {
        var machine = unwritten(bob, over: ada)
        machine.saveRetryDue()
        // The first try was done after all.
        var newer = bob
        newer.rotation = 1
        newer.bundle = .pair("bob-1")
        for case .save(let order) in machine.takeActions() {
            #expect(Machine.write(order)(.found(newer)) == .keep)
            machine.saved(order, over: .init(reading: .found(newer)), failure: nil)
        }
        #expect(machine.currentRecord == newer)
    }

    @Test("what was to go is settled once it has been written over") func settledDeletion() throws {
        var machine = unwritten(bob, over: ada)
        let deletion = try #require(machine.deletion)
        machine.saveRetryDue()
        for case .save(let order) in machine.takeActions() {
            machine.saved(order, over: .init(reading: .found(ada)), failure: nil)
        }
        #expect(machine.deletion == nil)
        #expect(machine.isObsolete(deletion))
    }

    @Test("the end of a session that was never written does not bring the one before it back") func condemnedUnwritten()
    {
        var machine = unwritten(bob, over: ada)
        machine.ended = nil
        let order = Machine.RefreshOrder(id: 90, record: bob, isStored: false)
        guard case .signedIn(var session) = machine.state else { return }
        session.phase = .condemning(order, .refreshTokenRejected(code: nil))
        machine.state = .signedIn(session)
        machine.condemned(order, over: .init(reading: .found(ada)), failure: nil)
        #expect(machine.state == .expired(.refreshTokenRejected(code: nil), bob.id))
        #expect(machine.deletion?.scope.includes(ada) == true)
    }

    @Test("whoever another process signed in while a deletion was due is noticed once it is done")
    func newsWhileDeleting() {
        var machine = restored(ada)
        machine.signedOut()
        #expect(machine.looked(.init(reading: .found(bob)), since: machine.epoch) == .notNow)
        #expect(machine.state == .signedOut)
        machine.deleted(machine.deletion?.id ?? 0, over: .init(reading: .found(bob)), failure: nil)
        #expect(machine.looked(.init(reading: .found(bob)), since: machine.epoch) == .heeded)
        #expect(machine.currentRecord == bob)
    }

    @Test("whoever signed in over a deletion that was pending is there as soon as it is done") func leftByDeletion() {
        var machine = restored(ada)
        machine.signedOut()
        machine.deleted(machine.deletion?.id ?? 0, over: .init(reading: .found(bob)), failure: nil)
        #expect(machine.deletion == nil)
        #expect(machine.currentRecord == bob)
    }

    // MARK: - Setup

    private func restored(_ record: StoredSession) -> Machine {
        var machine = Machine(policy: SessionPolicy(), sharesStore: true)
        _ = machine.load(for: 0)
        machine.loaded(.init(reading: .found(record)))
        _ = machine.takeActions()
        return machine
    }

    /// Signed in over another session, with a store that failed to write it.
    private func unwritten(_ record: StoredSession, over former: StoredSession) -> Machine {
        var machine = restored(former)
        machine.signedIn(record, life: nil, by: 1)
        for case .save(let order) in machine.takeActions() {
            machine.saved(order, over: .init(reading: .found(former)), failure: trouble)
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
