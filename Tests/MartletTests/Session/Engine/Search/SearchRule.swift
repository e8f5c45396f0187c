@testable import Martlet

/// The invariants of all worlds and steps.
enum SearchRule: CaseIterable, Hashable {
    case oneRefreshPerRotation
    case noTokenKnownToBeSpentIsSent
    case onlyTokensOfTheOwnSession
    case endedSessionsStayEnded
    case everyWaiterIsResumedOnce
    case tokensAreStoredBeforeTheyAreVisible
    case lostRotationsAreReported
    case sessionsEndOnlyForAReason
    case tokensInUseAreNotRevoked
    case refreshesAreBounded
    case everyPathEnds
    case storeAndMemoryAgreeAtRest

    /// The rules checked after each step.
    static let ofSteps: [Self] = [
        .oneRefreshPerRotation, .noTokenKnownToBeSpentIsSent, .onlyTokensOfTheOwnSession, .endedSessionsStayEnded,
        .everyWaiterIsResumedOnce, .tokensAreStoredBeforeTheyAreVisible, .lostRotationsAreReported,
        .sessionsEndOnlyForAReason, .tokensInUseAreNotRevoked, .refreshesAreBounded,
    ]

    func isKept(by step: SearchStep) -> Bool {
        switch self {
        case .oneRefreshPerRotation: step.hasOneRefreshPerRotation
        case .noTokenKnownToBeSpentIsSent: step.sendsNoSpentToken
        case .onlyTokensOfTheOwnSession: step.resumesWithOwnTokens
        case .endedSessionsStayEnded: step.keepsEndedSessionsEnded
        case .everyWaiterIsResumedOnce: step.resumesOnce
        case .tokensAreStoredBeforeTheyAreVisible: step.showsOnlyStoredTokens
        case .lostRotationsAreReported: step.reportsLostRotations
        case .sessionsEndOnlyForAReason: step.endsSessionsOnlyForAReason
        case .tokensInUseAreNotRevoked: step.revokesNoTokenInUse
        case .refreshesAreBounded: step.isWithinBudget
        case .everyPathEnds, .storeAndMemoryAgreeAtRest: true
        }
    }
}

// MARK: - Rules of a step

extension SearchStep {
    /// There are never two refreshes for one rotation at a time, including discarded ones.
    fileprivate var hasOneRefreshPerRotation: Bool {
        guard after.refreshes.count > 1 else { return true }
        // A refresh that is storing its outcome is no longer at the server.
        let tokens = after.refreshes.filter { !$0.isFinishing }.map { $0.job.record.bundle.refreshToken }
        return Set(tokens).count == tokens.count
    }

    /// A token whose successor has been seen is not sent again, except within the server's grace.
    fileprivate var sendsNoSpentToken: Bool {
        guard let sent else { return true }
        let token = after[sent.record.bundle]
        guard token.isKnownSpent else { return true }
        return token.fate == .replaceable && sent.replays > 0
    }

    /// A token handed out belongs to the current session, and to the session that was asked for.
    fileprivate var resumesWithOwnTokens: Bool {
        for reply in replies {
            guard case .token(let credential) = reply.reply else { continue }
            guard case .signedIn(let session) = reply.machine.state, session.isVisible,
                session.credential == credential,
                Names.session(of: credential.accessToken) == Names.number(of: credential.stamp.session)
            else { return false }
            switch reply.ask {
            case .token, .lastingToken, .forcedRefresh, .signOut: break
            case .signIn(let session), .tokenOf(let session): if credential.stamp.session != session { return false }
            case .tokenInPlaceOf(let stamp):
                guard credential.stamp.session == stamp.session, credential.stamp.rotation > stamp.rotation else {
                    return false
                }
            }
        }
        return true
    }

    /// A session that has ended here is never signed in again.
    fileprivate var keepsEndedSessionsEnded: Bool {
        guard let current = after.current else { return true }
        return !before.sessions.indices.contains(Names.number(of: current) - 1) || !before[current].isOver
    }

    /// The machine resumes only known waiters, each once, and still knows all the others.
    fileprivate var resumesOnce: Bool {
        guard !resumedUnknownWaiter else { return false }
        let known = after.knownWaiters
        return known.count == after.waiters.count && after.waiters.allSatisfy { known.contains($0.id) }
    }

    /// Tokens become visible only after they are stored, or after storing them failed.
    fileprivate var showsOnlyStoredTokens: Bool {
        guard case .signedIn(let session) = after.machine.state, session.isVisible else { return true }
        if case .signedIn(let earlier) = before.machine.state, earlier.isVisible,
            earlier.record.bundle == session.record.bundle
        {
            return true
        }
        if session.saveFailure == nil { return after.stored?.bundle == session.record.bundle }
        return actions.contains {
            if case .emit(.storeFailed(.write, _)) = $0 { true } else { false }
        }
    }

    /// `rotationLost` is reported if and only if a response was lost.
    fileprivate var reportsLostRotations: Bool {
        for case .emit(.expired(let session, let reason)) in actions {
            guard case .signedIn(let ended) = before.machine.state, ended.record.id == session else { return false }
            switch reason {
            case .rotationLost: if !before[ended.record.bundle].isInDoubt { return false }
            case .refreshTokenRejected: if before[ended.record.bundle].isInDoubt { return false }
            case .noRefreshToken: return false
            }
        }
        return true
    }

    /// A session ends only by a sign-out, by the server's rejection or through another process.
    fileprivate var endsSessionsOnlyForAReason: Bool {
        guard let left = before.current, left != after.current else { return true }
        if event == .signsIn || isSignOut || !after[left].isAlive || after[left].isLeftElsewhere { return true }
        return after.current != nil && after.current == after.stored?.id
    }

    /// Tokens in use are never revoked.
    fileprivate var revokesNoTokenInUse: Bool {
        for case .revoke(let bundle, _) in actions where Names.session(Names.session(of: bundle)) == after.current {
            return false
        }
        return true
    }

    fileprivate var isWithinBudget: Bool {
        guard case .signedIn(let session) = after.machine.state else { return true }
        return session.wastefulRefreshes.count <= after.machine.policy.refreshBudget
    }
}

// MARK: - Rules of a world at rest

extension World {
    /// A restart would find the state this process knows, if it knows any.
    var agreesWithStore: Bool {
        switch machine.state {
        case .notLoaded, .loading, .unavailable: true
        case .signedOut, .expired: stored == nil && machine.deletion == nil
        case .signedIn(let session):
            session.saveFailure == nil && session.isVisible && stored?.id == session.record.id
                && stored?.rotation == session.record.rotation && stored?.bundle == session.record.bundle
        }
    }

    var keepsEndedSessionsEndedAfterRestart: Bool {
        stored.map { !self[$0.id].isOver } ?? true
    }
}
