#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The state machine of a session: an event goes in, actions come out. It has no clock, does no I/O and never suspends.
///
/// ``TokenManager`` holds it under a lock, performs the actions and reports their results as further events. Because it
/// is a value, tests can search its reachable states.
struct SessionStateMachine: Sendable {
    private let policy: SessionPolicy
    /// Whether other processes share the record in the store. If so, the store must be readable before a refresh token
    /// is sent, because another process may have sent that token.
    private let sharesStore: Bool
    /// Whether an unavailable store is read again even if no caller waits for it; `false` if reading prompts the user.
    private let readsByItself: Bool
    /// The session of the signed-in user, even while its sign-in is still being saved; `nil` if there is none.
    private(set) var session: ActiveSession?
    /// The reason why there is no session. It means nothing while there is one.
    private(set) var absence = Absence.unknown(nil)
    /// The callers that wait for the store to be read, or for the refresh or sign-in in progress.
    private(set) var waiters: Set<WaiterID> = []
    /// The callers that wait for the first attempt at the pending ``ending``.
    private var endingWaiters: Set<WaiterID> = []
    /// The waiters whose own requests were not rejected. They wait for a refresh only because the server rejected the
    /// token for another caller.
    private var bystanders: Set<WaiterID> = []
    /// The bystanders that may be sent with the rejected token as probes, in case other endpoints still accept it.
    private var probers: Set<WaiterID> = []
    /// The bystanders that may be probes only if no other caller can.
    private var fallbackProbers: Set<WaiterID> = []
    /// Whether the delay before the next probe is running. There is at most one.
    private var awaitsProbe = false
    /// The number of sign-ins and sign-outs that this process has made, noticed or been asked for. A step that started
    /// in an earlier epoch must not take effect.
    private(set) var epoch = 0
    /// The epoch that began with the last sign-in or sign-out that has taken effect. An answer of the store to an
    /// earlier task is outdated.
    private var changeEpoch = 0
    /// The time of a sign-out that waits for the first reading of the store; `nil` for none.
    private var awaitedSignOut: Date?
    /// The last sign-out of this process.
    private(set) var lastSignOut = LastSignOut(epoch: 0, hadSession: false, idToken: nil)
    /// The epoch that began with the last sign-in of this process.
    private var signInEpoch = 0
    /// The epoch that began with the last change that was no unattended sign-in.
    private(set) var attendedEpoch = 0
    /// The highest position of a record or a mark that this process has read or written; `nil` if it has done neither.
    /// An empty store is at position zero.
    private var known: SessionPosition?
    /// The generation of the last sign-in that another sign-in replaced before the store had confirmed its record. If
    /// no known generation is higher, the order rests on the clock.
    private var unstoredGeneration: Int?
    /// The mark up to which sessions have ended, as far as this process knows. Records at or below it are ignored.
    private var mark: EndMark?
    /// The end of earlier sessions that the store has not confirmed yet: their records are deleted, and the mark is
    /// stored. It is retried until it succeeds, or a later write replaces the records.
    private(set) var ending: Ending?
    /// The sessions that ended in this process by a sign-out, by another sign-in, or because their own sign-in was
    /// withdrawn. Their tokens are revoked. Their records are ignored at any position: a write that was reported as
    /// failed may still have stored one, even above the record that it found.
    private(set) var endedHere: Set<SessionID> = []
    /// The session that expired last in this process. The server rejected its tokens.
    private var lastExpired: SessionID?
    /// The tokens to revoke once the attempt to delete or replace their record has succeeded or failed. Until then,
    /// another process that read the record would take their rejection for an expiry.
    private var revocations: [Revocation] = []
    /// The records whose tokens were revoked before the store could be read. The store may hold newer tokens of these
    /// sessions, which must be revoked too.
    private var revokedUnread: [StoredSession] = []
    /// The records of other sessions that a failed task may have overwritten or deleted. If they turn out to be gone,
    /// their tokens are revoked, because no other process may know them.
    private var maybeRemoved: [StoredSession] = []
    /// Whether the last attempt to read the store failed, so that another process may have changed the record
    /// unnoticed.
    private var hasUnreadChange = false
    /// The number of consecutive failures of the store. The delay before the next attempt grows with it.
    private var storeFailures = 0
    /// Whether a delay before the store is asked again is running.
    private var awaitsStoreRetry = false
    /// Whether that delay keeps the manager alive, because there is something to write or delete.
    private var retryHasWork = false
    /// The last ID given to a waiter or a job.
    private(set) var lastID = 0
    /// The actions of the current transition, in the order in which they must start.
    private var actions: [Action] = []

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

    /// Starts the IDs at a number, so that the tests' search of states can tell them from other integers.
    mutating func numberIDs(from first: Int) {
        lastID = first
    }

    /// Returns the actions of the transition, in the order in which they must start.
    mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    /// The generation of a sign-in that is made now: the time, or more if this process knows a later one.
    func makeGeneration(at wallClock: Date) -> Int {
        max((highestGeneration ?? 0) + 1, StoredSession.generation(at: wallClock))
    }

    /// The highest generation that this process knows of.
    private var highestGeneration: Int? {
        [known?.generation, mark?.position.generation, session?.newest.record.generation].compactMap(\.self).max()
    }

    private mutating func emit(_ event: SessionEvent) {
        actions.append(.emit(event))
    }

    private mutating func resumeEndingWaiters() {
        guard !endingWaiters.isEmpty else { return }
        actions.append(.resume(endingWaiters.sorted(), .askAgain))
        endingWaiters = []
    }

    private mutating func resumeWaiters(_ reply: WaiterReply) {
        guard !waiters.isEmpty else { return }
        actions.append(.resume(waiters.sorted(), reply))
        waiters = []
        bystanders = []
        probers = []
        fallbackProbers = []
    }
}

// MARK: - Events from callers

