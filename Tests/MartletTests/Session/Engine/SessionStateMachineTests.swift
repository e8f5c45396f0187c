import Foundation
import Testing

@testable import Martlet

@Suite("The session state machine", .timeLimit(.minutes(10))) struct SessionStateMachineTests {
    @Test("the store is read once for several callers") func load() {
        var machine = SessionStateMachine(policy: SessionPolicy())
        #expect(machine.tokenRequested(by: 1, at: .zero) == .wait)
        #expect(machine.tokenRequested(by: 2, at: .zero) == .wait)
        #expect(machine.takeActions() == [.store(.read)])
        machine.answer(.read, .empty)
        #expect(machine.takeActions() == [.emit(.restored(nil)), .resume([1, 2], .askAgain)])
        #expect(machine.tokenRequested(by: 3, at: .zero) == .failure(.signedOut))
    }

    @Test("a new sign-in becomes visible only after it is stored") func signInIsDurableFirst() {
        var machine = SessionStateMachine(policy: SessionPolicy())
        let record = StoredSession(id: SessionID(), tokens: .pair(1))
        machine.signedIn(record, deadlines: nil, by: 1)
        #expect(machine.takeActions().contains(.store(.write)))
        #expect(machine.visibleState(at: .zero) == nil)
        #expect(machine.cachedCredential == nil)
        #expect(machine.tokenRequested(by: 2, at: .zero) == .failure(.sessionChanged))
        #expect(machine.answer(.write, .empty) == .write(record))
        #expect(machine.takeActions().contains(.resume([1], .token(credential(record)))))
        #expect(machine.visibleState(at: .zero)?.isSignedIn == true)
    }

    @Test("a rotated token becomes visible only after it is stored") func rotationIsDurableFirst() {
        var (machine, record) = signedIn()
        let job = sentJob(in: reject(&machine, record, waiter: 7), &machine)
        _ = machine.refreshFinished(job, .success(.pair(2), nil, estimatedExpiry: nil), at: .zero, jitter: 0)
        let actions = machine.takeActions()
        #expect(!actions.contains { if case .resume = $0 { true } else { false } })
        #expect(machine.tokenRequested(by: 8, at: .zero) == .wait)
        machine.answer(.write, .found(record))
        let next = record.renewed(rotation: 1, .pair(2))
        #expect(machine.takeActions().contains(.resume([7, 8], .token(credential(next)))))
    }

    @Test("one rotation starts one refresh") func oneRefresh() {
        var (machine, record) = signedIn()
        let first = reject(&machine, record, waiter: 1)
        #expect(first.contains { if case .refresh = $0 { true } else { false } })
        for waiter in 2..<50 {
            let actions = reject(&machine, record, waiter: waiter)
            #expect(!actions.contains { if case .refresh = $0 { true } else { false } })
        }
    }

    @Test("as soon as a rejection is reported, callers wait for the next token") func reported() {
        var (machine, record) = signedIn()
        machine.tokenRejected(record.stamp, at: .zero)
        #expect(machine.cachedCredential == nil && !machine.isUsable(record.stamp))
        #expect(machine.tokenRequested(by: 1, at: .zero) == .wait)
    }

    @Test("a caller that reports the rejection of an older token gets the newer one") func lateReport() {
        var (machine, record) = signedIn()
        let job = sentJob(in: reject(&machine, record, waiter: 1), &machine)
        _ = machine.refreshFinished(job, .success(.pair(2), nil, estimatedExpiry: nil), at: .zero, jitter: 0)
        machine.answer(.write, .found(record))
        _ = machine.takeActions()
        guard case .token(let credential) = machine.tokenRejected(record.stamp, reportedBy: 2, at: .zero) else {
            Issue.record("the newer token was not handed out")
            return
        }
        #expect(credential.stamp.rotation == 1)
        #expect(machine.takeActions().isEmpty)
    }

    @Test("a refresh result that arrives after a sign-out is discarded and revoked") func lateResult() {
        var (machine, record) = signedIn()
        let job = sentJob(in: reject(&machine, record, waiter: 1), &machine)
        machine.signedOut(at: SessionStateMachine.wallClock)
        #expect(machine.takeActions().contains(.resume([1], .failure(.signedOut))))
        _ = machine.refreshFinished(job, .success(.pair(2), nil, estimatedExpiry: nil), at: .zero, jitter: 0)
        #expect(
            machine.takeActions() == [
                .emit(.refreshDiscarded(record.stamp)), .revoke(.pair(2), expiresAt: nil),
            ])
        #expect(machine.visibleState(at: .zero) == .signedOut)
    }

    @Test("a rejected refresh of the former session does not affect the new session") func lateRejection() {
        var (machine, record) = signedIn()
        let job = sentJob(in: reject(&machine, record, waiter: 1), &machine)
        let other = StoredSession(id: SessionID(), generation: 1, tokens: .pair(5))
        machine.signedIn(other, deadlines: nil, by: 2)
        let actions = machine.takeActions()
        #expect(actions.contains(.resume([1], .failure(.sessionChanged))))
        machine.answer(.write, .found(record))
        _ = machine.refreshFinished(
            job, .terminal(.refreshTokenRejected(code: "invalid_grant")), at: .zero, jitter: 0)
        #expect(machine.currentRecord == other)
        #expect(machine.tokenRejected(record.stamp, reportedBy: 3, at: .zero) == .failure(.sessionChanged))
    }

    @Test("the backoff grows with each failure, and callers get the error until it is over") func backoff() {
        var (machine, record) = signedIn()
        var now = Duration.zero
        for expected in [1, 2, 4, 8] {
            let job = sentJob(in: reject(&machine, record, waiter: 1, at: now), &machine, at: now)
            _ = machine.refreshFinished(
                job, .transient(RefreshError(.status(500), description: "")), at: now, jitter: 1)
            let failed = machine.takeActions().contains {
                if case .emit(.refreshFailed(_, _, backoff: .seconds(expected))) = $0 { true } else { false }
            }
            #expect(failed)
            let later = now + .milliseconds(999)
            guard case .failure(.refreshFailed) = machine.tokenRejected(record.stamp, reportedBy: 2, at: later) else {
                Issue.record("a caller did not get the error during the backoff")
                return
            }
            #expect(machine.tokenRequested(by: 3, at: later) == .token(credential(record)))
            #expect(machine.takeActions() == [])
            now += .seconds(expected)
        }
    }

    @Test("a refresh beyond the budget is not started, and the event says so") func budget() {
        var (machine, record) = signedIn()
        for _ in 1...5 { record = rotate(&machine, record, waiter: 1, at: .seconds(100)) }
        let error = RefreshError(
            .tooManyRefreshes, retryAfter: .seconds(20),
            description: "the session has used its budget of 5 early refreshes within 30 s")
        let reply = machine.tokenRejected(record.stamp, reportedBy: 2, at: .seconds(110))
        #expect(reply == .failure(.refreshFailed(error)))
        #expect(machine.takeActions() == [.emit(.refreshBudgetExceeded(record.stamp))])
        #expect(machine.refreshForced(by: 3, at: .seconds(130)) == .wait)
    }

    @Test("a caller that forced a refresh gets its error, and others get the token that is still valid")
    func forcedRefreshFails() {
        var (machine, record) = signedIn()
        #expect(machine.refreshForced(by: 1, at: .zero) == .wait)
        let job = sentJob(in: machine.takeActions(), &machine)
        let failure = RefreshError(.offline, description: "")
        _ = machine.refreshFinished(job, .transient(failure), at: .zero, jitter: 0)
        #expect(machine.takeActions().contains(.resume([1], .failure(.refreshFailed(failure)))))
        #expect(machine.tokenRequested(by: 2, at: .zero) == .token(credential(record)))
    }

    @Test("a caller whose refresh has failed is told if its session has expired by then") func expiredSinceFailure() {
        var (machine, record) = signedIn(Tokens(accessToken: "only"))
        let owner = machine.callOwner
        let failure = RefreshError(.offline, description: "")
        #expect(machine.credential(despite: failure, for: owner, at: .zero) == .success(credential(record)))
        _ = machine.tokenRejected(record.stamp, reportedBy: 1, at: .zero)
        #expect(machine.credential(despite: failure, for: owner, at: .zero) == .failure(.expired(.noRefreshToken)))
    }

    @Test("without a refresh token, a forced refresh fails") func nothingToRefreshWith() {
        var (machine, record) = signedIn(Tokens(accessToken: "only"))
        let error = RefreshError(.refresher, description: "there is no refresh token")
        #expect(machine.refreshForced(by: 1, at: .zero) == .failure(.refreshFailed(error)))
        #expect(machine.takeActions() == [])
        #expect(machine.tokenRequested(by: 2, at: .zero) == .token(credential(record)))
    }

    @Test("without a refresh token, a rejection ends the session") func noRefreshToken() {
        var (machine, record) = signedIn(Tokens(accessToken: "only"))
        #expect(
            machine.tokenRejected(record.stamp, reportedBy: 1, at: .zero) == .failure(.expired(.noRefreshToken)))
        #expect(
            machine.takeActions() == [
                .emit(.expired(record.id, .noRefreshToken)),
                .store(.end),
            ])
        #expect(machine.answer(.end, .found(record)).ends)
    }

    @Test(
        "without a refresh token, an expired token is still sent, and the server decides") func noRefreshTokenExpired()
    {
        let deadlines = TokenDeadlines(
            obtainedAt: .zero, remaining: .seconds(60), lifetime: .seconds(60), policy: SessionPolicy(), jitter: 0)
        var (machine, record) = signedIn(Tokens(accessToken: "only"), deadlines: deadlines)
        #expect(machine.tokenRequested(by: 1, at: .seconds(500)) == .token(credential(record, isUnproven: false)))
        #expect(machine.takeActions().isEmpty)
    }

    @Test("each waiter is resumed once, and a cancelled one not at all") func cancelledWaiter() {
        var (machine, record) = signedIn()
        let job = sentJob(in: reject(&machine, record, waiter: 1), &machine)
        _ = reject(&machine, record, waiter: 2)
        let wasWaiting = machine.waiterCancelled(1)
        let isWaitingStill = machine.waiterCancelled(1)
        #expect(wasWaiting && !isWaitingStill)
        let reason = ExpiryReason.refreshTokenRejected(code: nil)
        _ = machine.refreshFinished(job, .terminal(reason), at: .zero, jitter: 0)
        #expect(machine.answer(.confirmExpiry, .found(record)).ends)
        #expect(machine.takeActions().contains(.resume([2], .failure(.expired(reason)))))
        let isTwoWaitingStill = machine.waiterCancelled(2)
        #expect(!isTwoWaitingStill)
    }

    @Test("a failed write is retried with growing delays") func saveRetries() {
        var (machine, record) = signedIn()
        let job = sentJob(in: reject(&machine, record, waiter: 1), &machine)
        _ = machine.refreshFinished(job, .success(.pair(2), nil, estimatedExpiry: nil), at: .zero, jitter: 0)
        for expected in [1, 2, 4] {
            machine.answer(.write, .found(record), failure: StorageError(.unreachable, "full"))
            #expect(machine.takeActions().contains(.retryStore(after: .seconds(expected), hasWork: true)))
            machine.storeRetryDue()
            #expect(machine.takeActions() == [.store(.write)])
        }
        machine.answer(.write, .found(record))
        #expect(machine.takeActions() == [.emit(.storeRecovered(SessionStamp(session: record.id, rotation: 1)))])
    }

    @Test("a token that may have been sent before is in doubt until the server answers") func tokenInDoubt() {
        var (machine, record) = signedIn(isInterrupted: true)
        #expect(record.unresolvedJournal != nil)
        #expect(rotate(&machine, record, waiter: 1).journal == nil)
    }

    @Test("the rejection of a token that may have been sent before is reported as rotationLost")
    func rejectionInDoubt() {
        var (machine, record) = signedIn(isInterrupted: true)
        let job = sentJob(in: reject(&machine, record, waiter: 2), &machine)
        _ = machine.refreshFinished(
            job, .terminal(.refreshTokenRejected(code: "invalid_grant")), at: .zero, jitter: 0)
        machine.answer(.confirmExpiry, .found(record))
        #expect(machine.absence == .expired(.rotationLost, record.id))
    }

    @Test("a journal that was read counts only while it is stored: its process removes it if it has sent nothing")
    func removedJournal() {
        for isRemoved in [false, true] {
            var (machine, record) = signedIn(isInterrupted: true)
            var found = record
            if isRemoved { found.journal = nil }
            for case .refresh(let job) in reject(&machine, record, waiter: 2) {
                #expect(machine.answer(preparing: job, .found(found)) == .send)
                _ = machine.refreshFinished(job, .terminal(.refreshTokenRejected(code: nil)), at: .zero, jitter: 0)
            }
            machine.answer(.confirmExpiry, .found(found))
            let reason = isRemoved ? ExpiryReason.refreshTokenRejected(code: nil) : .rotationLost
            #expect(machine.absence == .expired(reason, record.id))
        }
    }

    @Test("so does a journal that came with another process's tokens") func removedJournalOfAdopted() {
        var machine = SessionStateMachine.restored(StoredSession(id: SessionID(), tokens: .pair(1)), sharesStore: true)
        let found =
            machine.currentRecord?.renewed(rotation: 1, .pair(2))
            ?? StoredSession(
                id: SessionID(), tokens: .pair(2))
        var journaled = found
        journaled.journal = RefreshJournal(of: found, sentAt: SessionStateMachine.wallClock)
        machine.answer(.read, .found(journaled))
        _ = machine.takeActions()
        for case .refresh(let job) in reject(&machine, found, waiter: 2) {
            #expect(machine.answer(preparing: job, .found(found)) == .send)
            _ = machine.refreshFinished(job, .terminal(.refreshTokenRejected(code: nil)), at: .zero, jitter: 0)
        }
        machine.answer(.confirmExpiry, .found(found))
        #expect(machine.absence == .expired(.refreshTokenRejected(code: nil), found.id))
    }

    @Test("after a rejected token had been replaced by another process, a rejection of its tokens is rotationLost")
    func rejectionAfterReuse() {
        var (machine, record) = signedIn()
        let newer = record.renewed(rotation: 1, .pair(2))
        let refused = SessionStateMachine.RefreshOutcome.terminal(.refreshTokenRejected(code: "invalid_grant"))
        let reused = sentJob(in: reject(&machine, record, waiter: 1), &machine)
        _ = machine.refreshFinished(reused, refused, at: .zero, jitter: 0)
        #expect(machine.answer(.confirmExpiry, .found(newer)) == .keep)

        let job = sentJob(in: reject(&machine, newer, waiter: 2), &machine)
        _ = machine.refreshFinished(job, refused, at: .zero, jitter: 0)
        machine.answer(.confirmExpiry, .found(newer))
        #expect(machine.absence == .expired(.rotationLost, record.id))
    }

    // MARK: - Setup

    private func rotate(
        _ machine: inout SessionStateMachine, _ record: StoredSession, waiter: Int, at now: Duration = .zero
    ) -> StoredSession {
        let job = sentJob(in: reject(&machine, record, waiter: waiter, at: now), &machine, at: now)
        _ = machine.refreshFinished(
            job, .success(.pair(record.rotation + 2), nil, estimatedExpiry: nil), at: now, jitter: 0)
        guard case .write(let next) = machine.answer(.write, .found(record)) else { return record }
        _ = machine.takeActions()
        return next
    }

    private func signedIn(
        _ tokens: Tokens = .pair(1), deadlines: TokenDeadlines? = nil, grace: Duration = .zero,
        isInterrupted: Bool = false
    ) -> (SessionStateMachine, StoredSession) {
        var policy = SessionPolicy()
        policy.rotationGrace = grace
        var record = StoredSession(id: SessionID(), tokens: tokens)
        if isInterrupted { record.journal = RefreshJournal(of: record, sentAt: SessionStateMachine.wallClock) }
        return (.restored(record, deadlines: deadlines, policy: policy), record)
    }

    private func reject(
        _ machine: inout SessionStateMachine, _ record: StoredSession, waiter: Int, at now: Duration = .zero
    ) -> [SessionStateMachine.Action] {
        #expect(machine.tokenRejected(record.stamp, reportedBy: waiter, at: now) == .wait)
        return machine.takeActions()
    }

    private func credential(_ record: StoredSession, isUnproven: Bool = true) -> Credential {
        Credential(stamp: record.stamp, accessToken: record.tokens.accessToken, isUnproven: isUnproven)
    }

    /// The job of a refresh whose token has been sent.
    private func sentJob(
        in actions: [SessionStateMachine.Action], _ machine: inout SessionStateMachine, at now: Duration = .zero
    ) -> SessionStateMachine.RefreshJob {
        for case .refresh(let job) in actions {
            #expect(machine.answer(preparing: job, .found(job.record), at: now) == .send)
            return job
        }
        Issue.record("no refresh was started")
        return SessionStateMachine.RefreshJob(id: -1, record: StoredSession(id: SessionID(), tokens: .pair(0)))
    }
}

extension Tokens {
    fileprivate static func pair(_ number: Int) -> Tokens {
        Tokens(accessToken: Secret("a\(number)"), refreshToken: Secret("r\(number)"))
    }
}
