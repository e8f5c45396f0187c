extension SessionStateMachine {
    /// The reason why there is no session, as far as this process knows.
    enum Absence: Hashable, Sendable {
        /// The store has not been read, or could not be.
        case unknown(StorageError?)
        case signedOut
        /// The session is `nil` if it is known only from the mark in the store.
        case expired(ExpiryReason, SessionID?)
    }

    /// The session of the signed-in user.
    struct ActiveSession: Sendable {
        /// The current record. Its journal is set while the fate of its refresh token is unknown.
        var record: StoredSession
        /// Whether the record's journal was read from the store, so that another process may remove it.
        var hasReadJournal = false
        /// `nil` if the lifetime is unknown. Then only a rejection causes a refresh.
        var deadlines: TokenDeadlines?
        var refresh = Refresh.idle
        var persistence = Persistence.written
        var base = Base.stored
        /// The owner of calls that are made while this sign-in is being saved: still that of the state before it.
        var shownOwner: CallOwner?
        /// The reason why the tokens of the last refresh must not be used yet: the store must contain them first.
        var withheld: RefreshError?
        /// Whether the server accepts the current access token, judging by its responses.
        var standing = Standing.good
        /// Whether the server has accepted the current token. Tracked only if the token's lifetime is unknown.
        var wasAccepted = false
        /// Why the store did not confirm an expiry in time. Callers get this error until it confirms.
        var confirmationFailure: RefreshError?
        /// The error of the last refresh that failed.
        var lastFailure: RefreshError?
        /// The number of consecutive failed refreshes that reached the server.
        var failures = 0
        /// The last wasteful refreshes, for ``SessionPolicy/refreshBudget``.
        var wastefulRefreshes: [WastefulRefresh] = []
        /// The reason why the record that the sign-in replaced could not be read.
        var replacedRecord: StorageError?
    }

    /// Whether the server accepts an access token, judging by its responses. Always `good` without a refresh.
    enum Standing: Hashable, Sendable {
        case good
        /// An endpoint has rejected the token. Callers wait for the refresh. A few of them, the probes, go out with the
        /// token, in case other endpoints accept it.
        case rejected(probes: Set<WaiterID>)
        /// One endpoint has rejected the token, and another has accepted it since. It is used until the refresh ends.
        case disputed
    }

    /// A refresh that counts against ``SessionPolicy/refreshBudget``.
    struct WastefulRefresh: Hashable, Sendable {
        let startedAt: Duration
        /// The token that was rejected, if the charge is dropped once a replay of the call succeeds; otherwise `nil`.
        var provisional: SessionStamp?
    }

    /// The step that a refresh has reached. A sign-in uses the step ``storing(_:_:)``, too.
    enum Refresh: Hashable, Sendable {
        case idle
        /// No refresh starts until this uptime, and callers that need one get the error of the last one.
        case backingOff(until: Duration)
        /// The refresh waits for the lock, reads the store again and writes the journal.
        indirect case preparing(RefreshJob)
        /// The refresh token is being sent. If `isInDoubt`, it may have been sent before, so a rejection means
        /// ``ExpiryReason/rotationLost``.
        indirect case sending(RefreshJob, isInDoubt: Bool)
        /// The record of a refresh or a sign-in is being written. Its tokens are handed out only afterwards, so that a
        /// crash cannot lose tokens that are in use.
        indirect case storing(StoredSession, TokenDeadlines?)
        /// The server has rejected the refresh token. The session ends unless the store contains a newer record.
        case confirmingExpiry(ExpiryReason)
    }

    /// Whether the store contains the session's newest tokens.
    enum Persistence: Hashable, Sendable {
        /// The record of a sign-in is still being written. Callers do not see the session yet.
        case unwritten
        case written
        /// The newest tokens could not be written. They are used from memory, and the write is retried.
        case behind(StorageError)
    }

    /// The content of the store that a session may replace: records of other sessions, and marks.
    enum Base: Hashable, Sendable {
        /// Anything: the user has just signed in, and this is the first attempt to write.
        case anything
        /// Any mark, and records up to this position. This is the first attempt to write an unattended sign-in, which
        /// must not replace a user whose record this process has never read.
        case endedOrUpTo(SessionPosition)
        /// Records and marks up to this position, which the sign-in knew. Any others are newer than the sign-in.
        case upTo(SessionPosition)
        /// Nothing. The store has contained this session, so any other record is newer, and if there is no record,
        /// another process has signed out.
        case stored

        /// The position up to which records may be replaced, if there is one.
        var limit: SessionPosition? {
            switch self {
            case .upTo(let position), .endedOrUpTo(let position): position
            case .anything, .stored: nil
            }
        }
    }

    /// One refresh of a record's tokens, including its replays.
    struct RefreshJob: Hashable, Sendable {
        let id: JobID
        let record: StoredSession
        /// The uptime at which the refresh token was first sent.
        var firstSentAt: Duration?
        /// The number of times that the token was sent again after a lost response.
        var replays = 0
        /// The charge against the budget; `nil` if the refresh is free.
        var charge: WastefulRefresh?

        var stamp: SessionStamp { record.stamp }
    }
}

