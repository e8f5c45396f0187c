@testable import Martlet

/// What holds in every world and for every step, whatever happens.
enum SearchRule: CaseIterable, Hashable {
    case oneRefreshPerRotation
    case noTokenKnownToBeSpentIsSent
    case onlyTokensOfTheOwnSession
    case nobodyIsBroughtBack
    case everyWaiterIsAnsweredOnce
    case nothingIsSeenBeforeItIsStored
    case lostRotationsAreCalledSo
    case nobodyIsSignedOutUnasked
    case nobodyIsRevokedUnasked
    case refreshesAreBounded
    case everyPathEnds
    case storeAndMemoryAgreeAtRest

    /// Those that each step must keep.
    static let ofSteps: [Self] = [
        .oneRefreshPerRotation, .noTokenKnownToBeSpentIsSent, .onlyTokensOfTheOwnSession, .nobodyIsBroughtBack,
        .everyWaiterIsAnsweredOnce, .nothingIsSeenBeforeItIsStored, .lostRotationsAreCalledSo,
        .nobodyIsSignedOutUnasked, .nobodyIsRevokedUnasked, .refreshesAreBounded,
    ]

    func isKept(by step: SearchStep) -> Bool {
        switch self {
        case .oneRefreshPerRotation: step.hasOneRefreshPerRotation
        case .noTokenKnownToBeSpentIsSent: step.sendsNoSpentToken
        case .onlyTokensOfTheOwnSession: step.answersWithOwnTokens
        case .nobodyIsBroughtBack: step.bringsNobodyBack
        case .everyWaiterIsAnsweredOnce: step.answersOnce
        case .nothingIsSeenBeforeItIsStored: step.showsWhatIsStored
        case .lostRotationsAreCalledSo: step.saysWhySessionEnded
        case .nobodyIsSignedOutUnasked: step.signsNobodyOutUnasked
        case .nobodyIsRevokedUnasked: step.revokesNobodyInUse
        case .refreshesAreBounded: step.isWithinBudget
        case .everyPathEnds, .storeAndMemoryAgreeAtRest: true
        }
    }
}

// MARK: - Rules of a step

extension SearchStep {
    /// Never two refreshes for one rotation at a time, forgotten ones included.
    fileprivate var hasOneRefreshPerRotation: Bool {
        guard after.refreshes.count > 1 else { return true }
        // What has its answer, and waits for that to be written, is not at the server any more.
        let tokens = after.refreshes.filter { !$0.isFinishing }.map { $0.order.record.bundle.refreshToken }
        return Set(tokens).count == tokens.count
    }

    /// A token whose successor has been seen is not sent again, but for a server that has said that it may be.
    fileprivate var sendsNoSpentToken: Bool {
        guard let sent else { return true }
        let token = after[sent.record.bundle]
        guard token.isKnownSpent else { return true }
        return token.fate == .replaceable && sent.replays > 0
    }

    /// Whoever is answered gets the token of whoever is signed in, and never that of another session than it asked for.
    fileprivate var answersWithOwnTokens: Bool {
        for answer in answers {
            guard case .token(let credential) = answer.answer else { continue }
            guard case .signedIn(let session) = answer.machine.state, session.isAnnounced,
                session.credential == credential,
                Names.session(of: credential.accessToken) == Names.number(of: credential.stamp.session)
            else { return false }
            switch answer.ask {
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
    fileprivate var bringsNobodyBack: Bool {
        guard let current = after.current else { return true }
        return !before.sessions.indices.contains(Names.number(of: current) - 1) || !before[current].isOver
    }

    /// The machine answers those who wait, once, and knows all of them that it has not answered.
    fileprivate var answersOnce: Bool {
        guard !wokeStranger else { return false }
        let known = after.knownWaiters
        return known.count == after.waiters.count && after.waiters.allSatisfy { known.contains($0.id) }
    }

    /// Tokens become visible once they are stored, or storing them has failed.
    fileprivate var showsWhatIsStored: Bool {
        guard case .signedIn(let session) = after.machine.state, session.isAnnounced else { return true }
        if case .signedIn(let earlier) = before.machine.state, earlier.isAnnounced,
            earlier.record.bundle == session.record.bundle
        {
            return true
        }
        if session.isSaved { return after.stored?.bundle == session.record.bundle }
        return actions.contains {
            if case .emit(.storeFailed(.write, _)) = $0 { true } else { false }
        }
    }

    /// A session that was lost since an answer was lost is said to be, and no other is.
    fileprivate var saysWhySessionEnded: Bool {
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

    /// A session ends by the user's wish, by the server's verdict or by another process, and by nothing else.
    fileprivate var signsNobodyOutUnasked: Bool {
        guard let left = before.current, left != after.current else { return true }
        if event == .signsIn || isSignOut || !after[left].isAlive || after[left].isLeftElsewhere { return true }
        return after.current != nil && after.current == after.stored?.id
    }

    /// Only what nobody uses any more is taken back.
    fileprivate var revokesNobodyInUse: Bool {
        for case .revoke(let bundle) in actions where Names.session(Names.session(of: bundle)) == after.current {
            return false
        }
        return true
    }

    fileprivate var isWithinBudget: Bool {
        guard case .signedIn(let session) = after.machine.state else { return true }
        return session.recentRefreshes.count <= after.machine.policy.refreshBudget
    }
}

// MARK: - Rules of a world at rest

extension World {
    /// What a restart would find is what this process knows, where it knows anything.
    var agreesWithStore: Bool {
        switch machine.state {
        case .notLoaded, .loading, .unavailable: true
        case .signedOut, .expired: stored == nil && machine.deletion == nil
        case .signedIn(let session):
            session.isSaved && session.isAnnounced && stored?.id == session.record.id
                && stored?.rotation == session.record.rotation && stored?.bundle == session.record.bundle
        }
    }

    var bringsNobodyBackAtRestart: Bool {
        stored.map { !self[$0.id].isOver } ?? true
    }
}
