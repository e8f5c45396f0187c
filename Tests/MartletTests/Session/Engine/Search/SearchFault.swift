@testable import Martlet

/// A fault injected into the machine, to test that the search finds it.
struct SearchFault: Sendable {
    typealias Machine = SessionStateMachine

    let name: String
    /// The rules of which at least one must be reported as broken.
    let breaks: Set<SearchRule>
    /// Changes the machine and its actions after each transition.
    let tamper: @Sendable (inout Machine, inout [Machine.Action]) -> Void
}

extension SearchFault {
    static let all = [
        forgetsWaiter, resumesTwice, refreshesTwice, confusesSessions, restoresEndedSession, keepsSpentToken,
        forgetsToRetry,
        showsUnstoredTokens, signsOutOnOutage, forgetsDoubt, revokesTokensInUse, neverLoads,
    ]

    private static let forgetsWaiter = Self(name: "forgets a waiter", breaks: [.everyWaiterIsResumedOnce]) {
        _, actions in
        actions.removeAll { if case .resume = $0 { true } else { false } }
    }

    private static let resumesTwice = Self(name: "resumes twice", breaks: [.everyWaiterIsResumedOnce]) { _, actions in
        actions += actions.filter { if case .resume = $0 { true } else { false } }
    }

    private static let refreshesTwice = Self(
        name: "refreshes one rotation twice", breaks: [.oneRefreshPerRotation]
    ) { machine, actions in
        for case .refresh(let job) in actions {
            let another = Machine.RefreshJob(id: machine.makeID(), record: job.record, hasBeenStored: job.hasBeenStored)
            actions.append(.refresh(another))
        }
    }

    private static let confusesSessions = Self(
        name: "resumes with another session's token", breaks: [.onlyTokensOfTheOwnSession]
    ) { _, actions in
        actions = actions.map { action in
            guard case .resume(let waiters, .token(let credential)) = action else { return action }
            let other = Names.bundle(session: 9, serial: 0).accessToken
            return .resume(waiters, .token(Credential(stamp: credential.stamp, accessToken: other)))
        }
    }

    private static let restoresEndedSession = Self(
        name: "restores an ended session after a late response", breaks: [.endedSessionsStayEnded]
    ) { machine, actions in
        for case .revoke(let bundle, _) in actions where actions.contains(where: \.isDiscard) {
            let id = Names.session(Names.session(of: bundle))
            machine.state = .signedIn(.init(record: StoredSession(id: id, bundle: bundle)))
            actions = []
        }
    }

    private static let keepsSpentToken = Self(
        name: "continues with a spent refresh token", breaks: [.noTokenKnownToBeSpentIsSent]
    ) { machine, actions in
        guard case .signedIn(var session) = machine.state, case .saving(let job) = session.phase, job.hasBeenStored
        else {
            return
        }
        var record = job.record
        record.bundle.refreshToken = session.record.bundle.refreshToken
        let other = Machine.SaveJob(id: job.id, record: record, deadlines: job.deadlines, hasBeenStored: true)
        session.phase = .saving(other)
        machine.state = .signedIn(session)
        actions = actions.map { $0 == .save(job) ? .save(other) : $0 }
    }

    private static let forgetsToRetry = Self(
        name: "does not retry a failed write", breaks: [.storeAndMemoryAgreeAtRest]
    ) { _, actions in
        actions.removeAll { if case .retrySave = $0 { true } else { false } }
    }

    private static let showsUnstoredTokens = Self(
        name: "shows tokens before they are stored", breaks: [.tokensAreStoredBeforeTheyAreVisible]
    ) { machine, _ in
        guard case .signedIn(var session) = machine.state, case .saving(let job) = session.phase else { return }
        session.record = job.record
        session.isVisible = true
        machine.state = .signedIn(session)
    }

    private static let signsOutOnOutage = Self(
        name: "signs out on an outage", breaks: [.sessionsEndOnlyForAReason]
    ) { machine, actions in
        for case .emit(.refreshFailed) in actions { machine.state = .signedOut }
    }

    private static let forgetsDoubt = Self(
        name: "forgets that a response was lost", breaks: [.lostRotationsAreReported]
    ) { machine, _ in
        guard case .signedIn(var session) = machine.state, case .sending(let job, true) = session.phase else {
            return
        }
        session.phase = .sending(job, isInDoubt: false)
        machine.state = .signedIn(session)
    }

    private static let revokesTokensInUse = Self(
        name: "revokes tokens in use", breaks: [.tokensInUseAreNotRevoked]
    ) { machine, actions in
        guard case .signedIn(let session) = machine.state else { return }
        for case .emit(.refreshSucceeded) in actions { actions.append(.revoke(session.record.bundle, expiresAt: nil)) }
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
