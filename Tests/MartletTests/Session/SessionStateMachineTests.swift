import Foundation
import Testing

@testable import Martlet

@Suite("The session's state machine") struct SessionStateMachineTests {
    @Test("reads the store once, however many ask") func load() {
        var machine = SessionStateMachine(policy: SessionPolicy())
        #expect(machine.tokenAsked(by: 1, at: .zero) == .wait)
        #expect(machine.tokenAsked(by: 2, at: .zero) == .wait)
        #expect(machine.takeActions() == [.load])
        machine.loaded(.init(reading: .empty))
        #expect(machine.takeActions() == [.emit(.restored(nil)), .resume([1, 2], .askAgain)])
        #expect(machine.tokenAsked(by: 3, at: .zero) == .failure(.signedOut))
    }

    @Test("shows nobody a new sign-in before it is stored") func signInIsDurableFirst() {
        var machine = SessionStateMachine(policy: SessionPolicy())
        let record = StoredSession(id: SessionID(), bundle: .pair(1))
        machine.signedIn(record, life: nil, by: 1)
        let order = saveOrder(in: machine.takeActions())
        #expect(machine.visibleState(at: .zero) == nil)
        #expect(machine.hotCredential == nil)
        #expect(machine.tokenAsked(by: 2, at: .zero) == .wait)
        store(order, &machine)
        #expect(machine.takeActions().contains(.resume([1, 2], .token(credential(record)))))
        #expect(machine.visibleState(at: .zero)?.isSignedIn == true)
    }

    @Test("shows nobody a rotated token before it is stored") func rotationIsDurableFirst() {
        var (machine, record) = signedIn()
        let order = sentOrder(in: reject(&machine, record, waiter: 7), &machine)
        _ = machine.refreshFinished(order, .success(.pair(2), nil, freshUntil: nil), at: .zero, jitter: 0)
        let actions = machine.takeActions()
        #expect(!actions.contains { if case .resume = $0 { true } else { false } })
        #expect(machine.tokenAsked(by: 8, at: .zero) == .wait)
        store(saveOrder(in: actions), &machine)
        var next = record
        next.rotation = 1
        next.bundle = .pair(2)
        #expect(machine.takeActions().contains(.resume([7, 8], .token(credential(next)))))
    }

    @Test("starts one refresh for one rotation") func oneRefresh() {
        var (machine, record) = signedIn()
        let first = reject(&machine, record, waiter: 1)
        #expect(first.contains { if case .refresh = $0 { true } else { false } })
        for waiter in 2..<50 {
            let actions = reject(&machine, record, waiter: waiter)
            #expect(!actions.contains { if case .refresh = $0 { true } else { false } })
        }
    }

    @Test("answers a late refusal of an older rotation with the newer token") func lateRefusal() {
        var (machine, record) = signedIn()
        let order = sentOrder(in: reject(&machine, record, waiter: 1), &machine)
        _ = machine.refreshFinished(order, .success(.pair(2), nil, freshUntil: nil), at: .zero, jitter: 0)
        store(saveOrder(in: machine.takeActions()), &machine)
        _ = machine.takeActions()
        guard case .token(let credential) = machine.tokenRejected(record.stamp, reportedBy: 2, at: .zero) else {
            Issue.record("the newer token should be handed out")
            return
        }
        #expect(credential.stamp.rotation == 1)
        #expect(machine.takeActions().isEmpty)
    }

