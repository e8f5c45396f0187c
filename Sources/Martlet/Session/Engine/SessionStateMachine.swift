#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The state machine of a session: an event goes in, actions come out. It has no clock, does no I/O and never suspends.
///
/// ``TokenManager`` holds it under a lock, performs the actions and reports their results as further events. Because it
/// is a `Hashable` value, tests can search its reachable states.
struct SessionStateMachine: Hashable, Sendable {
    let policy: SessionPolicy
    /// Whether other processes share the record. If so, the store must be readable before a refresh token is sent.
    let sharesStore: Bool
    /// Whether an unavailable store is read again without a caller. Not if reading prompts the user.
    let readsByItself: Bool
    /// The session of the user who is signed in.
    var session: ActiveSession?
    /// The reason why there is no session. It means nothing while there is one.
    var absence = Absence.unknown(nil)
    /// The callers that wait for the store to be read, or for the refresh or sign-in in progress.
    var waiters: Set<WaiterID> = []
    /// The callers that wait until sessions have been ended in the store.
    var endingWaiters: Set<WaiterID> = []
    /// The waiters that wait only because another caller's request was rejected.
    var bystanders: Set<WaiterID> = []
    /// The bystanders that may go out with the rejected token.
    var probers: Set<WaiterID> = []
    /// Whether the delay before the next probe is running. There is at most one.
    var awaitsProbe = false
    /// The number of sign-ins and sign-outs so far, here or in another process. A step that started in an earlier epoch
    /// must not take effect.
    var epoch = 0
    /// The highest place of a record or an ending that this process has read or written; `nil` if it has read nothing.
    var known: SessionOrder?
    /// The mark up to which sessions have ended, as far as this process knows. A record at or below the mark does not
    /// count.
    var mark: EndMark?
    /// An ending that the store has not confirmed yet.
    var ending: Ending?
    /// The session that ended here last. Its tokens have been revoked or rejected.
    var lastEnded: SessionID?
    /// The revocations that wait until the record has been deleted or overwritten, or until that has failed.
    var revocations: [Action] = []
    /// Whether another process may have changed the record, but it could not be read.
    var hasNews = false
    /// The number of consecutive failures of the store.
    var storeFailures = 0
    /// Whether the delay before the store is asked again is running. There is at most one.
    var awaitsStoreRetry = false
    /// Whether that delay keeps the manager, because there is something to write or delete.
    var retryHasWork = false
    var lastID = 0
    /// The actions of the current transition.
    var actions: [Action] = []

    init(policy: SessionPolicy, sharesStore: Bool = false, readsByItself: Bool = true) {
        self.policy = policy
        self.sharesStore = sharesStore
        self.readsByItself = readsByItself
    }

    /// A new ID for a waiter or a job.
    mutating func makeID() -> Int {
        lastID += 1
        return lastID
    }

    /// Returns the actions of the transition, in the order in which they must start.
    mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    /// The generation of a sign-in that is made now: above all generations that this process knows. If it knows none,
    /// the clock decides.
    func makeGeneration(at wallClock: Date) -> Int {
        max((highestGeneration ?? 0) + 1, StoredSession.generation(at: wallClock))
    }

    /// The highest generation that this process knows of.
    private var highestGeneration: Int? {
        [known?.generation, mark?.order.generation, session?.newest.record.generation].compactMap(\.self).max()
    }

    mutating func emit(_ event: SessionEvent) {
        actions.append(.emit(event))
    }

    mutating func resumeEndingWaiters() {
        guard !endingWaiters.isEmpty else { return }
        actions.append(.resume(endingWaiters.sorted(), .askAgain))
        endingWaiters = []
    }

    mutating func resumeWaiters(_ reply: WaiterReply) {
        guard !waiters.isEmpty else { return }
        actions.append(.resume(waiters.sorted(), reply))
        waiters = []
        bystanders = []
        probers = []
    }
}

// MARK: - Events from callers

