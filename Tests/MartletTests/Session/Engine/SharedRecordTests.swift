import Foundation
import MartletTesting
import Testing

@testable import Martlet

/// Minimal cases of failures found by the scheduler fuzzer.
@Suite("A shared record") struct SharedRecordTests {
    @Test("a process that signed in without reading the store notices other processes' changes") func signInWatches()
        async throws
    {
        let time = ManualTimeSource()
        let disk = SimulatedDisk(time: time)
        let (one, other) = (App(store: disk.open("one"), time: time), App(store: disk.open("other"), time: time))
        try await one.tokens.signIn(with: .fresh(1))
        let bob = try await other.tokens.signIn(with: .fresh(2))
        for await state in one.tokens.states where state == .signedIn(bob) { break }
    }

    @Test("a failed read after another process's change is retried") func readRetry() async throws {
        let time = ManualTimeSource()
        let reads = Locked(0)
        let disk = SimulatedDisk(
            .expired(at: time.wallClock), time: time,
            behavior: { process, operation in
                guard process == "one", operation == .read else { return .init() }
                let count = reads.withLock { reads in
                    reads += 1
                    return reads
                }
                return .init(fault: count == 2 ? .unreachable(StorageError(.locked, "locked")) : nil)
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

    @Test(
        "a snapshot is outdated after a sign-out, and not used while a deletion is pending") func outdated()
    {
        var machine = signedIn()
        let epoch = machine.epoch
        #expect(machine.snapshotTaken(.init(reading: .unavailable(failure)), since: epoch) == .unavailable)
        machine.signedOut()
        #expect(machine.snapshotTaken(.init(reading: .empty), since: epoch) == .outdated)
        #expect(machine.snapshotTaken(.init(reading: .empty), since: machine.epoch) == .unavailable)
        machine.deletionFinished(machine.deletion?.id ?? 0, failure: nil)
        #expect(machine.snapshotTaken(.init(reading: .empty), since: machine.epoch) == .reconciled)
    }

    @Test("signing out of a session that was never stored deletes the previous record too") func deletesAllRecords() {
        var machine = signedIn()
        machine.signedIn(StoredSession(id: SessionID(), bundle: .fresh(2)), deadlines: nil, by: 1)
        machine.signedOut()
        #expect(machine.deletion?.scope == .allRecords)
    }

    @Test("a retried write does not restore a session that another process has ended") func lateWrite() throws {
        var (machine, job) = unsaved()
        // The first write did reach the disk, and another process has signed out since.
        machine.savedLate(job.record)
        machine.saveRetryDue()
        let retry = try #require(machine.takeActions().compactMap(\.save).last)
        #expect(machine.pending(retry)?.hasBeenStored == true)
        #expect(machine.snapshotTaken(.init(reading: .empty), since: machine.epoch) == .reconciled)
        #expect(machine.visibleState(at: .zero) == .signedOut)
        #expect(machine.pending(job) == nil)
    }

    @Test(
        "a pending deletion becomes obsolete when the record it makes room for is written late") func obsoleteDeletion()
        throws
    {
        var (machine, job) = unsaved()
        let deletion = try #require(machine.deletion)
        #expect(!machine.isObsolete(deletion))
        machine.savedLate(job.record)
        #expect(machine.isObsolete(deletion))
    }

    @Test("a session counts as stored after the journal of its refresh is written") func journalStores() throws {
        var (machine, job) = unsaved()
        _ = machine.refreshForced(by: 9, at: .zero)
        let refresh = try #require(machine.takeActions().compactMap(\.refresh).last)
        #expect(!refresh.hasBeenStored)
        let journal = RefreshJournal(startedAt: .distantPast, fingerprint: "00000000")
        let isToBeSent = machine.refreshPrepared(
            refresh, over: .init(reading: .empty), journal: journal, failure: nil, at: .zero, jitter: 0)
        #expect(isToBeSent)
        guard case .signedIn(let session) = machine.state else {
            Issue.record("the session has ended")
            return
        }
        #expect(session.hasBeenStored && session.record.id == job.record.id)
    }

    @Test("a retried write of a record keeps the journal of a refresh in progress") func retryKeepsJournal() {
        var stored = StoredSession(id: SessionID(), bundle: .fresh(1))
        let job = SessionStateMachine.SaveJob(id: 1, record: stored, deadlines: nil, hasBeenStored: true)
        stored.journal = RefreshJournal(startedAt: .distantPast, fingerprint: "00000000")
        #expect(SessionStateMachine.saveDecision(job)(.found(stored)) == .write(stored))
    }

    private let failure = StorageError(.unreachable, "full")

    private func signedIn() -> SessionStateMachine {
        var machine = SessionStateMachine(policy: SessionPolicy(), sharesStore: true)
        _ = machine.loadRequested(by: 100)
        machine.loaded(.init(reading: .found(StoredSession(id: SessionID(), bundle: .fresh(1)))))
        _ = machine.takeActions()
        return machine
    }

    /// A machine after a sign-in whose write was reported as failed.
    private func unsaved() -> (SessionStateMachine, SessionStateMachine.SaveJob) {
        var machine = SessionStateMachine(policy: SessionPolicy(), sharesStore: true)
        let record = StoredSession(id: SessionID(), bundle: .fresh(1))
        machine.signedIn(record, deadlines: nil, by: 1)
        let job = SessionStateMachine.SaveJob(id: machine.lastID, record: record, deadlines: nil, hasBeenStored: false)
        machine.saveFinished(job, over: .init(reading: .unavailable(failure)), failure: failure)
        _ = machine.takeActions()
        return (machine, job)
    }
}

extension SessionStateMachine.Action {
    fileprivate var save: SessionStateMachine.SaveJob? {
        if case .save(let job) = self { job } else { nil }
    }

    fileprivate var refresh: SessionStateMachine.RefreshJob? {
        if case .refresh(let job) = self { job } else { nil }
    }
}