extension SessionStateMachine.ActiveSession {
    /// Whether callers can see the session.
    var isVisible: Bool { persistence != .unwritten }

    /// The reason why the store does not contain the newest tokens; `nil` if it does.
    var saveFailure: StorageError? {
        if case .behind(let failure) = persistence { failure } else { nil }
    }

    var hasRefreshToken: Bool { record.tokens.refreshToken != nil }

    var credential: Credential { credential(probedBy: nil) }

    /// - Parameter prober: The caller that probes the token after another endpoint rejected it.
    func credential(probedBy prober: Int?) -> Credential {
        Credential(
            stamp: record.stamp, accessToken: record.tokens.accessToken, isUnproven: deadlines == nil && !wasAccepted,
            prober: prober)
    }

    /// Whether a refresh or a sign-in is in progress that callers can wait for.
    var isBusy: Bool {
        switch refresh {
        case .idle, .backingOff: false
        case .preparing, .sending, .storing, .confirmingExpiry: true
        }
    }

    var isPreparing: Bool {
        if case .preparing = refresh { true } else { false }
    }

    /// Whether the record of a refresh or a sign-in is being written.
    var isStoring: Bool {
        if case .storing = refresh { true } else { false }
    }

    /// The reason why the session ends, while the store is asked to confirm that the server rejected its newest tokens.
    var pendingExpiry: ExpiryReason? {
        if case .confirmingExpiry(let reason) = refresh { reason } else { nil }
    }

    /// The newest record, even if it is still being written.
    var newest: (record: StoredSession, deadlines: TokenDeadlines?) {
        if case .storing(let record, let deadlines) = refresh { (record, deadlines) } else { (record, deadlines) }
    }

    /// The record that the store does not contain yet; `nil` if it is up to date.
    var unwritten: StoredSession? {
        if case .storing(let record, _) = refresh { return record }
        return persistence == .written ? nil : record
    }

    /// Whether callers must not use the access token, because the server has rejected it.
    var isRejected: Bool {
        if case .rejected = standing { true } else { false }
    }

    /// Whether the access token has reached its stated expiry.
    func isExpired(at now: Duration) -> Bool {
        deadlines.map { $0.expiresAt <= now } ?? false
    }

    /// Records that an endpoint rejected the access token. Once another endpoint has accepted it, a rejection concerns
    /// only its own call.
    mutating func markRejected() {
        if standing == .good { standing = .rejected(probes: []) }
    }

    func isUsable(at now: Duration) -> Bool {
        guard isVisible, !isRejected, withheld == nil else { return false }
        // Without a refresh token there is no replacement for an expired token, so let the server judge it.
        guard let deadlines, hasRefreshToken else { return true }
        return now < deadlines.expiresAt
    }

    /// Lets the session replace everything up to a position, and ranks it above that.
    mutating func raise(above position: SessionPosition) {
        base = .upTo(position)
        raiseGeneration(above: position)
    }

    mutating func raiseGeneration(above position: SessionPosition) {
        raiseGeneration(to: position.generationAbove)
    }

    /// Ranks the session above the records that it replaces.
    mutating func raiseGeneration(to generation: Int) {
        record.raiseGeneration(to: generation)
        guard case .storing(var next, let deadlines) = refresh else { return }
        next.raiseGeneration(to: generation)
        refresh = .storing(next, deadlines)
    }

    /// Makes tokens the current ones, and forgets the rejection and the failures of the previous ones.
    mutating func install(_ record: StoredSession, _ deadlines: TokenDeadlines?) {
        let former = self.record
        self.record = record
        self.record.raiseGeneration(to: former.generation)
        self.deadlines = deadlines
        refresh = .idle
        standing = .good
        wasAccepted = false
        confirmationFailure = nil
        lastFailure = nil
        failures = 0
    }
}