extension SessionStateMachine {
    /// A caller asks for a token.
    /// - Parameters:
    ///   - need: The time that the token must last, for a long request such as a large upload.
    ///   - owner: The session that the caller's call belongs to.
    ///   - patience: Whether the caller may probe a token that the server has rejected at another endpoint.
    ///   - waiter: Identifies the caller.
    ///   - now: The uptime.
    mutating func tokenRequested(
        lasting need: Duration? = nil, for owner: CallOwner, _ patience: Patience = .waits,
        by waiter: WaiterID, at now: Duration
    ) -> WaiterReply {
        if let error = mismatch(with: owner) { return .failure(error) }
        guard let session else {
            switch absence {
            case .unknown: return loadRequested(by: waiter)
            case .signedOut: return .failure(.signedOut)
            case .expired(let reason, _): return .failure(.expired(reason))
            }
        }
        guard session.isUsable(at: now) else {
            let reply = joinRefresh(for: waiter, because: session.isRejected ? .rejected : .expired, at: now)
            if reply == .wait, session.isRejected, !session.isExpired(at: now) { standBy(waiter, patience, at: now) }
            return reply
        }
        if let need, isTooShort(session, for: need, at: now) {
            let reply = joinRefresh(for: waiter, because: .expiringSoon, at: now)
            // If no refresh can start now, the token that is still valid is better than none.
            if reply == .wait { return reply }
        } else if let deadlines = session.deadlines, session.hasRefreshToken, now >= deadlines.refreshAt {
            _ = startRefresh(because: .expiringSoon, at: now)
        }
        return .token(session.credential)
    }

    /// Whether the token would expire during a long request, and a new one would last longer. If the request needs more
    /// than 90% of a token's lifetime, the token is refreshed only in the second half of its lifetime.
    private func isTooShort(_ session: ActiveSession, for need: Duration, at now: Duration) -> Bool {
        guard let deadlines = session.deadlines, let lifetime = session.record.lifetime, session.hasRefreshToken
        else { return false }
        let remaining = deadlines.expiresAt - now
        // A new token would last hardly longer than a token that is still new.
        return remaining < (need <= lifetime * 0.9 ? need : lifetime / 2) && remaining < lifetime * 0.95
    }

    /// A caller that waited for a token of this session asks again. A token of another session must not be handed out.
    mutating func tokenRequested(for session: SessionID, by waiter: WaiterID, at now: Duration) -> WaiterReply {
        if let current = self.session, current.record.id != session { return .failure(.sessionChanged) }
        return tokenRequested(for: callOwner, by: waiter, at: now)
    }

    /// A caller needs the store to be read, but no token.
    mutating func loadRequested(by waiter: WaiterID) -> WaiterReply {
        guard isUnread else { return .askAgain }
        if waiters.isEmpty { actions.append(.store(.read)) }
        waiters.insert(waiter)
        return .wait
    }

    /// The server rejected a request that was signed with this token. From now on, callers wait for the next token.
    /// - Returns: Whether the rejection came before a refresh was sent, so that the refresh cannot be its cause.
    @discardableResult
    mutating func tokenRejected(_ stamp: SessionStamp, at now: Duration) -> Bool {
        guard let session, session.isVisible, session.record.stamp == stamp, session.hasRefreshToken
        else { return false }
        // If no refresh can start now, the token stays in use: one endpoint that rejects it must not block the calls to
        // all others.
        guard session.isBusy || startRefresh(because: .rejected, at: now) == nil else { return false }
        self.session?.markRejected()
        return self.session?.isPreparing == true
    }

    /// The server rejected a caller's request, and the caller asks for a token that replaces this one. It does not get
    /// a token that another caller probes: the server would reject it again.
    mutating func tokenRejected(_ stamp: SessionStamp, reportedBy waiter: WaiterID, at now: Duration) -> WaiterReply {
        guard let session else {
            if case .expired(let reason, stamp.session) = absence { return .failure(.expired(reason)) }
            return .failure(.sessionChanged)
        }
        guard session.record.id == stamp.session else { return .failure(.sessionChanged) }
        if session.record.rotation > stamp.rotation { return tokenRequested(for: callOwner, by: waiter, at: now) }
        guard session.hasRefreshToken else { return rejectedForGood(session, reportedBy: waiter, at: now) }
        let reply = joinRefresh(for: waiter, because: .rejected, at: now)
        if reply == .wait { self.session?.markRejected() }
        return reply
    }

    /// The server rejected a token that cannot be refreshed. If other processes share the store, it is asked first: one of
    /// them may have signed out, or signed in again.
    private mutating func rejectedForGood(
        _ session: ActiveSession, reportedBy waiter: WaiterID, at now: Duration
    ) -> WaiterReply {
        guard sharesStore else {
            expire(because: .noRefreshToken)
            startEnding(EndMark(session.record.order, expiry: .noRefreshToken))
            return .failure(.expired(.noRefreshToken))
        }
        if case .backingOff(let until) = session.refresh, now < until, let failure = session.lastFailure {
            return .failure(.refreshFailed(failure))
        }
        if !session.isBusy {
            let job = RefreshJob(id: makeID(), record: session.record)
            self.session?.refresh = .confirmingExpiry(.noRefreshToken)
            actions.append(.refresh(job))
        }
        waiters.insert(waiter)
        return .wait
    }

