#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension SessionStateMachine {
    /// A task for the store.
    indirect enum StoreTask: Hashable, Sendable {
        /// Read the record, for the first time or because another process may have changed it.
        case read
        /// Write the newest record of the session.
        case write
        /// Write the journal of a refresh.
        case prepare(RefreshJob)
        /// Remove the journal from a record whose refresh token turned out to be unspent.
        case clearJournal(StoredSession)
        /// Delete the record after the server has rejected its refresh token.
        case confirmExpiry
        /// Raise the mark (``EndMark``) of the pending ending, and delete the record if the mark covers it.
        case end

        /// Whether the task relies on the lock between processes that its refresh has acquired.
        var needsLock: Bool {
            switch self {
            case .write, .clearJournal: true
            case .read, .prepare, .confirmExpiry, .end: false
            }
        }
    }

    /// The decision that the machine made when the store offered its content. It is needed again to interpret the
    /// store's answer.
    struct StoreDecision: Hashable, Sendable {
        var update: StoreUpdate
        /// The record to be written. For a preparation it is set only if the stored record had no journal.
        var subject: StoredSession?
        /// The record to be overwritten or deleted.
        var former: StoredSession?
        /// The ending that the task performs; `nil` for another task.
        let ending: Ending?
        /// The epoch of the decision. Once a later sign-in or sign-out has taken effect, the answer is outdated.
        let epoch: Int
        /// Whether this process did not hold the lock, so another process may be refreshing the same record.
        var hasLostLock = false
        /// The position of the content that the decision was about; `nil` if the content could not be read.
        var found: SessionPosition?
        /// Whether the store was empty.
        var hasFoundNothing = false
    }

    /// The tokens to revoke after a session has ended.
    struct Revocation: Hashable, Sendable {
        /// The newest record of the session that this process knows.
        let record: StoredSession
        /// The uptime at which the access token expires; `nil` if it is unknown.
        var expiresAt: Duration?
    }

    /// The content of the store, with the deadlines of the stored access token on this device's monotonic clock.
    struct StoreSnapshot: Hashable, Sendable {
        var reading: StoreReading
        var deadlines: TokenDeadlines?
    }

    struct StoreAnswer: Hashable, Sendable {
        /// The decision about the content.
        let decision: StoreDecision
        /// The content of the store before the task.
        let snapshot: StoreSnapshot
        /// The reason why the task failed.
        var failure: StorageError?
    }

    /// The end of one or more sessions in the store. It is retried until the store confirms it.
    struct Ending: Hashable, Sendable {
        /// The mark up to which sessions end, as far as this process knew.
        var mark: EndMark
        /// The other sessions that a user's sign-out ends; `nil` for any other ending. Also `nil` after an attempt that
        /// has read the store, because a retry could find records that another process has written since.
        var signOut: SignOut?
        /// The epoch that began with the user's sign-out; `nil` for any other ending.
        var signOutEpoch: Int?
        var hasFailed = false

        /// Whether there may be a session that the ending spares.
        var spares: Bool {
            if case .anything? = signOut { false } else { true }
        }
    }

    /// A sign-out of this process.
    struct LastSignOut: Hashable, Sendable {
        /// The epoch that began with it.
        let epoch: Int
        /// Whether a user may have been signed in until then.
        let hadSession: Bool
        /// The ID token of that user, until a caller has received it.
        var idToken: Secret?
    }

    /// The sessions that a sign-out ends even though this process has not read them.
    enum SignOut: Hashable, Sendable {
        /// Sessions up to this position.
        case before(SessionPosition)
        /// All sessions, because this process has read nothing. Sign-ins made between this position (the time of the
        /// sign-out) and now are spared.
        case anything(SessionPosition)

        var position: SessionPosition {
            switch self {
            case .before(let position), .anything(let position): position
            }
        }

        /// The reach of two sign-outs in a row, the first of which is still pending.
        static func widest(_ first: SignOut?, _ second: SignOut) -> SignOut {
            guard let first else { return second }
            let position = max(first.position, second.position)
            if case .anything = first { return .anything(position) }
            if case .anything = second { return .anything(position) }
            return .before(position)
        }

        func covers(_ position: SessionPosition, at wallClock: Date) -> Bool {
            guard position > self.position, case .anything = self else { return position <= self.position }
            // A sign-in of the future was made while the clock was ahead.
            return position.generation > StoredSession.generation(at: wallClock)
        }
    }
}
