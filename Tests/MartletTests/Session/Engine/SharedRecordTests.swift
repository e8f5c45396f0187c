import Foundation
import MartletTesting
import Testing

@testable import Martlet

/// Minimal cases of failures found by the scheduler fuzzer.
@Suite("A shared record", .timeLimit(.minutes(10))) struct SharedRecordTests {
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

    @Test("the second of two sign-ins in a row gets the higher position, so that it does not end with the first")
    func signInsInARow() {
        var machine = signedIn()
        // Both asked for a place before either of them took it.
        let place = machine.makeGeneration(at: .distantPast)
        for waiter in 1...2 {
            let record = StoredSession(id: SessionID(), generation: place, tokens: .fresh(waiter))
            machine.signedIn(record, deadlines: nil, by: waiter)
        }
        #expect(machine.currentRecord?.tokens == .fresh(2))
        #expect(machine.currentRecord.map { $0.generation > place } == true)
    }

    @Test(
        "a sign-out ends a session that was being written above one unknown to its process",
        arguments: [false, true])
    func overtakenWrite(isLate: Bool) {
        var machine = signedIn()
        // A process with a fast clock.
        let far = StoredSession.generation(at: SessionStateMachine.wallClock.addingTimeInterval(86_400))
        let other = StoredSession(id: SessionID(), generation: far, tokens: .fresh(3))
        let bob = StoredSession(
            id: SessionID(), generation: machine.makeGeneration(at: SessionStateMachine.wallClock), tokens: .fresh(2))
        machine.signedIn(bob, deadlines: nil, by: 1)
        let write = machine.decide(
            .write, over: .found(other), hasLostLock: false, at: SessionStateMachine.wallClock)
        machine.signedOut(at: SessionStateMachine.wallClock)
        guard case .write(let written) = write.update else {
            Issue.record("\(write.update)")
            return
        }
        if isLate {
            machine.storeAnsweredLate(.write, write, .init(reading: .found(written)))
        } else {
            machine.storeAnswered(.write, .init(decision: write, snapshot: .init(reading: .found(other))), at: .test())
        }
        #expect(machine.answer(.end, .found(written)).ends)
        #expect(machine.session == nil)
    }

    @Test("a sign-out without a session spares a later sign-in that its process has not noticed")
    func signOutWithoutSession() throws {
        var machine = signedIn()
        let record = try #require(machine.currentRecord)
        machine.signedOut(at: SessionStateMachine.wallClock)
        #expect(machine.answer(.end, .found(record)).ends)
        let later = StoredSession(
            id: SessionID(), generation: machine.makeGeneration(at: SessionStateMachine.wallClock), tokens: .fresh(3))
        machine.signedOut(at: SessionStateMachine.wallClock.addingTimeInterval(60))
        #expect(!machine.answer(.end, .found(later)).ends)
        #expect(machine.currentRecord == later)
    }

    @Test("a second sign-out in a row does not narrow the first one, which is pending") func signOutTwice() {
        var machine = signedIn()
        let wallClock = SessionStateMachine.wallClock
        machine.signedIn(
            StoredSession(id: SessionID(), generation: machine.makeGeneration(at: wallClock), tokens: .fresh(2)),
            deadlines: nil, by: 1)
        // The first write is under way. Another process has signed in since, and its user signs out here, twice.
        let other = StoredSession(
            id: SessionID(), generation: StoredSession.generation(at: wallClock.addingTimeInterval(10)),
            tokens: .fresh(3))
        for delay in [20.0, 21] { machine.signedOut(at: wallClock.addingTimeInterval(delay)) }
        #expect(machine.answer(.end, .found(other)).ends)
        #expect(machine.session == nil)
    }

    /// A store whose lock cannot be acquired.
    private struct UnlockableStore: TokenStore {
        struct Lock: StoreLock {
            let failure: StorageError
            func acquire(lease: Duration) async throws -> any HeldStoreLock { throw failure }
        }

        let inner = InMemoryTokenStore()
        let failure: StorageError

        var refreshLock: (any StoreLock)? { Lock(failure: failure) }
        func read() async -> StoreReading { await inner.read() }
        func write(_ session: StoredSession) async { await inner.write(session) }
        func delete() async { await inner.delete() }
    }

    @Test(
        "a process with too many open files to take its lock sends no refresh token, which another may be using",
        arguments: [true, false])
    func tooManyOpenFiles(isMomentary: Bool) async throws {
        errno = isMomentary ? EMFILE : EACCES
        let failure = StorageError(couldNot: "lock", "/locks/session.lock", nil)
        let app = try await App.signedIn(store: UnlockableStore(failure: failure))
        app.backend.invalidateAccessTokens()
        #expect(await app.call().isSuccess == !isMomentary)
        #expect(app.backend.refreshCalls == (isMomentary ? 0 : 1))
        #expect(app.tokens.state.isSignedIn)
    }

    /// A store that decides by itself that a record cannot be changed.
    private struct StubbornStore: TokenStore {
        static let failure = StorageError(.corrupt, "the record is damaged")

        func read() async -> StoreReading { .unavailable(Self.failure) }
        func write(_ session: StoredSession) async throws { throw Self.failure }
        func delete() async throws { throw Self.failure }
        func update(_ decide: @escaping @Sendable (StoreReading) -> StoreUpdate) async throws -> StoreReading {
            .unavailable(Self.failure)
        }
    }

    @Test("a sign-in is not taken for saved if the store has not asked what to write") func noDecision() async throws {
        let app = App(store: StubbornStore())
        #expect(try await app.tokens.signIn(with: .fresh(1)).isSaved == false)
        #expect(app.tokens.state.isSignedIn)
    }

    @Test("tokens lose the white space of the file that they were read from") func blanks() async throws {
        let app = App()
        try await app.tokens.signIn(with: Tokens(accessToken: "access\n", refreshToken: " refresh\r\n"))
        #expect(app.tokens.currentTokens?.accessToken == "access")
        #expect(app.tokens.currentTokens?.refreshToken == "refresh")
    }

    @Test("a call whose refresh has failed learns that another user has signed in since") func failedAndReplaced() {
        var machine = signedIn()
        let owner = machine.callOwner
        machine.answer(.read, .found(StoredSession(id: SessionID(), tokens: .fresh(2))))
        let failure = RefreshError(.offline, description: "")
        #expect(machine.credential(despite: failure, for: owner, at: .zero) == .failure(.sessionChanged))
    }

    @Test("a reading is not used if a sign-out came first, nor while a deletion is pending") func outdated() {
        var machine = signedIn()
        let record = StoredSession(id: SessionID(), generation: 2, tokens: .fresh(2))
        let early = machine.undecided(.read)
        machine.signedOut(at: SessionStateMachine.wallClock)
        machine.storeAnswered(.read, .init(decision: early, snapshot: .init(reading: .found(record))), at: .test())
        #expect(machine.absence == .signedOut)
        machine.answer(.read, .found(record))
        #expect(machine.absence == .signedOut)
        machine.answer(.end, .found(record))
        #expect(machine.currentRecord == record)
    }

    @Test("signing out of a session that was never stored deletes the previous record too") func deletesAllRecords() {
        var machine = signedIn()
        machine.signedIn(StoredSession(id: SessionID(), tokens: .fresh(2)), deadlines: nil, by: 1)
        machine.signedOut(at: SessionStateMachine.wallClock)
        #expect(machine.answer(.end, .found(StoredSession(id: SessionID(), tokens: .fresh(1)))).ends)
    }

    @Test("a retried write does not restore a session that another process has ended") func lateWrite() throws {
        var (machine, record) = unsaved()
        // The first write did reach the disk, and another process has signed out since.
        machine.storeAnsweredLate(.write, machine.undecided(.write), .init(reading: .found(record)))
        #expect(!machine.needs(.write))
        machine.answer(.read, .empty)
        #expect(machine.visibleState(at: .zero) == .signedOut)
    }

    @Test("a pending deletion ends when the record that it makes room for is written") func obsoleteDeletion() throws {
        var (machine, record) = unsaved()
        #expect(machine.needs(.end))
        machine.storeRetryDue()
        #expect(machine.answer(.write, .found(record)) == .write(record))
        #expect(!machine.needs(.end))
    }

    @Test("a session counts as stored after the journal of its refresh is written") func journalStores() throws {
        var (machine, record) = unsaved()
        _ = machine.refreshForced(by: 9, at: .zero)
        let started = machine.takeRefresh()
        let refresh = try #require(started)
        #expect(machine.answer(preparing: refresh, .empty) == .send)
        #expect(machine.session?.base == .stored && machine.session?.record.id == record.id)
    }

    @Test("a write that was reported as failed is repeated, unless its record is in the store") func doubtfulWrite()
        throws
    {
        var machine = signedIn()
        let older = try #require(machine.currentRecord)
        _ = machine.refreshForced(by: 1, at: .zero)
        let started = machine.takeRefresh()
        let job = try #require(started)
        #expect(machine.answer(preparing: job, .found(older)) == .send)
        _ = machine.refreshFinished(job, .success(.fresh(2), nil, estimatedExpiry: nil), at: .zero, jitter: 0)
        machine.answer(.write, .found(older), failure: failure)
        let newest = try #require(machine.currentRecord)
        // Another process has touched the record, so this one reads it before it repeats its own write.
        machine.answer(.read, .found(older))
        #expect(machine.needs(.write) && machine.currentRecord == newest)
        _ = machine.takeActions()
        machine.answer(.read, .found(newest))
        #expect(!machine.needs(.write) && machine.currentRecord == newest)
        #expect(machine.takeActions() == [.emit(.storeRecovered(newest.stamp))])
    }

    @Test("the journal of a refresh that was not sent is removed if it is written late, and an earlier one stays")
    func lateJournal() throws {
        for isFirst in [true, false] {
            var machine = signedIn()
            let record = try #require(machine.currentRecord)
            var journaled = record
            journaled.journal = RefreshJournal(of: record, sentAt: SessionStateMachine.wallClock)
            _ = machine.refreshForced(by: 1, at: .zero)
            let started = machine.takeRefresh()
            let job = try #require(started)
            let decision = machine.decide(
                .prepare(job), over: .found(isFirst ? record : journaled), hasLostLock: false,
                at: SessionStateMachine.wallClock)
            #expect(machine.answer(preparing: job, .unavailable(failure), failure: failure) == .stop)
            _ = machine.takeActions()
            machine.storeAnsweredLate(.prepare(job), decision, .init(reading: .found(journaled)))
            #expect(machine.takeActions() == (isFirst ? [.store(.clearJournal(journaled))] : []))
        }
    }

    @Test("such a journal is removed, too, if this process has read one that another process has removed since")
    func lateJournalAfterRemoval() throws {
        let record = StoredSession(id: SessionID(), tokens: .fresh(1))
        var journaled = record
        journaled.journal = RefreshJournal(of: record, sentAt: SessionStateMachine.wallClock)
        var machine = SessionStateMachine.restored(journaled, sharesStore: true)
        _ = machine.refreshForced(by: 1, at: .zero)
        let started = machine.takeRefresh()
        let job = try #require(started)
        let decision = machine.decide(
            .prepare(job), over: .found(record), hasLostLock: false, at: SessionStateMachine.wallClock)
        #expect(machine.answer(preparing: job, .unavailable(failure), failure: failure) == .stop)
        _ = machine.takeActions()
        machine.storeAnsweredLate(.prepare(job), decision, .init(reading: .found(journaled)))
        #expect(machine.takeActions() == [.store(.clearJournal(journaled))])
    }

    @Test(
        "an ending whose result arrives after another process's sign-in was adopted is repeated",
        arguments: [true, false])
    func outdatedEnding(fails: Bool) throws {
        var machine = signedIn()
        let ada = try #require(machine.currentRecord)
        machine.signedIn(StoredSession(id: SessionID(), generation: 5, tokens: .fresh(2)), deadlines: nil, by: 1)
        machine.answer(.write, .found(ada), failure: failure)
        // Both are repeated, and the answer to the write comes first.
        machine.storeRetryDue()
        let asked = machine.decide(.end, over: .found(ada), hasLostLock: false, at: SessionStateMachine.wallClock)
        let carol = StoredSession(id: SessionID(), generation: 9, tokens: .fresh(3))
        machine.answer(.write, .found(carol))
        #expect(machine.currentRecord?.id == carol.id)
        _ = machine.takeActions()
        let reading: StoreReading = fails ? .unavailable(failure) : .found(ada)
        machine.storeAnswered(
            .end, .init(decision: asked, snapshot: .init(reading: reading), failure: fails ? failure : nil), at: .test()
        )
        let isRepeated = machine.takeActions().contains {
            if case .retryStore(_, hasWork: true) = $0 { true } else { $0 == .store(.end) }
        }
        #expect(isRepeated)
        machine.answer(.end, .found(carol))
        #expect(!machine.needs(.end))
        // The changes of other processes count again.
        let dave = StoredSession(id: SessionID(), generation: 10, tokens: .fresh(4))
        machine.answer(.read, .found(dave))
        #expect(machine.currentRecord?.id == dave.id)
    }

    @Test("a sign-in that was written blindly below another process's is written again above it")
    func lateBlindWrite() throws {
        var machine = signedIn()
        let carol = StoredSession(id: SessionID(), generation: 1040, tokens: .fresh(3))
        let bob = StoredSession(id: SessionID(), generation: 1000, tokens: .fresh(2))
        machine.signedIn(bob, deadlines: nil, by: 1)
        let blind = machine.decide(
            .write, over: .unavailable(failure), hasLostLock: false, at: SessionStateMachine.wallClock)
        #expect(blind.update == .write(bob))
        machine.answer(.read, .found(carol))
        machine.storeAnswered(
            .write, .init(decision: blind, snapshot: .init(reading: .unavailable(failure)), failure: failure),
            at: .test())
        machine.storeAnsweredLate(.write, blind, .init(reading: .found(bob)))
        #expect(machine.currentRecord?.id == bob.id)
        #expect(machine.needs(.write))
        #expect(!machine.answer(.end, .found(bob)).ends)
        guard case .write(let raised) = machine.answer(.write, .found(bob)) else {
            Issue.record("the session is not written again")
            return
        }
        #expect(raised.id == bob.id && raised.generation > carol.generation)
        #expect(!machine.needs(.write) && !machine.needs(.end))
        machine.answer(.read, .found(raised))
        #expect(machine.currentRecord?.id == bob.id)
    }

    @Test("a retried write of a record keeps another process's journal") func retryKeepsJournal() {
        var (machine, record) = unsaved()
        record.journal = RefreshJournal(
            startedAt: .distantPast, fingerprint: RefreshJournal.fingerprint(of: record.tokens.refreshToken ?? ""))
        #expect(machine.answer(.write, .found(record)) == .write(record))
    }

    private let failure = StorageError(.unreachable, "full")

    private func signedIn() -> SessionStateMachine {
        .restored(StoredSession(id: SessionID(), tokens: .fresh(1)), sharesStore: true)
    }

    /// A machine after a sign-in whose write was reported as failed.
    private func unsaved() -> (SessionStateMachine, StoredSession) {
        var machine = SessionStateMachine(policy: SessionPolicy(), sharesStore: true)
        let record = StoredSession(id: SessionID(), generation: 1, tokens: .fresh(1))
        machine.signedIn(record, deadlines: nil, by: 1)
        machine.answer(.write, .unavailable(failure), failure: failure)
        _ = machine.takeActions()
        return (machine, record)
    }

    @Test("a sign-in replaces an earlier one of its process that was written late and at a higher position")
    func writtenHigher() async throws {
        let (time, isSlow) = (ManualTimeSource(), Locked(true))
        let disk = SimulatedDisk(time: time) { process, operation in
            guard process == "one", operation == .update, isSlow.withLock({ $0 }) else { return .init() }
            return .init(before: .milliseconds(500), after: .seconds(11))
        }
        let (one, other) = (App(store: disk.open("one"), time: time), App(store: disk.open("other"), time: time))
        let ada = Task { try await one.tokens.signIn(with: one.backend.issue()) }
        await time.waitForSleepers(2)
        time.advance(by: .milliseconds(30))
        // One's clock has placed Ada below this user, so her record takes a higher place when it is written.
        try await other.tokens.signIn(with: other.backend.issue())
        time.advance(by: .milliseconds(470))
        let bob = Task { try await one.tokens.signIn(with: one.backend.issue()) }
        await #expect(throws: SessionError.sessionChanged) { try await ada.value }
        // Bob's limit, and the write of Ada's record.
        await time.waitForSleepers(2, for: .seconds(10))
        time.advance(by: .seconds(10))
        let session = try await bob.value
        #expect(!session.isSaved)
        isSlow.withLock { $0 = false }
        time.advance(by: .seconds(2))
        await one.tokens.flushStore()
        time.advance(by: .seconds(60))
        await one.tokens.flushStore()
        #expect(disk.record?.id == session.id)
        guard case .signedIn(let current) = one.tokens.state else {
            Issue.record("the state is \(one.tokens.state)")
            return
        }
        #expect(current.id == session.id)
    }
}
