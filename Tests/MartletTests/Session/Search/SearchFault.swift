@testable import Martlet

/// Something wrong with the machine, so that a test sees the search find it.
struct SearchFault: Sendable {
    typealias Machine = SessionStateMachine

    let name: String
    /// The rules of which one must be found broken.
    let breaks: Set<SearchRule>
    /// Changes what the machine became and asks for.
    let tamper: @Sendable (inout Machine, inout [Machine.Action]) -> Void
}

extension SearchFault {
    static let all = [
        forgetsWaiter, answersTwice, refreshesTwice, confusesSessions, bringsBack, keepsSpentToken, forgetsToRetry,
        showsTooEarly, endsForTrouble, forgetsDoubt, revokesWrongly, neverLoads,
    ]

    private static let forgetsWaiter = Self(name: "forgets a waiter", breaks: [.everyWaiterIsAnsweredOnce]) {
        _, actions in
        actions.removeAll { if case .resume = $0 { true } else { false } }
    }

    private static let answersTwice = Self(name: "answers twice", breaks: [.everyWaiterIsAnsweredOnce]) { _, actions in
        actions += actions.filter { if case .resume = $0 { true } else { false } }
    }

    private static let refreshesTwice = Self(
        name: "refreshes twice for one rotation", breaks: [.oneRefreshPerRotation]
    ) { machine, actions in
        for case .refresh(let order) in actions {
            let another = Machine.RefreshOrder(id: machine.makeID(), record: order.record, isStored: order.isStored)
            actions.append(.refresh(another))
        }
    }

    private static let confusesSessions = Self(
        name: "answers with another session's token", breaks: [.onlyTokensOfTheOwnSession]
    ) { _, actions in
        actions = actions.map { action in
            guard case .resume(let waiters, .token(let credential)) = action else { return action }
            let other = Names.bundle(session: 9, serial: 0).accessToken
            return .resume(waiters, .token(Credential(stamp: credential.stamp, accessToken: other)))
        }
    }

    private static let bringsBack = Self(
        name: "a late answer brings a session back", breaks: [.nobodyIsBroughtBack]
    ) { machine, actions in
        for case .revoke(let bundle) in actions where actions.contains(where: \.isDiscard) {
            let id = Names.session(Names.session(of: bundle))
            machine.state = .signedIn(.init(record: StoredSession(id: id, bundle: bundle)))
            actions = []
        }
    }

    private static let keepsSpentToken = Self(
        name: "goes on with a spent refresh token", breaks: [.noTokenKnownToBeSpentIsSent]
    ) { machine, actions in
        guard case .signedIn(var session) = machine.state, case .saving(let order) = session.phase, order.isStored
        else {
            return
        }
        var record = order.record
        record.bundle.refreshToken = session.record.bundle.refreshToken
        let other = Machine.SaveOrder(id: order.id, record: record, life: order.life, isStored: true)
        session.phase = .saving(other)
        machine.state = .signedIn(session)
        actions = actions.map { $0 == .save(order) ? .save(other) : $0 }
    }

    private static let forgetsToRetry = Self(
        name: "does not write again after a failure", breaks: [.storeAndMemoryAgreeAtRest]
    ) { _, actions in
        actions.removeAll { if case .retrySave = $0 { true } else { false } }
    }

    private static let showsTooEarly = Self(
        name: "shows tokens before they are stored", breaks: [.nothingIsSeenBeforeItIsStored]
    ) { machine, _ in
        guard case .signedIn(var session) = machine.state, case .saving(let order) = session.phase else { return }
        session.record = order.record
        session.isAnnounced = true
        machine.state = .signedIn(session)
    }

    private static let endsForTrouble = Self(
        name: "signs out for an outage", breaks: [.nobodyIsSignedOutUnasked]
    ) { machine, actions in
        for case .emit(.refreshFailed) in actions { machine.state = .signedOut }
    }

    private static let forgetsDoubt = Self(
        name: "forgets that an answer was lost", breaks: [.lostRotationsAreCalledSo]
    ) { machine, _ in
        guard case .signedIn(var session) = machine.state, case .sending(let order, true) = session.phase else {
            return
        }
        session.phase = .sending(order, isDoubtful: false)
        machine.state = .signedIn(session)
    }

    private static let revokesWrongly = Self(
        name: "revokes the tokens in use", breaks: [.nobodyIsRevokedUnasked]
    ) { machine, actions in
        guard case .signedIn(let session) = machine.state else { return }
        for case .emit(.refreshSucceeded) in actions { actions.append(.revoke(session.record.bundle)) }
    }

    private static let neverLoads = Self(name: "never reads the store", breaks: [.everyPathEnds]) { _, actions in
        actions.removeAll { $0 == .load }
    }
}

extension SessionStateMachine.Action {
    fileprivate var isDiscard: Bool {
        if case .emit(.refreshDiscarded) = self { true } else { false }
    }
}
