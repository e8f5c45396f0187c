import Foundation
import MartletTesting
import Testing

@testable import Martlet

/// What the scheduler fuzzer has found, each as small as it gets.
@Suite("A record that processes share") struct SharedRecordTests {
    @Test("A process that signed in without having read the store notices what others do") func signInWatches()
        async throws
    {
        let time = ManualTimeSource()
        let disk = SimulatedDisk(time: time)
        let (one, other) = (App(store: disk.open("one"), time: time), App(store: disk.open("other"), time: time))
        try await one.tokens.signIn(with: .fresh(1))
        let bob = try await other.tokens.signIn(with: .fresh(2))
        for await state in one.tokens.states where state == .signedIn(bob) { break }
    }

    @Test("A look that the store did not allow is made again") func looksAgain() async throws {
        let time = ManualTimeSource()
        let reads = Locked(0)
        let disk = SimulatedDisk(
            .expired(at: time.wallClock), time: time,
            conduct: { process, operation in
                guard process == "one", operation == .read else { return .init() }
                let count = reads.withLock { reads in
                    reads += 1
                    return reads
                }
                return .init(trouble: count == 2 ? .unreachable(StorageFailure(.locked, "locked")) : nil)
            })
        let one = App(store: disk.open("one"), time: time)
        var states = one.tokens.states.makeAsyncIterator()
        while await states.next()?.isSignedIn != true {}
        try await disk.open("other").delete()
        await time.waitForSleepers()
        while reads.withLock({ $0 }) < 3 {
            time.advanceToNextSleeper()
            await Task.yield()
        }
        while await states.next() != .signedOut {}
    }

    @Test("A look is made again where somebody signed in or out meanwhile, or something is about to go") func outdated()
    {
        var machine = signedIn()
        let epoch = machine.epoch
        #expect(machine.looked(.init(reading: .unavailable(failure)), since: epoch) == .notNow)
        machine.signedOut()
        #expect(machine.looked(.init(reading: .empty), since: epoch) == .outdated)
        #expect(machine.looked(.init(reading: .empty), since: machine.epoch) == .notNow)
        machine.deleted(machine.deletion?.id ?? 0, failure: nil)
        #expect(machine.looked(.init(reading: .empty), since: machine.epoch) == .heeded)
    }

    @Test("Signing out of a session that was never stored leaves nothing of the one before") func nothingIsLeft() {
        var machine = signedIn()
        machine.signedIn(StoredSession(id: SessionID(), bundle: .fresh(2)), life: nil, by: 1)
        machine.signedOut()
        #expect(machine.deletion?.scope == .everybody)
    }

    @Test("A write that is tried again brings back nothing that others have ended") func lateWrite() throws {
        var (machine, order) = unsaved()
        // The first try had come to the disk all the same, and others have signed out since.
        machine.writtenLate(order.record)
        machine.saveRetryDue()
        let retry = try #require(machine.takeActions().compactMap(\.save).last)
        #expect(machine.current(retry)?.isStored == true)
        #expect(machine.looked(.init(reading: .empty), since: machine.epoch) == .heeded)
        #expect(machine.visibleState(at: .zero) == .signedOut)
        #expect(machine.current(order) == nil)
    }

    @Test("What was to go for the sake of a record stays when the record has come there late") func obsoleteDeletion()
        throws
    {
        var (machine, order) = unsaved()
        let deletion = try #require(machine.deletion)
        #expect(!machine.isObsolete(deletion))
        machine.writtenLate(order.record)
        #expect(machine.isObsolete(deletion))
    }

    @Test("A session is known as stored once its refresh has been noted") func noteStores() throws {
        var (machine, order) = unsaved()
        _ = machine.refreshForced(by: 9, at: .zero)
        let refresh = try #require(machine.takeActions().compactMap(\.refresh).last)
        #expect(!refresh.isStored)
        let journal = RefreshJournal(startedAt: .distantPast, fingerprint: "00000000")
        let isToBeSent = machine.prepared(
            refresh, over: .init(reading: .empty), journal: journal, failure: nil, at: .zero, jitter: 0)
        #expect(isToBeSent)
        guard case .signedIn(let session) = machine.state else {
            Issue.record("the session goes on")
            return
        }
        #expect(session.isStored && session.record.id == order.record.id)
    }

    @Test("Writing a record again keeps the note that its token is being spent") func retryKeepsNote() {
        var noted = StoredSession(id: SessionID(), bundle: .fresh(1))
        let order = SessionStateMachine.SaveOrder(id: 1, record: noted, life: nil, isStored: true)
        noted.journal = RefreshJournal(startedAt: .distantPast, fingerprint: "00000000")
        #expect(SessionStateMachine.write(order)(.found(noted)) == .write(noted))
    }

    private let failure = StorageFailure(.unreachable, "full")

    private func signedIn() -> SessionStateMachine {
        var machine = SessionStateMachine(policy: SessionPolicy(), sharesStore: true)
        _ = machine.load(for: 100)
        machine.loaded(.init(reading: .found(StoredSession(id: SessionID(), bundle: .fresh(1)))))
        _ = machine.takeActions()
        return machine
    }

    /// Somebody has signed in, and writing the record was reported as failed.
    private func unsaved() -> (SessionStateMachine, SessionStateMachine.SaveOrder) {
        var machine = SessionStateMachine(policy: SessionPolicy(), sharesStore: true)
        let record = StoredSession(id: SessionID(), bundle: .fresh(1))
        machine.signedIn(record, life: nil, by: 1)
        let order = SessionStateMachine.SaveOrder(id: machine.lastID, record: record, life: nil, isStored: false)
        machine.saved(order, over: .init(reading: .unavailable(failure)), failure: failure)
        _ = machine.takeActions()
        return (machine, order)
    }
}

extension SessionStateMachine.Action {
    fileprivate var save: SessionStateMachine.SaveOrder? {
        if case .save(let order) = self { order } else { nil }
    }

    fileprivate var refresh: SessionStateMachine.RefreshOrder? {
        if case .refresh(let order) = self { order } else { nil }
    }
}