    @Test("throws away a result that comes after signing out, and takes the tokens back") func lateResult() {
        var (machine, record) = signedIn()
        let order = sentOrder(in: reject(&machine, record, waiter: 1), &machine)
        machine.signedOut()
        #expect(machine.takeActions().contains(.resume([1], .failure(.signedOut))))
        _ = machine.refreshFinished(order, .success(.pair(2), nil, freshUntil: nil), at: .zero, jitter: 0)
        #expect(
            machine.takeActions() == [.emit(.refreshDiscarded(record.stamp, .signedOut)), .revoke(.pair(2))])
        #expect(machine.visibleState(at: .zero) == .signedOut)
    }

    @Test("leaves a new session alone when the former one's refresh is refused") func lateRejection() {
        var (machine, record) = signedIn()
        let order = sentOrder(in: reject(&machine, record, waiter: 1), &machine)
        let other = StoredSession(id: SessionID(), bundle: .pair(5))
        machine.signedIn(other, life: nil, by: 2)
        let actions = machine.takeActions()
        #expect(actions.contains(.resume([1], .failure(.sessionChanged))))
        store(saveOrder(in: actions), &machine)
        _ = machine.refreshFinished(
            order, .terminal(.refreshTokenRejected(code: "invalid_grant")), at: .zero, jitter: 0)
        #expect(machine.currentRecord == other)
        #expect(machine.tokenRejected(record.stamp, reportedBy: 3, at: .zero) == .failure(.sessionChanged))
    }

    @Test("cools down longer with each failure, and hands out the failure meanwhile") func coolDown() {
        var (machine, record) = signedIn()
        var now = Duration.zero
        for expected in [1, 2, 4, 8] {
            let order = sentOrder(in: reject(&machine, record, waiter: 1, at: now), &machine, at: now)
            _ = machine.refreshFinished(
                order, .transient(RefreshFailure(.offline, description: "")), at: now, jitter: 1)
            let failed = machine.takeActions().contains {
                if case .emit(.refreshFailed(_, _, coolDown: .seconds(expected))) = $0 { true } else { false }
            }
            #expect(failed)
            guard case .failure(.refreshFailed) = machine.tokenAsked(by: 2, at: now + .milliseconds(999)) else {
                Issue.record("inside the cool-down the failure is the answer")
                return
            }
            now += .seconds(expected)
        }
    }

    @Test("tells whoever forced a refresh that it failed, and hands others the token that is still good")
    func forcedRefreshFails() {
        var (machine, record) = signedIn()
        #expect(machine.refreshForced(by: 1, at: .zero) == .wait)
        let order = sentOrder(in: machine.takeActions(), &machine)
        let failure = RefreshFailure(.offline, description: "")
        _ = machine.refreshFinished(order, .transient(failure), at: .zero, jitter: 0)
        #expect(machine.takeActions().contains(.resume([1], .failure(.refreshFailed(failure)))))
        #expect(machine.tokenAsked(by: 2, at: .zero) == .token(credential(record)))
    }

    @Test("without a refresh token, a refusal ends the session") func noRefreshToken() {
        var (machine, record) = signedIn(TokenBundle(accessToken: "only"))
        #expect(
            machine.tokenRejected(record.stamp, reportedBy: 1, at: .zero) == .failure(.expired(.noRefreshToken)))
        #expect(
            machine.takeActions() == [
                .emit(.expired(record.id, .noRefreshToken)),
                .delete(.init(id: 1, scope: .refused(record), sparesUnreadable: true)),
            ])
    }

    @Test("without a refresh token, an old token is for the server to judge") func noRefreshTokenExpired() {
        let life = TokenLife(
            obtainedAt: .zero, lasting: .seconds(60), lifetime: .seconds(60), policy: SessionPolicy(), jitter: 0)
        var (machine, record) = signedIn(TokenBundle(accessToken: "only"), life: life)
        #expect(machine.tokenAsked(by: 1, at: .seconds(500)) == .token(credential(record)))
        #expect(machine.takeActions().isEmpty)
    }

    @Test("answers each waiter once, and a cancelled one not at all") func cancelledWaiter() {
        var (machine, record) = signedIn()
        let order = sentOrder(in: reject(&machine, record, waiter: 1), &machine)
        _ = reject(&machine, record, waiter: 2)
        let wasWaiting = machine.waiterCancelled(1)
        let isWaitingStill = machine.waiterCancelled(1)
        #expect(wasWaiting && !isWaitingStill)
        let reason = ExpiryReason.refreshTokenRejected(code: nil)
        _ = machine.refreshFinished(order, .terminal(reason), at: .zero, jitter: 0)
        machine.condemned(order, over: .init(reading: .found(record)), failure: nil)
        #expect(machine.takeActions().contains(.resume([2], .failure(.expired(reason)))))
        let isTwoWaitingStill = machine.waiterCancelled(2)
        #expect(!isTwoWaitingStill)
    }

    @Test("tries a failed write again, further and further apart") func saveRetries() {
        var (machine, record) = signedIn()
        let order = sentOrder(in: reject(&machine, record, waiter: 1), &machine)
        _ = machine.refreshFinished(order, .success(.pair(2), nil, freshUntil: nil), at: .zero, jitter: 0)
        var save = saveOrder(in: machine.takeActions())
        for expected in [1, 2, 4] {
            machine.saved(
                save, over: .init(reading: .found(record)), failure: StorageFailure(.unreachable, "full"))
            #expect(machine.takeActions().contains(.retrySave(after: .seconds(expected))))
            machine.saveRetryDue()
            save = saveOrder(in: machine.takeActions())
        }
        store(save, &machine)
        #expect(machine.takeActions() == [.emit(.storeRecovered(SessionStamp(session: record.id, rotation: 1)))])
    }

    @Test("doubts a pair that was bought with a token which may have been sent before: what was lost may come later")
    func doubtfulPair() {
        for (grace, isDoubted) in [(Duration.zero, true), (.seconds(60), false)] {
            var (machine, record) = signedIn(grace: grace, isCutShort: true)
            let bought = buy(&machine, record, waiter: 1)
            #expect(bought.journal?.isInherited == (isDoubted ? true : nil))
            #expect((bought.doubt != nil) == isDoubted)
            // That is over with the next one, which was bought with a token that was sent once.
            #expect(buy(&machine, bought, waiter: 2).journal == nil)
        }
    }

    @Test("blames a lost answer for the end of a session whose token had been sent twice") func endOfDoubtfulPair() {
        var (machine, record) = signedIn(isCutShort: true)
        let bought = buy(&machine, record, waiter: 1)
        let order = sentOrder(in: reject(&machine, bought, waiter: 2), &machine)
        _ = machine.refreshFinished(
            order, .terminal(.refreshTokenRejected(code: "invalid_grant")), at: .zero, jitter: 0)
        machine.condemned(order, over: .init(reading: .found(bought)), failure: nil)
        #expect(machine.state == .expired(.rotationLost, record.id))
    }

    // MARK: - Setup

    /// Renews the tokens, well after the last try.
    private func buy(_ machine: inout SessionStateMachine, _ record: StoredSession, waiter: Int) -> StoredSession {
        let now = Duration.seconds(3600 * waiter)
        let order = sentOrder(in: reject(&machine, record, waiter: waiter, at: now), &machine, at: now)
        _ = machine.refreshFinished(
            order, .success(.pair(record.rotation + 2), nil, freshUntil: nil), at: now, jitter: 0)
        let save = saveOrder(in: machine.takeActions())
        store(save, &machine)
        _ = machine.takeActions()
        return save.record
    }

    private func signedIn(
        _ bundle: TokenBundle = .pair(1), life: TokenLife? = nil, grace: Duration = .zero,
        isCutShort: Bool = false
    ) -> (SessionStateMachine, StoredSession) {
        var policy = SessionPolicy()
        policy.rotationGrace = grace
        var machine = SessionStateMachine(policy: policy)
        var record = StoredSession(id: SessionID(), bundle: bundle)
        if isCutShort { record.journal = journal(of: record) }
        _ = machine.tokenAsked(by: 0, at: .zero)
        machine.loaded(.init(reading: .found(record), life: life))
        _ = machine.takeActions()
        return (machine, record)
    }

    private func reject(
        _ machine: inout SessionStateMachine, _ record: StoredSession, waiter: Int, at now: Duration = .zero
    ) -> [SessionStateMachine.Action] {
        #expect(machine.tokenRejected(record.stamp, reportedBy: waiter, at: now) == .wait)
        return machine.takeActions()
    }

    private func credential(_ record: StoredSession) -> Credential {
        Credential(stamp: record.stamp, accessToken: record.bundle.accessToken)
    }

    /// The order of a refresh whose token has been sent.
    private func sentOrder(
        in actions: [SessionStateMachine.Action], _ machine: inout SessionStateMachine, at now: Duration = .zero
    ) -> SessionStateMachine.RefreshOrder {
        for case .refresh(let order) in actions {
            let isToBeSent = machine.prepared(
                order, over: .init(reading: .found(order.record)), journal: journal(of: order.record), failure: nil,
                at: now, jitter: 0)
            #expect(isToBeSent)
            return order
        }
        Issue.record("no refresh was started")
        return SessionStateMachine.RefreshOrder(
            id: -1, record: StoredSession(id: SessionID(), bundle: .pair(0)), isStored: true)
    }

    private func journal(of record: StoredSession) -> RefreshJournal {
        RefreshJournal(
            startedAt: Date(timeIntervalSince1970: 0),
            fingerprint: RefreshJournal.fingerprint(of: record.bundle.refreshToken ?? "none"))
    }

    private func saveOrder(in actions: [SessionStateMachine.Action]) -> SessionStateMachine.SaveOrder {
        for case .save(let order) in actions { return order }
        Issue.record("nothing was saved")
        return SessionStateMachine.SaveOrder(
            id: -1, record: StoredSession(id: SessionID(), bundle: .pair(0)), life: nil, isStored: true)
    }

    /// The store has written the record over an older one.
    private func store(_ order: SessionStateMachine.SaveOrder, _ machine: inout SessionStateMachine) {
        var older = order.record
        older.rotation -= 1
        machine.saved(order, over: .init(reading: .found(older)), failure: nil)
    }
}

extension TokenBundle {
    fileprivate static func pair(_ number: Int) -> TokenBundle {
        TokenBundle(accessToken: Secret("a\(number)"), refreshToken: Secret("r\(number)"))
    }
}