    /// The server has accepted a token.
    mutating func tokenAccepted(_ stamp: SessionStamp, _ acceptance: Acceptance) {
        guard let standing = session?.standing, session?.record.stamp == stamp else { return }
        session?.wasAccepted = true
        switch acceptance {
        case .first: break
        case .replay(let replaced):
            session?.wastefulRefreshes.removeAll { $0.provisional == replaced }
        case .probe(let prober):
            guard case .rejected(let probes) = standing, probes.contains(prober) else { break }
            session?.standing = .disputed
            resumeBystanders()
        }
    }

    /// The app forces a refresh, even if the token has not expired.
    mutating func refreshForced(for owner: CallOwner, by waiter: WaiterID, at now: Duration) -> WaiterReply {
        if let error = mismatch(with: owner) { return .failure(error) }
        guard let session, session.isVisible else { return tokenRequested(for: owner, by: waiter, at: now) }
        guard session.hasRefreshToken else {
            return .failure(.refreshFailed(RefreshError(.refresher, description: "there is no refresh token")))
        }
        return joinRefresh(for: waiter, because: .forced, at: now)
    }

    /// A user signed in. The waiter is resumed after the record was written or the write failed.
    /// - Parameter start: The epoch in which the sign-in started. If it is over, the new tokens are revoked.
    @discardableResult
    mutating func signedIn(
        _ record: StoredSession, deadlines: TokenDeadlines?, since start: Int? = nil, by waiter: WaiterID
    ) -> WaiterReply {
        if let start, start != epoch {
            actions.append(.revoke(record.bundle, expiresAt: nil))
            return .failure(.sessionChanged)
        }
        let shown = session.map { $0.isVisible ? callOwner : $0.shownOwner } ?? nil
        // A write of the former session may still be on its way.
        if let former = session { learn(.found(former.newest.record)) }
        var record = record
        if highestGeneration != nil { record.raiseGeneration(to: makeGeneration(at: .distantPast)) }
        revokeCurrent()
        endSession(.sessionChanged)
        // The new record overwrites the one that was to be deleted.
        ending = nil
        waiters.formUnion(endingWaiters)
        endingWaiters = []
        session = ActiveSession(
            record: record, deadlines: deadlines, refresh: .storing(record, deadlines), persistence: .unwritten,
            base: .anything, shownOwner: shown)
        waiters.insert(waiter)
        actions.append(.store(.write))
        return .wait
    }

    /// The user signed out: fail all waiters, delete the record, and revoke the tokens at the server.
    mutating func signedOut(at wallClock: Date) {
        let ended = session
        let now = SessionOrder.end(ofGeneration: makeGeneration(at: wallClock) - 1)
        let generations = [known?.generation, ended?.newest.record.generation].compactMap(\.self)
        if known == nil { emit(.orderedByClock) }
        let mark =
            generations.max().map { EndMark(.end(ofGeneration: $0)) } ?? EndMark(now, isEstimate: true)
        // If the session's own record was never written, the store may still contain that of an earlier session.
        let isStored = ended?.base == .stored
        revokeCurrent()
        endSession(.signedOut)
        startEnding(mark, signOut: known == nil ? .anything(now) : .before(isStored ? mark.order : now))
        emit(.signedOut(ended?.record.id))
    }

    /// Whether the store is asked for the first time to end sessions.
    var isEnding: Bool { ending.map { !$0.hasFailed } ?? false }

    /// After a sign-out, or a sign-in that could not be written, a caller waits until the sessions have ended in the
    /// store, or until that has failed.
    mutating func endingAwaited(by waiter: WaiterID) -> WaiterReply {
        guard isEnding else { return .askAgain }
        endingWaiters.insert(waiter)
        return .wait
    }

    /// Revokes the tokens of the session that ends because the user signs out or another user signs in, as soon as its
    /// record has gone: another process that still finds the record would take the rejection for an expiry.
    mutating func revokeCurrent() {
        guard let session else { return }
        let (record, deadlines) = session.newest
        lastEnded = record.id
        revocations.append(.revoke(record.bundle, expiresAt: session.isRejected ? .zero : deadlines?.expiresAt))
    }

    /// Ends the session and resumes the callers that wait for it, because the signed-in user changes.
    mutating func endSession(_ error: SessionError) {
        epoch += 1
        if session != nil {
            resumeWaiters(.failure(error))
        } else if isUnread {
            resumeWaiters(.askAgain)
        }
        session = nil
        absence = .signedOut
    }

    /// A waiter was cancelled. Returns `false` if it had already been resumed.
    mutating func waiterCancelled(_ waiter: WaiterID) -> Bool {
        bystanders.remove(waiter)
        probers.remove(waiter)
        let wasEnding = endingWaiters.remove(waiter) != nil
        return waiters.remove(waiter) != nil || wasEnding
    }
}
