#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension SessionStateMachine {
    /// Identifies a suspended caller.
    typealias WaiterID = Int
    /// Identifies a job or a deletion, so that a result that arrives too late is recognized.
    typealias JobID = Int

    /// Whether there is a session, as far as this process knows.
    enum State: Hashable, Sendable {
        case notLoaded
        case loading(waiters: Set<WaiterID>)
        case unavailable(StorageError)
        case signedOut
        case signedIn(ActiveSession)
        case expired(ExpiryReason, SessionID)
    }

    /// The session of the signed-in user: its record, the refresh or write in progress, and the callers that wait.
    struct ActiveSession: StoreClaimant, Hashable, Sendable {
        /// The current record. Its journal is set while the server may have spent the refresh token and the new tokens
        /// have not arrived.
        var record: StoredSession
        /// `nil` if the lifetime is unknown. Then only a rejection causes a refresh.
        var deadlines: TokenDeadlines?
        var phase: Phase = .settled
        var waiters: Set<WaiterID> = []
        /// Whether the server has rejected the current access token.
        var isRejected = false
        /// Whether callers can see the session. A sign-in becomes visible after its record was written or the write
        /// failed.
        var isVisible = true
        /// Why the store does not contain the newest tokens; `nil` if it does.
        var saveFailure: StorageError?
        /// Why the record that the sign-in replaced could not be read.
        var replacedRecord: StorageError?
        /// Whether the store has ever contained a record of this session. Only then does a missing record mean that
        /// another process signed out.
        var hasBeenStored = true
        /// Which record the session may replace as long as it has not been stored.
        var replaceable = Replaceable.anything
        /// The number of consecutive failed writes.
        var saveFailures = 0
        /// The retry of a failed write that is in progress.
        var saveRetry: JobID?
        /// Whether the delay before the next retry is running. There is at most one.
        var awaitsSaveRetry = false
        var backoff: Backoff?
        /// The number of consecutive failed refreshes.
        var failures = 0
        /// Whether the server has accepted the current token. Only tracked if its lifetime is unknown.
        var wasAccepted = false
        /// When the last wasteful refreshes started, for ``SessionPolicy/refreshBudget``.
        var wastefulRefreshes: [Duration] = []
    }

    /// Which record a session may replace that has never been stored.
    enum Replaceable: Hashable, Sendable {
        /// What the store contained at the sign-in is not known.
        case anything
        /// The record that the store contained at the sign-in, if there was one. Any other record is that of a later
        /// sign-in, in another process.
        case only(SessionID?)

        func contains(_ record: StoredSession) -> Bool {
            switch self {
            case .anything: true
            case .only(let id): record.id == id
            }
        }
    }

    /// The step that the session's refresh or sign-in has reached.
    enum Phase: Hashable, Sendable {
        /// There is no refresh or sign-in in progress.
        case settled
        /// The refresh waits for the lock, reads the store again and writes the journal.
        case preparing(RefreshJob)
        /// The refresh token is being sent. `isInDoubt`: an earlier attempt may already have sent it, so a
        /// rejection means ``ExpiryReason/rotationLost``.
        case sending(RefreshJob, isInDoubt: Bool)
        /// The record of a refresh or a sign-in is being written. Its tokens are handed out only after that, so that a
        /// crash cannot lose tokens that are in use.
        case saving(SaveJob)
        /// The server has rejected the refresh token. The session ends unless the store contains a newer record.
        case confirmingExpiry(RefreshJob, ExpiryReason)
    }

    /// The pause after a failed refresh: until it ends, no refresh starts, and callers that need one get its error.
    struct Backoff: Hashable, Sendable {
        var until: Duration
        var failure: RefreshError
    }

    /// One refresh of a record's tokens, including its replays.
    struct RefreshJob: StoreClaimant, Hashable, Sendable {
        let id: JobID
        let record: StoredSession
        /// Whether the store has ever contained a record of this session.
        var hasBeenStored: Bool
        var replaceable = Replaceable.anything
        /// When the refresh token was first sent.
        var firstSentAt: Duration?
        /// How often it was sent again after a lost response.
        var replays = 0
        /// Whether an earlier refresh, here or in another process, may have sent the same token and lost the response.
        var mayHaveBeenSentBefore = false

        var stamp: SessionStamp { record.stamp }
    }

    /// One attempt to write a record.
    struct SaveJob: StoreClaimant, Hashable, Sendable {
        let id: JobID
        let record: StoredSession
        let deadlines: TokenDeadlines?
        /// Whether the store has ever contained a record of this session. If not, this is a new sign-in, which
        /// overwrites any record. Otherwise a newer record of another process wins.
        var hasBeenStored: Bool
        var replaceable = Replaceable.anything
    }

    /// A session or one of its jobs, which may have to yield to the record of another session in the store.
    protocol StoreClaimant {
        var hasBeenStored: Bool { get }
        var replaceable: Replaceable { get }
    }

    /// Which stored records a deletion covers.
    enum DeletionScope: Hashable, Sendable {
        case allRecords
        case session(SessionID)
        case allRecordsExcept(SessionID)
        /// This record, whose token was rejected, or an older one of the same session, but not a newer one.
        case rejectedOrOlder(StoredSession)

        func includes(_ record: StoredSession) -> Bool {
            switch self {
            case .allRecords: return true
            case .session(let id): return id == record.id
            case .allRecordsExcept(let id): return id != record.id
            case .rejectedOrOlder(let rejected):
                switch RecordComparison(.found(record), with: rejected) {
                case .same, .older: return true
                case .newer, .otherSession, .gone, .unreadable: return false
                }
            }
        }
    }

    /// A deletion of stored records, which is retried until it succeeds.
    struct Deletion: Hashable, Sendable {
        let id: JobID
        let scope: DeletionScope
        /// Whether to keep a record that cannot be read: it may belong to another session, or be newer.
        let sparesUnreadable: Bool
        var failures = 0
    }

    /// The result of reading the store, with the deadlines of the stored access token on this device's monotonic clock.
    struct StoreSnapshot: Hashable, Sendable {
        var reading: StoreReading
        var deadlines: TokenDeadlines?

        static func unavailable(_ failure: StorageError) -> StoreSnapshot {
            StoreSnapshot(reading: .unavailable(failure), deadlines: nil)
        }
    }

    /// The machine's reply to a caller, at once or when it is resumed.
    enum WaiterReply: Hashable, Sendable {
        case token(Credential)
        case failure(SessionError)
        /// Suspend the caller; a later action resumes it.
        case wait
        /// The state has changed. The caller must repeat its request.
        case askAgain
        /// Another process has refreshed the tokens. The caller must ask again, now for any valid token of this
        /// session, even if it first asked for a refresh.
        case refreshedElsewhere(SessionID)
    }

    /// The result of a refresh: new tokens, a transient error, or a terminal rejection.
    enum RefreshOutcome: Hashable, Sendable {
        case success(TokenBundle, TokenLifetime?, estimatedExpiry: Date?)
        case transient(RefreshError)
        case terminal(ExpiryReason)
    }

    /// What ``TokenManager`` must do after an event.
    enum Action: Hashable, Sendable {
        case load
        /// Run one refresh: prepare it, send it, report the result.
        case refresh(RefreshJob)
        case save(SaveJob)
        /// Delete the job's record unless the store contains a newer one.
        case confirmExpiry(RefreshJob)
        case delete(Deletion)
        /// Remove the journal from a record whose refresh token turned out to be unspent.
        case clearJournal(StoredSession)
        /// Call `saveRetryDue()` after a delay.
        case retrySave(after: Duration)
        /// Call `deleteRetryDue(_:)` after a delay.
        case retryDelete(JobID, after: Duration)
        case resume([WaiterID], WaiterReply)
        /// Revoke tokens. `expiresAt`: the end of the access token's stated life; in the past if the server has rejected
        /// it.
        case revoke(TokenBundle, expiresAt: Duration?)
        /// Call `readRetryDue()` after a delay.
        case retryRead(after: Duration)
        case emit(SessionEvent)
    }
}

extension SessionStateMachine.ActiveSession {
    var credential: Credential {
        Credential(
            stamp: record.stamp, accessToken: record.bundle.accessToken, isUnproven: deadlines == nil && !wasAccepted)
    }

    func isUsable(at now: Duration) -> Bool {
        guard isVisible, !isRejected else { return false }
        // Without a refresh token there is no replacement for an expired token, so let the server judge it.
        guard let deadlines, record.bundle.refreshToken != nil else { return true }
        return now < deadlines.expiresAt
    }

    func isSaving(_ job: SessionStateMachine.SaveJob) -> Bool {
        guard case .saving(let current) = phase else { return false }
        return current.id == job.id
    }

    /// Forgets the rejection and the failures of the previous tokens.
    mutating func resetForNewTokens() {
        phase = .settled
        isRejected = false
        wasAccepted = false
        backoff = nil
        failures = 0
    }
}

extension SessionStateMachine.StoreClaimant {
    /// Whether the record of another session counts more than this session.
    func yields(to found: StoredSession) -> Bool {
        hasBeenStored || !replaceable.contains(found)
    }
}