extension SessionStateMachine {
    /// A caller asks for a token.
    /// - Parameters:
    ///   - need: The time that the token must last, for a long request such as a large upload.
    ///   - owner: The session that the caller's call belongs to.
    ///   - permission: Whether the caller may probe a token that the server has rejected at another endpoint.
    ///   - waiter: Identifies the caller.
    ///   - now: The uptime.
    mutating func tokenRequested(
        lasting need: Duration? = nil, for owner: CallOwner, _ permission: ProbePermission = .waits,
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
            if reply == .wait, session.isRejected, !session.isExpired(at: now) { standBy(waiter, permission, at: now) }
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

    /// A caller asks for the session's token as it is, and leaves the decision whether it is valid to the server. The
    /// caller waits only for the store.
    mutating func presentTokenRequested(for owner: CallOwner, by waiter: WaiterID) -> WaiterReply {
        if let error = mismatch(with: owner) { return .failure(error) }
        guard let session else {
            switch absence {
            case .unknown: return loadRequested(by: waiter)
            case .signedOut: return .failure(.signedOut)
            case .expired(let reason, _): return .failure(.expired(reason))
            }
        }
        if let error = session.withheld { return .failure(.refreshFailed(error)) }
        guard session.isVisible else {
            // A sign-in is being saved.
            waiters.insert(waiter)
            return .wait
        }
        return .token(session.credential)
    }

    /// Whether the token would expire during a long request, and a new one would last longer. If the request needs more
    /// than 90 percent of a token's lifetime, the token counts as too short only in the second half of its lifetime.
    private func isTooShort(_ session: ActiveSession, for need: Duration, at now: Duration) -> Bool {
        guard let deadlines = session.deadlines, let lifetime = session.record.lifetime, session.hasRefreshToken
        else { return false }
        let remaining = deadlines.expiresAt - now
        // A new token would hardly outlast one that is itself new.
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
    /// - Returns: Whether the rejection came before a refresh was sent, so that the refresh cannot have caused it.
    @discardableResult
    mutating func tokenRejected(_ stamp: SessionStamp, at now: Duration) -> Bool {
        guard let session, session.isVisible, session.record.stamp == stamp, session.hasRefreshToken
        else { return false }
        // If no refresh can start now, the token stays in use: one endpoint that rejects it must not block the calls to
        // all others.
        guard session.confirmationFailure == nil,
            session.isBusy || startRefresh(because: .rejected, at: now) == nil
        else { return false }
        self.session?.markRejected()
        return self.session?.isPreparing == true
    }

    /// The server rejected a caller's request, and the caller asks for a token that replaces this one. It does not get
    /// a token that other callers probe: the server has already rejected that token for it.
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

    /// The server rejected a token that cannot be refreshed. If other processes share the store, it is asked first: one
    /// of them may have signed out, or signed in again.
    private mutating func rejectedForGood(
        _ session: ActiveSession, reportedBy waiter: WaiterID, at now: Duration
    ) -> WaiterReply {
        guard sharesStore else {
            expire(because: .noRefreshToken)
            startEnding(EndMark(session.record.position, expiry: .noRefreshToken))
            return .failure(.expired(.noRefreshToken))
        }
        if case .backingOff(let until) = session.refresh, now < until, let failure = session.lastFailure {
            return .failure(.refreshFailed(failure))
        }
        if let error = session.confirmationFailure { return .failure(.refreshFailed(error)) }
        if !session.isBusy {
            let job = RefreshJob(id: makeID(), record: session.record)
            self.session?.refresh = .confirmingExpiry(.noRefreshToken)
            actions.append(.refresh(job))
        }
        waiters.insert(waiter)
        return .wait
    }

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

    /// The app asks for a refresh, even if the token has not expired.
    mutating func refreshForced(for owner: CallOwner, by waiter: WaiterID, at now: Duration) -> WaiterReply {
        if let error = mismatch(with: owner) { return .failure(error) }
        guard let session, session.isVisible else { return tokenRequested(for: owner, by: waiter, at: now) }
        guard session.hasRefreshToken else {
            return .failure(.refreshFailed(RefreshError(.refresher, description: "there is no refresh token")))
        }
        return joinRefresh(for: waiter, because: .forced, at: now)
    }

    /// A user signed in. The waiter is resumed when the record has been written or the write has failed.
    /// - Parameters:
    ///   - start: The epoch in which the sign-in started; `nil` for now. If it is over, the new tokens are revoked.
    ///   - isUnattended: Whether no user has requested the sign-in. It gives way to one who has.
    @discardableResult
    mutating func signedIn(
        _ record: StoredSession, deadlines: TokenDeadlines?, since start: Int? = nil, isUnattended: Bool = false,
        by waiter: WaiterID
    ) -> WaiterReply {
        guard isUnattended ? start == nil || start == epoch : acceptsSignIn(since: start) else {
            actions.append(.revoke(record.tokens, expiresAt: nil))
            return .failure(.sessionChanged)
        }
        let shown = callOwner
        // A write of the former session may still be on its way.
        if let former = session {
            learn(.found(former.newest.record))
            if former.base != .stored { unstoredGeneration = former.newest.record.generation }
        }
        var record = record
        if highestGeneration != nil { record.raiseGeneration(to: makeGeneration(at: .distantPast)) }
        // A user may have signed in through another process since this one read the store.
        let isUnreadSignOut = if case .anything? = ending?.signOut { true } else { false }
        let isUnknown = isUnread || isUnreadSignOut && !sharesStore
        // A record that was adopted from a former library has generation 0.
        let generations = [session?.newest.record.generation, mark?.position.generation].compactMap(\.self)
        let earlier = SessionPosition.end(ofGeneration: generations.max() ?? -1)
        let base = isUnattended && !isUnknown ? Base.endedOrUpTo(earlier) : .anything
        revokeCurrent()
        endSession(.sessionChanged, isUnattended: isUnattended)
        signInEpoch = epoch
        // The new record overwrites the one that the ending was to delete.
        ending = nil
        waiters.formUnion(endingWaiters)
        endingWaiters = []
        session = ActiveSession(
            record: record, deadlines: deadlines, refresh: .storing(record, deadlines), persistence: .unwritten,
            base: base, shownOwner: shown)
        waiters.insert(waiter)
        actions.append(.store(.write))
        return .wait
    }

    /// Whether a sign-in that a user has requested may still start a session. Only another such sign-in, a sign-out and
    /// a change by another process come before it; an unattended sign-in gives way.
    func acceptsSignIn(since start: Int?) -> Bool {
        start.map { $0 >= attendedEpoch } ?? true
    }

    /// The user signs out. If the store must be read first, because the record contains the tokens to revoke, the calls
    /// and sign-ins that have begun end now, and the session as soon as it is found.
    mutating func signOutRequested(at wallClock: Date) {
        guard isUnread else { return signedOut(at: wallClock) }
        epoch += 1
        attendedEpoch = epoch
        awaitedSignOut = wallClock
    }

    /// Performs the sign-out that has waited for the reading, unless another one or a sign-in has overtaken it. A
    /// sign-in that has begun since the request goes on.
    mutating func performAwaitedSignOut() {
        guard let awaitedSignOut else { return }
        let requestEpoch = attendedEpoch
        signedOut(at: awaitedSignOut)
        attendedEpoch = requestEpoch
    }

    /// The user signed out: fail all waiters, delete the record, and revoke the tokens at the server.
    mutating func signedOut(at wallClock: Date) {
        let ended = session
        let hadSession = ended != nil || isUnread
        // Without a reading, this includes sign-ins of the same millisecond.
        let now = SessionPosition.end(ofGeneration: makeGeneration(at: wallClock) - (known == nil ? 0 : 1))
        let generations = [known?.generation, ended?.newest.record.generation].compactMap(\.self)
        if known == nil { emit(.orderedByClock) }
        let mark =
            generations.max().map { EndMark(.end(ofGeneration: $0)) } ?? EndMark(now, isEstimate: true)
        // If the session's own record was never written, the store may still contain an earlier session's record.
        let mayBeUnstored = ended.map { $0.base != .stored } ?? false
        revokeCurrent()
        endSession(.signedOut)
        let reach: SignOut = known == nil ? .anything(now) : .before(mayBeUnstored ? now : mark.position)
        startEnding(mark, signOut: .widest(ending?.signOut, reach))
        lastSignOut = LastSignOut(epoch: epoch, hadSession: hadSession, idToken: ended?.newest.record.tokens.idToken)
        emit(.signedOut(ended?.record.id))
    }

    /// A caller of the last sign-out has received the ID token.
    mutating func forgetIDToken() { lastSignOut.idToken = nil }

    /// Whether a sign-in is being saved.
    var isStartingSession: Bool { session?.isVisible == false }

    /// A caller waits for the first attempt to end sessions in the store, or to save a sign-in.
    mutating func changeAwaited(by waiter: WaiterID) -> WaiterReply {
        guard !isEnding, isStartingSession else { return endingAwaited(by: waiter) }
        waiters.insert(waiter)
        return .wait
    }

    /// Whether the first attempt to end sessions in the store is under way.
    var isEnding: Bool { ending.map { !$0.hasFailed } ?? false }

    /// A caller waits for the first attempt to end sessions, after a sign-out or a sign-in that could not be written.
    mutating func endingAwaited(by waiter: WaiterID) -> WaiterReply {
        guard isEnding else { return .askAgain }
        endingWaiters.insert(waiter)
        return .wait
    }

    /// Arranges the revocation of the current session's tokens, because the user signs out or another user signs in. It
    /// waits for the removal of the record: a process that still found the record would take the rejection for an
    /// expiry.
    private mutating func revokeCurrent() {
        guard let session else { return }
        let (record, deadlines) = session.newest
        endedHere.insert(record.id)
        revocations.append(
            Revocation(record: record, expiresAt: session.isRejected ? .zero : deadlines?.expiresAt))
    }

    /// Ends the session because the signed-in user changes, and resumes the callers that wait for it.
    private mutating func endSession(_ error: SessionError, isUnattended: Bool = false) {
        epoch += 1
        changeEpoch = epoch
        if !isUnattended { attendedEpoch = epoch }
        if session != nil {
            resumeWaiters(.failure(error))
        } else if isUnread {
            resumeWaiters(.askAgain)
        }
        session = nil
        absence = .signedOut
        awaitedSignOut = nil
    }

    /// A waiter was cancelled. The result is `false` if it had already been resumed.
    mutating func waiterCancelled(_ waiter: WaiterID) -> Bool {
        bystanders.remove(waiter)
        probers.remove(waiter)
        fallbackProbers.remove(waiter)
        let wasEnding = endingWaiters.remove(waiter) != nil
        return waiters.remove(waiter) != nil || wasEnding
    }
}

// MARK: - Starting and joining a refresh

extension SessionStateMachine {
    /// Joins the refresh in progress or starts one. Fails during a backoff, when the budget is used up, and while the
    /// tokens of the last refresh must first be saved.
    private mutating func joinRefresh(
        for waiter: WaiterID, because reason: SessionEvent.RefreshReason, at now: Duration
    ) -> WaiterReply {
        guard let session else { return .askAgain }
        if let error = session.withheld { return .failure(.refreshFailed(error)) }
        if session.isBusy {
            if let error = session.confirmationFailure { return .failure(.refreshFailed(error)) }
            if session.isVisible { emit(.refreshJoined(session.record.stamp)) }
        } else if let error = startRefresh(because: reason, at: now) {
            if error.kind == .tooManyRefreshes { emit(.refreshBudgetExceeded(session.record.stamp)) }
            return .failure(.refreshFailed(error))
        }
        waiters.insert(waiter)
        return .wait
    }

    /// Starts a refresh, unless one is in progress.
    /// - Returns: The error if no refresh can start now.
    private mutating func startRefresh(because reason: SessionEvent.RefreshReason, at now: Duration) -> RefreshError? {
        guard var session, !session.isBusy else { return nil }
        defer { self.session = session }
        if case .backingOff(let until) = session.refresh, now < until, let failure = session.lastFailure,
            reason != .forced || !failure.isExplainedRefusal
        {
            return failure
        }
        session.wastefulRefreshes.removeAll { $0.startedAt + policy.refreshWindow <= now }
        let charge = budgetCharge(session, reason, at: now)
        if let charge {
            guard session.wastefulRefreshes.count < policy.refreshBudget else {
                let opensAt = (session.wastefulRefreshes.first?.startedAt ?? now) + policy.refreshWindow
                return RefreshError(
                    .tooManyRefreshes, retryAfter: opensAt - now,
                    description: "the session has used its budget of \(policy.refreshBudget) early refreshes within"
                        + " \(policy.refreshWindow.inSeconds.shortText) s")
            }
            session.wastefulRefreshes.append(charge)
        }
        let job = RefreshJob(id: makeID(), record: session.record, charge: charge)
        session.refresh = .preparing(job)
        emit(.refreshStarted(job.stamp, reason))
        actions.append(.refresh(job))
        return nil
    }

    /// The charge for a refresh against the budget; `nil` if it is free. A refresh is charged if it replaces a token
    /// that has hardly been used. If a server's tokens live for seconds, many refreshes are needed, and none is
    /// charged.
    private func budgetCharge(
        _ session: ActiveSession, _ reason: SessionEvent.RefreshReason, at now: Duration
    ) -> WastefulRefresh? {
        switch (reason, session.deadlines) {
        case (.expired, _), (.expiringSoon, _): return nil
        case (_, let deadlines?): return now < deadlines.halfwayAt ? WastefulRefresh(startedAt: now) : nil
        case (_, nil) where !session.wasAccepted: return WastefulRefresh(startedAt: now)
        case (.forced, nil): return nil
        case (.rejected, nil):
            // The endpoint may reject every token. The charge is dropped if it accepts the next one.
            return WastefulRefresh(startedAt: now, provisional: session.record.stamp)
        }
    }
}

// MARK: - Probes

extension SessionStateMachine {
    /// The time after which one of the waiting callers probes a token that the server rejected for another caller.
    private static let probeInterval = Duration.seconds(1)

    /// A caller waits only because another caller's request was rejected.
    private mutating func standBy(_ waiter: WaiterID, _ permission: ProbePermission, at now: Duration) {
        bystanders.insert(waiter)
        switch permission {
        case .waits: return
        case .mayProbe: probers.insert(waiter)
        case .mayProbeLast: fallbackProbers.insert(waiter)
        }
        scheduleProbe(after: now)
    }

    private mutating func scheduleProbe(after now: Duration) {
        guard !awaitsProbe else { return }
        awaitsProbe = true
        actions.append(.probe(at: now + Self.probeInterval))
    }

    /// The delay before a probe is over: one caller goes out with the rejected token. If the response settles nothing
    /// or never arrives, another caller follows after the same delay.
    mutating func probeDue(at now: Duration) {
        awaitsProbe = false
        guard let session, case .rejected(let probes) = session.standing, !session.isExpired(at: now),
            let prober = probers.min() ?? fallbackProbers.min()
        else { return }
        _ = waiterCancelled(prober)
        self.session?.standing = .rejected(probes: probes.union([prober]))
        emit(.tokenProbed(session.record.stamp))
        actions.append(.resume([prober], .token(session.credential(probedBy: prober))))
        if !probers.isEmpty || !fallbackProbers.isEmpty { scheduleProbe(after: now) }
    }

    /// Lets the callers that waited because of another caller's rejection ask again.
    private mutating func resumeBystanders() {
        guard !bystanders.isEmpty else { return }
        actions.append(.resume(bystanders.sorted(), .askAgain))
        waiters.subtract(bystanders)
        bystanders = []
        probers = []
        fallbackProbers = []
    }
}

// MARK: - The steps of a refresh

extension SessionStateMachine {
    /// The store has answered the preparation of a refresh.
    private mutating func preparationAnswered(_ job: RefreshJob, _ answer: StoreAnswer, at moment: Moment) {
        guard isPreparing(job), let session else { return emit(.refreshDiscarded(job.stamp)) }
        if answer.decision.hasLostLock { return }
        let verdict = judge(answer.snapshot.reading, for: session.record, of: session)
        if follow(verdict, answer.snapshot.deadlines) { return }
        if case .unreadable(let error) = verdict, sharesStore {
            // Another process may have spent the token. A server that detects its reuse could end the session.
            return fail(job, RefreshError(error), at: moment)
        }
        if let failure = answer.failure {
            emit(.storeWriteFailed(failure))
        } else if case .write = answer.decision.update {
            markWritten()
        }
        let record = session.record
        var earlier = record.unresolvedJournal
        // Another process may have sent the token after this one read the record.
        if case .ours(let found?) = verdict {
            // The process that wrote the journal may have removed it since, because it had sent nothing.
            if session.hasReadJournal, found.hasTokens(of: record) { earlier = nil }
            earlier = earlier ?? found.journal(of: record)
        }
        self.session?.hasReadJournal = false
        var job = job
        job.firstSentAt = job.firstSentAt ?? moment.uptime
        self.session?.record.journal = earlier ?? RefreshJournal(of: record, sentAt: moment.wallClock)
        self.session?.refresh = .sending(job, isInDoubt: earlier != nil)
    }

    /// The lock was checked after the preparation.
    mutating func lockChecked(_ job: RefreshJob, isHeld: Bool) {
        if isSending(job) {
            if !isHeld { session?.refresh = .preparing(job) }
        } else {
            emit(.refreshDiscarded(job.stamp))
        }
    }

    /// The next step of a refresh, after a step of its preparation.
    func preparation(of job: RefreshJob) -> Preparation {
        if isSending(job) { .send } else if isPreparing(job) { .startOver } else { .stop }
    }

    private func isPreparing(_ job: RefreshJob) -> Bool {
        if case .preparing(let current)? = session?.refresh { current.id == job.id } else { false }
    }

    func isSending(_ job: RefreshJob) -> Bool {
        if case .sending(let current, _)? = session?.refresh { current.id == job.id } else { false }
    }

    /// Whether a refresh is still needed: its session has neither ended nor got newer tokens.
    func needs(_ job: RefreshJob) -> Bool {
        isPreparing(job) || isSending(job) || isConfirmingExpiry(of: job)
    }

    /// Whether the session's expiry is still unconfirmed, because the lock was lost when the store was asked.
    func isConfirmingExpiry(of job: RefreshJob) -> Bool {
        session?.pendingExpiry != nil && session?.record.stamp == job.stamp
    }

    /// The lock could not be acquired again to confirm an expiry. The next refresh sends the token once more.
    mutating func confirmationFailed(_ job: RefreshJob, _ failure: RefreshError, at moment: Moment) {
        guard isConfirmingExpiry(of: job) else { return }
        fail(job, failure, at: moment)
        // Catch up on changes by other processes, which were ignored during the confirmation.
        if readsByItself { actions.append(.store(.read)) }
    }

    /// The refresher has returned or thrown. New tokens are used even if they arrive after the time limit, because the
    /// token that they replace is spent.
    /// - Parameter receivedAt: The uptime at which new tokens were received, if their response has waited unread.
    /// - Returns: The job to run next, if a response was lost and the same token may be sent again.
    mutating func refreshFinished(
        _ job: RefreshJob, _ outcome: RefreshOutcome, at moment: Moment, tokensReceivedAt receivedAt: Duration? = nil
    ) -> RefreshJob? {
        guard let session, session.record.stamp == job.stamp else {
            discard(outcome, of: job)
            return nil
        }
        switch (outcome, session.refresh) {
        case (.success, .storing), (.success, .confirmingExpiry):
            discard(outcome, of: job)
        case (.success(let tokens, let lifetime, let estimatedExpiry), _):
            let deadlines = lifetime.map { self.deadlines($0, receivedAt: receivedAt ?? moment.uptime, moment.jitter) }
            let next = session.record.renewed(with: tokens, lifetime: lifetime?.total, estimatedExpiry)
            self.session?.refresh = .storing(next, deadlines)
            actions.append(.store(.write))
        case (.transient(let failure), .sending(var current, let isInDoubt)) where current.id == job.id:
            if failure.mayHaveSpentToken, failure.retryAfter ?? .zero <= .zero, let sentAt = current.firstSentAt,
                moment.uptime - sentAt < policy.rotationGrace, current.replays < policy.lostResponseReplays
            {
                current.replays += 1
                self.session?.refresh = .preparing(current)
                emit(.refreshReplayed(job.stamp, failure))
                return current
            }
            if !failure.mayHaveSpentToken, !isInDoubt {
                self.session?.record.journal = nil
                actions.append(.store(.clearJournal(session.record)))
            }
            fail(job, failure, at: moment)
        case (.terminal(let reason), .sending(let current, let isInDoubt)) where current.id == job.id:
            self.session?.refresh = .confirmingExpiry(isInDoubt ? .rotationLost : reason)
            actions.append(.store(.confirmExpiry))
        default:
            discard(outcome, of: job)
        }
        return nil
    }

    private func deadlines(_ lifetime: TokenLifetime, receivedAt: Duration, _ jitter: Double) -> TokenDeadlines {
        TokenDeadlines(
            obtainedAt: receivedAt, remaining: lifetime.remaining, lifetime: lifetime.total, policy: policy,
            jitter: jitter)
    }

    /// Ends a refresh with a transient error: fails its waiters and starts the backoff.
    private mutating func fail(_ job: RefreshJob, _ failure: RefreshError, at moment: Moment) {
        guard var session else { return }
        // Before a replay, the token was sent.
        let isUnsent =
            (failure.neverReachedServer || session.isPreparing || !session.hasRefreshToken) && job.replays == 0
        if isUnsent, let charge = job.charge, let index = session.wastefulRefreshes.lastIndex(of: charge) {
            session.wastefulRefreshes.remove(at: index)
        }
        let isWithoutServer = isUnsent || failure.neverReachedServer
        if !isWithoutServer { session.failures += 1 }
        let wait =
            isWithoutServer
            ? policy.backoffWithoutServer(jitter: moment.jitter)
            : policy.backoff(afterFailures: session.failures, failure: failure, jitter: moment.jitter)
        session.refresh = .backingOff(until: moment.uptime + wait)
        session.lastFailure = failure
        // Until the token expires, it may still work at other endpoints, even if one has rejected it.
        session.standing = .good
        session.confirmationFailure = nil
        self.session = session
        emit(.refreshFailed(job.stamp, failure, backoff: wait))
        if failure.mayBeOfNetwork { actions.append(.awaitNetwork) }
        resumeWaiters(.failure(.refreshFailed(failure)))
    }

    /// The device has a network again. The backoff ends if the network may have caused the last failure.
    mutating func networkReturned() {
        guard case .backingOff? = session?.refresh, session?.lastFailure?.mayBeOfNetwork == true else { return }
        session?.refresh = .idle
    }

    /// Ends the session because the server no longer accepts its tokens.
    private mutating func expire(because reason: ExpiryReason) {
        guard let session else { return }
        lastExpired = session.record.id
        mark = EndMark.later(mark, EndMark(session.record.position, expiry: reason))
        self.session = nil
        absence = .expired(reason, session.record.id)
        emit(.expired(session.record.id, reason))
        resumeWaiters(.failure(.expired(reason)))
    }

    private mutating func discard(_ outcome: RefreshOutcome, of job: RefreshJob) {
        emit(.refreshDiscarded(job.stamp))
        // If the session continues with other tokens, do not revoke these: the server might revoke the whole session.
        if session?.record.id != job.record.id, case .success(var tokens, _, _) = outcome {
            tokens.refreshToken = tokens.refreshToken ?? job.record.tokens.refreshToken
            actions.append(.revoke(tokens, expiresAt: nil))
        }
    }
}

// MARK: - Decisions about the record, while the store offers it and no other process can change it

extension SessionStateMachine {
    /// Whether a task is still needed when its turn comes.
    /// - Parameter isLate: Whether the task has already been reported as failed.
    func needs(_ task: StoreTask, isLate: Bool = false) -> Bool {
        switch task {
        // A reading that prompts the user runs only while a caller waits for it. An earlier one may have answered that
        // caller already.
        case .read: !isLate && (readsByItself || isUnread && !waiters.isEmpty)
        case .prepare: !isLate
        case .clearJournal: true
        case .write: session?.unwritten != nil
        case .confirmExpiry: session?.pendingExpiry != nil
        case .end: ending != nil
        }
    }

    /// Decides what a task does to the store, now that its content is known. Each decision compares the session with
    /// the stored record, because another process may have been faster.
    /// - Parameters:
    ///   - task: The task.
    ///   - reading: The content of the store.
    ///   - hasLostLock: Whether this process does not hold the lock between processes.
    ///   - wallClock: The time, for a journal.
    func decide(
        _ task: StoreTask, over reading: StoreReading, hasLostLock: Bool, at wallClock: Date
    ) -> StoreDecision {
        var decision = undecided(task)
        decision.hasLostLock = hasLostLock
        decision.found = reading.position
        decision.hasFoundNothing = reading == .empty
        switch task {
        case .read:
            break
        case .write:
            guard let session, let unwritten = decision.subject else { break }
            let amended = amended(unwritten, of: session, hasLostLock: hasLostLock, at: wallClock)
            let record = raised(amended, of: session, above: reading)
            decision.subject = record
            decision.update = merge(record, of: session, with: reading)
        case .prepare(let job):
            guard !hasLostLock, isPreparing(job), let session else { break }
            var record = session.record
            record.journal = record.journal ?? RefreshJournal(of: record, sentAt: wallClock)
            decision.update = merge(record, of: session, with: reading)
            if case .write(let record) = decision.update, !reading.hasJournal { decision.subject = record }
        case .clearJournal(let record):
            // Without the lock, keep the journal: another process may have sent the token since.
            guard !hasLostLock, case .found(var found) = reading, found.hasTokens(of: record), found.journal != nil
            else { break }
            found.journal = nil
            decision.update = .write(found)
        case .confirmExpiry:
            decision.update = confirmExpiry(over: reading, hasLostLock: hasLostLock, at: wallClock)
        case .end:
            if let ending { decision.update = end(ending, over: reading, at: wallClock) }
        }
        if case .found(let found) = reading, decision.update != .keep { decision.former = found }
        return decision
    }

    /// The record to write, with a journal if another process may have sent its refresh token.
    private func amended(
        _ record: StoredSession, of session: ActiveSession, hasLostLock: Bool, at wallClock: Date
    ) -> StoredSession {
        guard hasLostLock, session.isVisible, session.isStoring else { return record }
        // Another process may have read the old record and sent the same refresh token.
        var record = record
        record.journal = RefreshJournal(of: record, sentAt: wallClock)
        return record
    }

    /// The record of a sign-in, ranked above the other sessions in the store, even if the clocks disagree.
    private func raised(
        _ record: StoredSession, of session: ActiveSession, above reading: StoreReading
    ) -> StoredSession {
        guard session.ranksAbove(reading) || hasEndedHere(reading), reading != .empty,
            !reading.contains(record.id), let found = reading.position, found.generation >= record.generation
        else { return record }
        var record = record
        record.generation = found.generationAbove
        return record
    }

    /// The decision about content that the store has not offered. It never confirms an expiry.
    func undecided(_ task: StoreTask) -> StoreDecision {
        StoreDecision(
            update: .keep, subject: task == .write ? session?.unwritten : nil,
            ending: task == .end ? ending : nil, epoch: epoch,
            hasLostLock: task == .confirmExpiry && sharesStore)
    }

    /// Writes a record of the session unless the stored one is later.
    private func merge(_ record: StoredSession, of session: ActiveSession, with reading: StoreReading) -> StoreUpdate {
        switch judge(reading, for: record, of: session) {
        case .ours(let found):
            // Keep the earliest journal: the fate of the refresh token has been unknown since then.
            var record = record
            record.journal = found?.journal(of: record) ?? record.journal
            if let found, found.id == record.id { record.raiseGeneration(to: found.generation) }
            return .write(record)
        // Only the first write of a sign-in may replace an unreadable record. A retry must not: the record may belong
        // to a later sign-in.
        case .unreadable: return session.base == .anything ? .write(record) : .keep
        case .newer, .otherSession, .gone: return .keep
        }
    }

    /// Ends the session, because the server rejected its refresh token, unless another process was faster.
    private func confirmExpiry(over reading: StoreReading, hasLostLock: Bool, at wallClock: Date) -> StoreUpdate {
        guard let session, let reason = session.pendingExpiry, case .found(var found) = reading,
            found.id == session.record.id
        else { return .keep }
        // Without the lock, another process may be refreshing the tokens of this record.
        guard found.isNewer(than: session.record) else {
            return hasLostLock ? .keep : .end(EndMark(found.position, expiry: reason))
        }
        // Both processes have sent the same token, also if this one had lost the lock and has acquired it again. A
        // server that detects the reuse may end the session.
        guard hasLostLock || reason == .rotationLost else { return .keep }
        found.journal = found.journal ?? RefreshJournal(of: found, sentAt: wallClock)
        return .write(found)
    }

    /// Ends the sessions that a pending ending covers, and raises the mark.
    private func end(_ ending: Ending, over reading: StoreReading, at wallClock: Date) -> StoreUpdate {
        var mark = ending.mark
        if let signOut = ending.signOut {
            let found = reading.position ?? signOut.position
            if found > mark.position, !sharesStore || signOut.covers(found, at: wallClock) {
                mark = EndMark(.end(ofGeneration: found.generation), isEstimate: reading.position == nil)
            }
        }
        mark = mark.raisingFloor(to: reading.certainPosition)
        switch reading {
        case .found(let record):
            if endedHere.contains(record.id), !mark.covers(record) {
                mark = EndMark(.end(ofGeneration: record.generation))
            }
            return hasEnded(record, at: mark) ? .end(mark) : .keep
        case .empty: return sharesStore && mark.position.generation > 0 ? .mark(mark) : .keep
        case .ended(let former): return former.position < mark.position ? .mark(mark) : .keep
        // A mark that no record is below ends nothing.
        case .unavailable where mark.position.generation < 0: return .keep
        // Since a first attempt, another process may have signed a user in.
        case .unavailable where ending.hasFailed && sharesStore: return .mark(mark)
        // Nor may a store that cannot be read for a moment lose the sign-in of another process.
        case .unavailable(let failure) where sharesStore && failure.kind.isTransient && ending.spares:
            return .mark(mark)
        case .unavailable: return ending.signOut != nil ? .end(mark) : .mark(mark)
        }
    }

    /// The reading, with a record that has ended replaced by the mark.
    private func effective(_ reading: StoreReading) -> StoreReading {
        guard case .found(let record) = reading else { return reading }
        if endedHere.contains(record.id) { return mark.map { .ended($0) } ?? .empty }
        guard let mark, hasEnded(record, at: mark) else { return reading }
        return .ended(mark)
    }

    /// Judges the store's content against a record of the session.
    private func judge(
        _ reading: StoreReading, for record: StoredSession, of session: ActiveSession
    ) -> StoreVerdict {
        guard session.base == .stored, case .found(let found) = reading, found.id != record.id else {
            return session.verdict(on: effective(reading), for: record)
        }
        // Another process wrote the record later, perhaps without reading the store, so its position does not matter.
        let hasExpired = found.id == lastExpired && mark?.covers(found) == true
        return hasExpired || endedHere.contains(found.id) ? .ours(found: found) : .otherSession(found)
    }

    /// Whether the tokens of a record have been revoked or rejected.
    private func hasDeadTokens(_ record: StoredSession) -> Bool {
        endedHere.contains(record.id) || record.id == lastExpired
    }

    private func hasEndedHere(_ reading: StoreReading) -> Bool {
        if case .found(let record) = reading { endedHere.contains(record.id) } else { false }
    }

    /// Whether a mark that this process knows ends a stored record. The current session is an exception: if the store
    /// could not be read, its record may rank below the sessions that it replaced. It stays, and is written again above
    /// their mark.
    private func hasEnded(_ record: StoredSession, at mark: EndMark) -> Bool {
        guard mark.covers(record) else { return false }
        guard let newest = session?.newest.record, newest.id == record.id else { return true }
        return mark.covers(newest)
    }

    /// Remembers what a reading says about positions and tokens.
    private mutating func learn(_ reading: StoreReading) {
        guard let position = reading.position else { return }
        known = max(known ?? position, position)
        if case .ended(let found) = reading { mark = EndMark.later(mark, found) }
        // Rank an unwritten sign-in above this content, in case the store cannot be read when it is written.
        if let session, session.ranksAbove(reading), !reading.contains(session.record.id),
            position.generation >= session.newest.record.generation
        {
            self.session?.raiseGeneration(above: position)
        }
        guard case .found(let record) = reading else { return }
        // A write that was reported as failed may have stored a higher generation.
        if record.id == session?.record.id { session?.raiseGeneration(to: record.generation) }
        learnTokens(of: record)
    }

    /// Another process may have refreshed the tokens of a session that has ended here.
    private mutating func learnTokens(of record: StoredSession) {
        if let index = revocations.firstIndex(where: { record.isNewer(than: $0.record) }) {
            // The server has replaced the former tokens, unless both records come from the same refresh.
            if record.rotation > revocations[index].record.rotation { revocations.remove(at: index) }
            revocations.append(Revocation(record: record))
        }
        if let index = revokedUnread.firstIndex(where: { record.isNewer(than: $0) }) {
            revokedUnread[index] = record
            actions.append(.revoke(record.tokens, expiresAt: nil))
        }
    }
}

// MARK: - Answers of the store

extension SessionStateMachine {
    mutating func storeAnswered(_ task: StoreTask, _ answer: StoreAnswer, at moment: Moment) {
        learn(answer.snapshot.reading)
        revokeRemoved(answer.snapshot.reading)
        if answer.failure != nil { noteRemoval(by: answer.decision) }
        // A write that an earlier sign-in requested may have stored the record of this one.
        if let session, answer.snapshot.reading.contains(session.record.id) { self.session?.base = .stored }
        if isCurrent(answer.decision) { raiseSession(above: answer.decision) }
        if answer.failure == nil, case .write(let record) = answer.decision.update {
            learn(.found(record))
            endWrittenSession(record, in: answer.decision.epoch)
        }
        if case .prepare(let job) = task {
            if answer.failure == nil { revokeFormer(of: answer.decision) }
            return preparationAnswered(job, answer, at: moment)
        }
        // A later sign-in or sign-out has started a task of its own.
        guard isCurrent(answer.decision) else { return answeredInLaterEpoch(task, answer) }
        switch task {
        case .read: readingAnswered(answer.snapshot)
        case .write: writeAnswered(answer)
        case .confirmExpiry: confirmationAnswered(answer)
        case .end: endingAnswered(answer)
        case .prepare, .clearJournal: break
        }
        // Revoke only after the attempt to remove the record: a process that still found it would take the rejection of
        // its tokens for an expiry.
        if task == .end || task == .write && ending == nil { startRevocations() }
        if answer.failure == nil, answer.snapshot.reading.wasReadable, !needsStore { storeFailures = 0 }
    }

    /// Whether no sign-in and no sign-out has taken effect since a decision.
    private func isCurrent(_ decision: StoreDecision) -> Bool { decision.epoch >= changeEpoch }

    /// A task was answered after a sign-in or a sign-out had taken effect.
    private mutating func answeredInLaterEpoch(_ task: StoreTask, _ answer: StoreAnswer) {
        if answer.failure == nil { revokeFormer(of: answer.decision) }
        // Another process's session was adopted, and the ending of the earlier sessions is still unconfirmed.
        guard task == .end, let ending, ending.mark == answer.decision.ending?.mark else { return }
        if answer.failure == nil { actions.append(.store(.end)) } else { scheduleStoreRetry() }
    }

    /// The record of another session that a task overwrites, or deletes because a user has ended the session.
    private func former(of decision: StoreDecision) -> StoredSession? {
        guard let former = decision.former else { return nil }
        return switch decision.update {
        case .write(let record): former.id == record.id ? nil : former
        case .end(let mark): mark.expiry == nil ? former : nil
        case .keep, .mark, .delete: nil
        }
    }

    /// Revokes the tokens of a record that a task has overwritten or deleted. No other process may know that session.
    private mutating func revokeFormer(of decision: StoreDecision) {
        if let former = former(of: decision) { revoke(former) }
    }

    /// Remembers the record that a task may have removed although it was reported as failed, with the newest tokens of
    /// its session.
    private mutating func noteRemoval(by decision: StoreDecision) {
        guard let former = former(of: decision) else { return }
        if let index = maybeRemoved.firstIndex(where: { $0.id == former.id }) {
            if former.isNewer(than: maybeRemoved[index]) { maybeRemoved[index] = former }
        } else {
            maybeRemoved.append(former)
        }
    }

    /// Revokes the tokens of the records that failed tasks have removed after all.
    private mutating func revokeRemoved(_ reading: StoreReading) {
        guard reading.wasReadable else { return }
        for record in maybeRemoved where !reading.contains(record.id) { revoke(record) }
        maybeRemoved = []
    }

    /// Revokes the tokens of a session that has ended in the store.
    private mutating func revoke(_ record: StoredSession, expiresAt: Duration? = nil) {
        guard record.id != session?.record.id else { return }
        if !hasDeadTokens(record) { actions.append(.revoke(record.tokens, expiresAt: expiresAt)) }
        endedHere.insert(record.id)
    }

    /// Ends a session that was written while the user signed out or in. The write may have found a higher position than
    /// this process knew, and stored the session above that.
    private mutating func endWrittenSession(_ record: StoredSession, in writtenEpoch: Int) {
        let mark = EndMark(.end(ofGeneration: record.generation))
        if let ending, let signOutEpoch = ending.signOutEpoch, writtenEpoch < signOutEpoch {
            self.ending?.mark = EndMark.later(ending.mark, mark) ?? mark
            self.mark = EndMark.later(self.mark, mark)
        }
        // A sign-in that could not be written must not take this record for a later sign-in of another process.
        guard writtenEpoch < changeEpoch, let session, session.record.id != record.id,
            let earlier = session.base.limit, earlier < mark.position
        else { return }
        self.session?.raise(above: mark.position)
        startEnding(mark)
    }

    private mutating func startRevocations() {
        var tokens: Set<Tokens> = []
        for revocation in revocations where tokens.insert(revocation.record.tokens).inserted {
            actions.append(.revoke(revocation.record.tokens, expiresAt: revocation.expiresAt))
        }
        let isUnread = needs(.end) || needs(.write)
        revokedUnread = isUnread ? revokedUnread + revocations.map(\.record) : []
        revocations = []
    }

    /// A task that was reported as failed has finished after all.
    /// - Parameter snapshot: The content of the store now.
    mutating func storeAnsweredLate(_ task: StoreTask, _ decision: StoreDecision, _ snapshot: StoreSnapshot) {
        limitRewrite(after: decision)
        if let former = decision.former { learnTokens(of: former) }
        // Before the removal of an earlier, failed attempt is found, because this one may know newer tokens.
        noteRemoval(by: decision)
        guard snapshot.reading.wasReadable else { return }
        learn(snapshot.reading)
        revokeRemoved(snapshot.reading)
        if case .write(let record) = decision.update, snapshot.reading == .found(record) {
            endWrittenSession(record, in: decision.epoch)
        }
        guard isCurrent(decision) else { return }
        raiseSession(above: decision)
        if task == .confirmExpiry, session?.pendingExpiry != nil {
            return confirmationAnswered(StoreAnswer(decision: decision, snapshot: snapshot))
        }
        if let session, case .found(let record) = snapshot.reading, record.id == session.record.id {
            self.session?.base = .stored
            // A sign-in becomes visible only with the answer to its own write.
            if session.isVisible, session.isStored(as: record) { markWritten() }
            // Clear the journal of a refresh that has failed since, without having sent its token.
            if case .prepare = task, decision.subject != nil, session.record.journal == nil || session.hasReadJournal {
                actions.append(.store(.clearJournal(record)))
            }
        }
        // The ending has succeeded. A retry could delete a later sign-in of another process.
        if task == .end, let ended = decision.ending, ended.mark == ending?.mark {
            let former = decision.former.map { StoreSnapshot(reading: .found($0)) }
            endingAnswered(StoreAnswer(decision: decision, snapshot: former ?? snapshot))
            return startRevocations()
        }
        // The reading may be older than the last change by another process.
        let hadUnreadChange = hasUnreadChange
        readingAnswered(snapshot)
        hasUnreadChange = hadUnreadChange
    }

    /// An ending may have raised the mark over a record that had ended here. A sign-in that is not written yet must not
    /// take that mark for a later sign-out of another process.
    private mutating func raiseSession(above decision: StoreDecision) {
        guard case .end(let mark) = decision.update, let earlier = session?.base.limit, earlier < mark.position
        else { return }
        self.session?.raise(above: mark.position)
    }

    /// A late write, or one that an earlier sign-in requested, has probably written the record of this sign-in. The
    /// next write may replace what that write found, and nothing later.
    private mutating func limitRewrite(after decision: StoreDecision) {
        guard isCurrent(decision), let found = decision.found, case .write(let record) = decision.update,
            record.id == session?.record.id
        else { return }
        var bound = max(.end(ofGeneration: found.generation), mark?.position ?? found)
        switch session?.base {
        case .anything: break
        // In an empty store, the write has found no record that it may replace.
        case .upTo(let earlier), .endedOrUpTo(let earlier):
            bound = max(earlier, decision.hasFoundNothing ? mark?.position ?? earlier : bound)
        case .stored, nil: return
        }
        session?.base = .upTo(bound)
        session?.raiseGeneration(to: record.generation)
    }

    /// The delay after a failure of the store is over.
    mutating func storeRetryDue() {
        (awaitsStoreRetry, retryHasWork) = (false, false)
        saveRequested()
        if needsReading { actions.append(.store(.read)) }
    }

    /// Asks the store to write and delete what it could not write and delete before. A delay that has begun goes on.
    mutating func saveRequested() {
        if needs(.write), session?.isStoring == false { actions.append(.store(.write)) }
        if needs(.end) { actions.append(.store(.end)) }
    }

    private var needsReading: Bool {
        if isUnread, case .unknown(let failure?) = absence { return failure.kind.isTransient && readsByItself }
        return hasUnreadChange && readsByItself
    }

    private var needsStore: Bool { needs(.write) || needs(.end) || needsReading }

    /// Whether a change of the store is pending, and no delay before a retry is running.
    var hasWorkForHealthyStore: Bool { (needs(.write) || needs(.end)) && !awaitsStoreRetry }

    private mutating func scheduleStoreRetry(hasWork: Bool = true) {
        storeFailures += 1
        // A delay without work does not keep the manager alive, so work that must not be lost needs its own.
        guard !awaitsStoreRetry || hasWork && !retryHasWork else { return }
        (awaitsStoreRetry, retryHasWork) = (true, hasWork)
        actions.append(.retryStore(after: policy.saveRetry(afterFailures: storeFailures), hasWork: hasWork))
    }

    /// The store was read: at the start, or because another process may have changed the record.
    private mutating func readingAnswered(_ snapshot: StoreSnapshot) {
        if isUnread {
            hasUnreadChange = !snapshot.reading.wasReadable
            return restore(from: snapshot)
        }
        if case .unavailable(let failure) = snapshot.reading {
            if !hasUnreadChange { emit(.storeReadFailed(failure)) }
            hasUnreadChange = true
            return scheduleStoreRetry(hasWork: false)
        }
        hasUnreadChange = false
        // While an ending is pending, wait for its answer. It says nothing about the current session, which it spares.
        if case .found(let record) = snapshot.reading, record.id == session?.record.id { return reconcile(snapshot) }
        if ending == nil { reconcile(snapshot) }
    }

    private mutating func restore(from snapshot: StoreSnapshot) {
        switch snapshot.reading {
        case .found(let record):
            start(record, snapshot.deadlines)
            emit(.restored(record.stamp))
            if record.unresolvedJournal != nil { emit(.refreshInterrupted(record.stamp)) }
            finishReading()
        case .empty:
            absence = .signedOut
            emit(.restored(nil))
            finishReading()
        case .ended(let mark):
            absence = mark.expiry.map { .expired($0, nil) } ?? .signedOut
            emit(.restored(nil))
            finishReading()
        case .unavailable(let failure):
            absence = .unknown(failure)
            emit(.storeReadFailed(failure))
            resumeWaiters(.failure(.unavailable(failure)))
            // The app may be waiting for the state without making a call.
            if needsReading { scheduleStoreRetry(hasWork: false) }
        }
    }

    /// Ends the session that was found if its user has signed out during the reading, before any caller sees it. Then
    /// the callers learn that their session has changed, as after the reading of an empty store.
    private mutating func finishReading() {
        resumeWaiters(.askAgain)
        performAwaitedSignOut()
    }

    /// The store has answered a write: it succeeded or failed, or another process was faster.
    private mutating func writeAnswered(_ answer: StoreAnswer) {
        guard let session, let record = answer.decision.subject, record.id == session.record.id else { return }
        guard session.unwritten?.stamp == record.stamp else {
            // A refresh has received newer tokens since, and writes them next.
            if answer.failure == nil, case .write = answer.decision.update { self.session?.base = .stored }
            return
        }
        let verdict = judge(answer.snapshot.reading, for: record, of: session)
        if answer.failure == nil, follow(verdict, answer.snapshot.deadlines) { return }
        reportReplaced(answer.snapshot.reading, verdict, by: record, answer.failure)
        let failure = answer.failure ?? (session.base == .anything ? nil : verdict.readFailure)
        // Callers see a session once its first write is answered.
        let isSignIn = !session.isVisible
        if let failure, isSignIn, policy.requiresSavedTokens { return withdrawSignIn(failure) }
        if session.isStoring {
            // If the lock was lost, the written record has a journal.
            self.session?.install(record, session.newest.deadlines)
            emit(isSignIn ? .signedIn(record.stamp) : .refreshSucceeded(record.stamp))
        }
        if let failure {
            self.session?.persistence = .behind(failure)
            if isSignIn, session.base != .stored { endEarlierSessions(over: answer.snapshot) }
            emit(.storeWriteFailed(failure))
            scheduleStoreRetry()
        } else {
            learn(.found(record))
            markWritten()
        }
        if session.isStoring { handOut(failure: isSignIn ? nil : failure) }
    }

    /// Withdraws a sign-in that could not be saved, because the app uses only saved tokens. Ends what the sign-in would
    /// have replaced, but neither a later sign-in of another process nor a record that cannot be read.
    private mutating func withdrawSignIn(_ failure: StorageError) {
        guard let signIn = session?.newest.record else { return }
        emit(.storeWriteFailed(failure))
        resumeWaiters(.failure(.unavailable(failure)))
        var earlier = earlierSessions(than: signIn)
        // An unattended sign-in gives way to a user in another process.
        let isUnattended = attendedEpoch < signInEpoch
        if isUnattended, let replaceable = session?.base.limit { earlier = replaceable }
        revokeCurrent()
        endSession(.signedOut, isUnattended: isUnattended)
        startEnding(EndMark(earlier, isEstimate: known == nil), coversOwnWrites: true)
        emit(.signedOut(signIn.id))
    }

    /// Gives the tokens of a refresh or a sign-in to the callers that wait for them, unless they must first be saved.
    private mutating func handOut(failure: StorageError?) {
        if policy.requiresSavedTokens { session?.withheld = failure.map(RefreshError.init(notSaved:)) }
        guard let session else { return }
        resumeWaiters(session.withheld.map { .failure(.refreshFailed($0)) } ?? .token(session.credential))
    }

    /// Handles a replaced record that this process did not know: reports an unreadable one, and revokes the tokens of
    /// another session.
    private mutating func reportReplaced(
        _ reading: StoreReading, _ verdict: StoreVerdict, by record: StoredSession, _ failure: StorageError?
    ) {
        switch (verdict, reading) {
        case (.unreadable(let error), _) where session?.base == .anything && failure == nil:
            session?.replacedRecord = error
            emit(.replacedUnreadableRecord(error))
        // This includes a session that a sign-out has ended here, if the write found its record before the ending did.
        case (.ours, .found(let replaced))
        where replaced.id != record.id && !hasDeadTokens(replaced) && session?.base != .stored:
            // No other process revokes the tokens. If the write failed, the record may still be there, and the
            // revocation waits for its removal.
            if failure == nil { return revoke(replaced) }
            endedHere.insert(replaced.id)
            revocations.append(Revocation(record: replaced))
        default: break
        }
    }

    /// The store contains the session's newest record.
    private mutating func markWritten() {
        guard let session else { return }
        if case .behind = session.persistence { emit(.storeRecovered(session.record.stamp)) }
        self.session?.persistence = .written
        self.session?.base = .stored
        self.session?.withheld = nil
        // The new record has overwritten the one that the ending was to delete.
        if ending?.mark.covers(session.record) == false { dropEnding() }
    }

    /// Another record has overwritten those that were to be deleted.
    private mutating func dropEnding() {
        ending = nil
        resumeEndingWaiters()
        startRevocations()
    }

    /// Ends the earlier sessions after the first write of a sign-in has failed: one of them would be restored after a
    /// restart. A later sign-in in another process must survive.
    private mutating func endEarlierSessions(over snapshot: StoreSnapshot) {
        guard let session else { return }
        // A write that was reported as failed has succeeded.
        if case .found(let found) = snapshot.reading, found.id == session.record.id {
            self.session?.base = .stored
            return
        }
        // If an earlier attempt has probably been carried out, only what that attempt found is earlier.
        var earlier = earlierSessions(than: session.record)
        switch session.base {
        case .upTo(let found): earlier = found
        case .endedOrUpTo(let found): earlier = max(found, mark?.position ?? found)
        case .anything, .stored: break
        }
        self.session?.raise(above: earlier)
        if snapshot.reading != .empty, earlier.generation >= 0 {
            startEnding(EndMark(earlier, isEstimate: known == nil))
        }
    }

    /// The sessions that a sign-in replaces although its record was not written: all generations that this process
    /// knows, with any number of refreshes. If it has read nothing, or nothing since its own sign-in that may not have
    /// been stored, the clock decides.
    private mutating func earlierSessions(than signIn: StoredSession) -> SessionPosition {
        let highest = [known?.generation, mark?.position.generation].compactMap(\.self).max()
        if highest == nil || highest == unstoredGeneration { emit(.orderedByClock) }
        return .end(ofGeneration: highest ?? signIn.generation - 1)
    }

    /// The server rejected the refresh token, and the store was asked to delete the record. A newer record, or one of
    /// another session, was kept.
    private mutating func confirmationAnswered(_ answer: StoreAnswer) {
        guard let session, let reason = session.pendingExpiry else { return }
        let verdict = judge(answer.snapshot.reading, for: session.record, of: session)
        // Another process may be refreshing. Acquire the lock again, and then ask the store once more.
        if answer.decision.hasLostLock {
            switch verdict {
            case .ours:
                // The process that took the lock may have sent the same token, and stopped before it stored the result.
                if case .refreshTokenRejected = reason { self.session?.refresh = .confirmingExpiry(.rotationLost) }
                return
            case .unreadable(let error): return confirmationDelayed(by: RefreshError(error))
            case .newer, .otherSession, .gone: break
            }
        }
        if case .newer(var found) = verdict, let sentAt = session.record.journal?.startedAt {
            // The server has received a token that had been replaced, and may reject its successors because of that.
            found.journal = found.unresolvedJournal ?? RefreshJournal(of: found, sentAt: sentAt)
            adopt(found, answer.snapshot.deadlines)
            self.session?.hasReadJournal = false
            return
        }
        switch verdict {
        case .gone(let mark) where !sharesStore || mark?.expiry != nil:
            // The server has rejected another process's tokens, too. Or no other process uses the store, and the app
            // has emptied it.
            return expire(because: mark?.expiry ?? reason)
        default:
            if follow(verdict, answer.snapshot.deadlines) { return }
        }
        expire(because: reason)
        if let failure = answer.failure ?? verdict.readFailure {
            emit(.storeDeleteFailed(failure))
            startEnding(EndMark(session.record.position, expiry: reason))
        } else if ending == nil {
            // The store may contain a later sign-in of another process.
            reconcile(answer.snapshot)
        }
    }

    /// The store does not confirm an expiry now. Callers do not wait until it does, and the token may still work until
    /// it expires.
    private mutating func confirmationDelayed(by failure: RefreshError) {
        session?.confirmationFailure = failure
        session?.standing = .good
        resumeWaiters(.failure(.refreshFailed(failure)))
    }

    /// An ending has succeeded or failed.
    private mutating func endingAnswered(_ answer: StoreAnswer) {
        guard let ending else { return }
        resumeEndingWaiters()
        if let failure = answer.failure ?? reasonToRepeat(ending, answer) {
            endingFailed(answer)
            emit(.storeDeleteFailed(failure))
            return scheduleStoreRetry()
        }
        self.ending = nil
        if ending.hasFailed { emit(.storeRecovered(nil)) }
        var mark = ending.mark
        if case .end(let raised) = answer.decision.update { mark = raised } else { noteUnreadChange(answer.snapshot) }
        self.mark = EndMark.later(self.mark, mark)
        guard case .found(let record) = answer.snapshot.reading else { return reconcile(answer.snapshot) }
        guard mark.covers(record) else { return reconcile(answer.snapshot) }
        // Even a process that has signed this session out may know only tokens from before its last refresh.
        if mark.expiry == nil || ending.signOutEpoch != nil {
            revoke(record, expiresAt: answer.snapshot.deadlines?.expiresAt)
        }
    }

    /// While the ending was pending, no reading was followed, and the store could not be read now. Another process may
    /// have signed a user in.
    private mutating func noteUnreadChange(_ snapshot: StoreSnapshot) {
        guard sharesStore, !snapshot.reading.wasReadable else { return }
        hasUnreadChange = true
        scheduleStoreRetry(hasWork: false)
    }

    /// The reason why an ending must be repeated although the store has performed it: the record was left because it
    /// cannot be read, and it may be one that has ended. A sign-out gives up if waiting would not help.
    private func reasonToRepeat(_ ending: Ending, _ answer: StoreAnswer) -> StorageError? {
        guard let failure = answer.snapshot.reading.failure, ending.signOut != nil else {
            return answer.snapshot.reading.failure
        }
        guard case .mark = answer.decision.update, failure.kind.isTransient else { return nil }
        return failure
    }

    /// An attempt at the pending ending has failed. The next one still ends what this one was to end, but none of the
    /// records that another process has written since.
    private mutating func endingFailed(_ answer: StoreAnswer) {
        ending?.hasFailed = true
        let isUnread = !answer.snapshot.reading.wasReadable
        if isUnread, case .anything? = ending?.signOut { return }
        ending?.signOut = nil
        switch answer.decision.update {
        case .end(let raised), .mark(let raised):
            guard let mark = ending?.mark else { return }
            ending?.mark = EndMark.later(mark, raised) ?? mark
            self.mark = EndMark.later(self.mark, raised)
        case .keep, .write, .delete: return
        }
    }

    /// Starts ending the sessions up to a mark.
    /// - Parameter coversOwnWrites: Whether to end this process's own records, too, even those that a late write may
    ///   still store.
    private mutating func startEnding(_ mark: EndMark, signOut: SignOut? = nil, coversOwnWrites: Bool = false) {
        // One ending covers any earlier one that is still pending.
        let mark = EndMark.later(ending?.mark, mark) ?? mark
        self.mark = EndMark.later(self.mark, mark)
        let coversOwnWrites = coversOwnWrites || signOut != nil
        ending = Ending(
            mark: mark, signOut: signOut, signOutEpoch: coversOwnWrites ? epoch : ending?.signOutEpoch)
        actions.append(.store(.end))
    }
}

// MARK: - Changes by other processes

extension SessionStateMachine {
    /// Adapts the state to changes that another process may have made in the store.
    private mutating func reconcile(_ snapshot: StoreSnapshot) {
        guard let session else {
            if !isUnread { reconcileWithoutSession(snapshot) }
            return
        }
        // A pending update compares the stored record itself.
        guard !session.isStoring, session.pendingExpiry == nil else { return }
        let verdict = judge(snapshot.reading, for: session.record, of: session)
        if follow(verdict, snapshot.deadlines) { return }
        guard case .ours(let found?) = verdict else { return }
        if session.base == .stored, found.id != session.record.id || found.generation < session.record.generation {
            // Another process has retried its write of a session that ended here, or this process has written its
            // session at too low a position, without having read the store.
            let failure = StorageError(.unreachable, "the session was overwritten, or stands below one that has ended")
            self.session?.persistence = .behind(failure)
            emit(.storeWriteFailed(failure))
            scheduleStoreRetry()
        } else if session.isStored(as: found) {
            // A write that was reported as failed has succeeded.
            markWritten()
        }
    }

    private mutating func reconcileWithoutSession(_ snapshot: StoreSnapshot) {
        switch snapshot.reading {
        case .found(let record) where mark?.covers(record) != true && !endedHere.contains(record.id):
            activate(record, snapshot.deadlines)
        case .found(let record):
            // Another process has written a session that has ended, or was killed while it ended that session.
            if ending == nil { startEnding(EndMark.later(mark, EndMark(record.position)) ?? EndMark(record.position)) }
        case .ended(let found) where found.position == mark?.position && mark?.expiry == nil && found.expiry == nil:
            // The user has signed out in another process since, perhaps from a later session that this one has not
            // seen.
            guard case .expired(_, let expired) = absence else { break }
            endSession(.signedOut)
            emit(.signedOutElsewhere(expired))
        case .ended, .empty, .unavailable:
            break
        }
    }

    /// Follows another process that has refreshed the tokens, signed a user in, or signed out. New tokens that this
    /// process is still storing are never used then.
    /// - Returns: Whether there was anything to follow.
    private mutating func follow(_ verdict: StoreVerdict, _ deadlines: TokenDeadlines?) -> Bool {
        guard let session else { return false }
        switch verdict {
        case .ours, .unreadable:
            return false
        case .newer(let found):
            if session.isStoring { emit(.refreshDiscarded(session.record.stamp)) }
            adopt(found, deadlines)
        case .otherSession(let found):
            abandonUnwritten(of: session)
            activate(found, deadlines)
        case .gone(let mark):
            abandonUnwritten(of: session)
            endedElsewhere(session, mark)
        }
        return true
    }

    /// Revokes tokens that the store does not contain, because no other process knows them.
    private mutating func abandonUnwritten(of session: ActiveSession) {
        guard let unwritten = session.unwritten else { return }
        if session.isStoring { emit(.refreshDiscarded(session.record.stamp)) }
        actions.append(.revoke(unwritten.tokens, expiresAt: nil))
    }

    /// Uses the tokens that another process has stored for the same session.
    private mutating func adopt(_ record: StoredSession, _ deadlines: TokenDeadlines?) {
        session?.install(record, deadlines)
        session?.hasReadJournal = record.unresolvedJournal != nil
        markWritten()
        emit(.adopted(record.stamp))
        resumeWaiters(.refreshedElsewhere(record.id))
    }

    /// Makes a session from the store the current one.
    private mutating func activate(_ record: StoredSession, _ deadlines: TokenDeadlines?) {
        endSession(.sessionChanged)
        // A process that could not read the store has signed a user in at too low a position, below the mark.
        if mark?.covers(record) == true { mark = nil }
        if ending?.mark.covers(record) == true { dropEnding() }
        start(record, deadlines)
        emit(.adopted(record.stamp))
    }

    /// Starts a session that the store contains.
    private mutating func start(_ record: StoredSession, _ deadlines: TokenDeadlines?) {
        learn(.found(record))
        session = ActiveSession(
            record: record, hasReadJournal: record.unresolvedJournal != nil, deadlines: deadlines)
        absence = .signedOut
    }

    /// Another process has ended the session. If there is no mark with a reason, the user signed out there.
    private mutating func endedElsewhere(_ session: ActiveSession, _ mark: EndMark?) {
        if let reason = mark?.expiry { return expire(because: reason) }
        endSession(.signedOut)
        emit(.signedOutElsewhere(session.record.id))
    }
}

extension StoreReading {
    /// The position of the content; `nil` if it could not be read.
    var position: SessionPosition? {
        switch self {
        case .found(let record): record.position
        case .ended(let mark): mark.position
        case .empty: SessionPosition(generation: 0, rotation: 0)
        case .unavailable: nil
        }
    }

    /// The position of the record, or what a mark says for certain.
    fileprivate var certainPosition: SessionPosition? {
        switch self {
        case .found(let record): record.position
        case .ended(let mark): mark.certainPosition
        case .empty, .unavailable: nil
        }
    }

    fileprivate var failure: StorageError? {
        if case .unavailable(let failure) = self { failure } else { nil }
    }

    fileprivate func contains(_ session: SessionID) -> Bool {
        if case .found(let record) = self { record.id == session } else { false }
    }

    fileprivate var hasJournal: Bool {
        if case .found(let record) = self { record.journal != nil } else { false }
    }
}

extension StoredSession {
    /// The record of the next rotation. Values that the server does not repeat are kept.
    fileprivate func renewed(with new: Tokens, lifetime: Duration?, _ estimatedExpiry: Date?) -> StoredSession {
        var record = self
        record.tokens = new
        record.tokens.refreshToken = new.refreshToken ?? tokens.refreshToken
        record.tokens.scope = new.scope ?? tokens.scope
        record.rotation += 1
        record.lifetime = lifetime
        record.estimatedExpiry = estimatedExpiry
        record.journal = nil
        record.tokens.keepDetails(of: tokens)
        return record
    }
}
