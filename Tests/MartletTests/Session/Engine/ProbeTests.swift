import Foundation
import Testing

@testable import Martlet

@Suite("Probes of a rejected token", .timeLimit(.minutes(10))) struct ProbeTests {
    @Test("a caller that waits because of another's rejection schedules one probe, and goes out with it")
    func oneProbe() {
        var (machine, record) = rejected()
        for waiter in 2...4 { #expect(machine.tokenRequested(.mayProbe, by: waiter, at: .zero) == .wait) }
        #expect(machine.takeActions().filter { $0 == .probe(at: .seconds(1)) }.count == 1)
        machine.probeDue(at: .seconds(1))
        #expect(
            machine.takeActions() == [
                .emit(.tokenProbed(record.stamp)), .resume([2], .token(probe(record, by: 2))),
                .probe(at: .seconds(2)),
            ])
        #expect(machine.cachedCredential == nil && !machine.isUsable(record.stamp))
        #expect(machine.mayProbe(record.stamp, by: 2, at: .seconds(1)))
    }

    @Test("when a probe is accepted, all bystanders ask again, and the rejected caller waits for the refresh")
    func accepted() {
        var (machine, record) = rejected()
        for waiter in 2...4 { _ = machine.tokenRequested(.mayProbe, by: waiter, at: .zero) }
        machine.probeDue(at: .seconds(1))
        _ = machine.takeActions()
        machine.tokenAccepted(record.stamp, .probe(2))
        #expect(machine.takeActions() == [.resume([3, 4], .askAgain)])
        #expect(machine.waiters == [1])
        #expect(machine.tokenRequested(by: 3, at: .seconds(1)) == .token(credential(record)))
        #expect(machine.cachedCredential != nil)
    }

    @Test("after an accepted probe, a further rejection concerns only its own call until the refresh ends")
    func disputed() {
        var (machine, record) = rejected()
        _ = machine.tokenRequested(.mayProbe, by: 2, at: .zero)
        machine.probeDue(at: .seconds(1))
        machine.tokenAccepted(record.stamp, .probe(2))
        machine.tokenRejected(record.stamp, at: .seconds(2))
        #expect(machine.tokenRejected(record.stamp, reportedBy: 5, at: .seconds(2)) == .wait)
        #expect(machine.tokenRequested(by: 6, at: .seconds(2)) == .token(credential(record)))
    }

    @Test("only a probe's acceptance counts: an earlier request may have been answered before the rejection")
    func otherAcceptances() {
        var (machine, record) = rejected()
        _ = machine.tokenRequested(.mayProbe, by: 2, at: .zero)
        machine.tokenAccepted(record.stamp, .first)
        machine.tokenAccepted(record.stamp, .probe(2))
        #expect(machine.tokenRequested(by: 3, at: .zero) == .wait)
    }

    @Test("a token is not probed after its stated expiry") func expired() {
        let deadlines = TokenDeadlines(
            obtainedAt: .zero, remaining: .seconds(10), lifetime: .seconds(10), policy: SessionPolicy(), jitter: 0)
        var (machine, record) = rejected(deadlines, at: .milliseconds(9500))
        #expect(machine.tokenRequested(.mayProbe, by: 2, at: .milliseconds(9500)) == .wait)
        _ = machine.takeActions()
        machine.probeDue(at: .milliseconds(10_500))
        #expect(machine.takeActions().isEmpty)
        #expect(machine.waiters == [1, 2])
        #expect(!machine.mayProbe(record.stamp, by: 2, at: .seconds(10)))
    }

    @Test("a caller that cannot report the server's response waits, and a cancelled one is not sent")
    func notProbers() {
        var (machine, record) = rejected()
        #expect(machine.tokenRequested(by: 2, at: .zero) == .wait)
        #expect(!machine.takeActions().contains(.probe(at: .seconds(1))))
        _ = machine.tokenRequested(.mayProbe, by: 3, at: .zero)
        _ = machine.tokenRequested(.mayProbe, by: 4, at: .zero)
        let isCancelled = machine.waiterCancelled(3)
        #expect(isCancelled)
        _ = machine.takeActions()
        machine.probeDue(at: .seconds(1))
        #expect(machine.takeActions().contains(.resume([4], .token(probe(record, by: 4)))))
    }

    @Test("when the refresh fails, all waiters get its failure, and the token is in use again") func failed() {
        var (machine, record) = rejected()
        _ = machine.tokenRequested(.mayProbe, by: 2, at: .zero)
        guard let job = machine.takeRefresh() else {
            Issue.record("no refresh was started")
            return
        }
        #expect(machine.answer(preparing: job, .found(record)) == .send)
        let failure = RefreshError(.status(503), description: "")
        _ = machine.refreshFinished(job, .transient(failure), at: .zero, jitter: 1)
        #expect(machine.takeActions().contains(.resume([1, 2], .failure(.refreshFailed(failure)))))
        machine.probeDue(at: .seconds(1))
        #expect(machine.takeActions().isEmpty)
        #expect(machine.tokenRequested(by: 3, at: .seconds(1)) == .token(credential(record, isUnproven: true)))
    }

    @Test("a probe that has waited until the token was rejected again after a failed refresh is not sent")
    func rejectedAgain() {
        var (machine, record) = rejected()
        _ = machine.tokenRequested(.mayProbe, by: 2, at: .zero)
        guard let job = machine.takeRefresh() else {
            Issue.record("no refresh was started")
            return
        }
        machine.probeDue(at: .seconds(1))
        #expect(machine.mayProbe(record.stamp, by: 2, at: .seconds(1)))
        #expect(machine.answer(preparing: job, .found(record)) == .send)
        let failure = RefreshError(.status(503), description: "")
        _ = machine.refreshFinished(job, .transient(failure), at: .seconds(1), jitter: 0)
        #expect(machine.mayProbe(record.stamp, by: 2, at: .seconds(1)))
        #expect(machine.tokenRejected(record.stamp, reportedBy: 3, at: .seconds(60)) == .wait)
        #expect(!machine.mayProbe(record.stamp, by: 2, at: .seconds(60)))
    }

    @Test("an opaque token's refresh counts as wasteful unless a call that was rejected before it is then accepted")
    func provisionalWaste() {
        for isHelpful in [true, false] {
            var (machine, record) = rejected(isAccepted: true)
            guard let job = machine.takeRefresh() else {
                Issue.record("no refresh was started")
                return
            }
            #expect(machine.answer(preparing: job, .found(record)) == .send)
            let next = Tokens(accessToken: "a2", refreshToken: "r2")
            _ = machine.refreshFinished(job, .success(next, nil, estimatedExpiry: nil), at: .zero, jitter: 0)
            machine.answer(.write, .found(record))
            #expect(machine.session?.wastefulRefreshes.count == 1)
            let stamp = record.renewed(rotation: 1, next).stamp
            machine.tokenAccepted(stamp, isHelpful ? .replay(after: record.stamp) : .first)
            #expect(machine.session?.wastefulRefreshes.count == (isHelpful ? 0 : 1))
        }
    }

    /// A machine whose token was rejected for the caller 1, which waits for the refresh.
    private func rejected(
        _ deadlines: TokenDeadlines? = nil, isAccepted: Bool = false, at now: Duration = .zero
    ) -> (SessionStateMachine, StoredSession) {
        let tokens = Tokens(accessToken: "a1", refreshToken: "r1")
        let record = StoredSession(id: SessionID(), tokens: tokens)
        var machine = SessionStateMachine.restored(record, deadlines: deadlines)
        if isAccepted { machine.tokenAccepted(record.stamp, .first) }
        machine.tokenRejected(record.stamp, at: now)
        #expect(machine.tokenRejected(record.stamp, reportedBy: 1, at: now) == .wait)
        return (machine, record)
    }

    private func credential(_ record: StoredSession, isUnproven: Bool = false) -> Credential {
        Credential(stamp: record.stamp, accessToken: record.tokens.accessToken, isUnproven: isUnproven)
    }

    private func probe(_ record: StoredSession, by waiter: Int) -> Credential {
        Credential(stamp: record.stamp, accessToken: record.tokens.accessToken, isUnproven: true, prober: waiter)
    }
}
