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
        /// Delete the record whose refresh token the server has rejected.
        case confirmExpiry
        /// Raise the mark of the pending ending, and delete the records that it covers.
        case end

        /// Whether the task belongs to a refresh that has been prepared, and counts on the lock between processes.
        var needsLock: Bool {
            switch self {
            case .write, .clearJournal: true
            case .read, .prepare, .confirmExpiry, .end: false
            }
        }
    }

    /// The machine's decision when the store offered its record. It is kept to interpret the store's answer.
    struct StoreDecision: Hashable, Sendable {
        var update: StoreUpdate
        /// The record to be written; of a preparation only if it gets its first journal.
        var subject: StoredSession?
        /// The record to be overwritten or deleted.
        var former: StoredSession?
        /// The ending that the task performs; `nil` for another task.
        let ending: Ending?
        /// The epoch of the decision. The answer to an earlier one is outdated.
        let epoch: Int
        /// Whether this process did not hold the lock, so that the reading may be outdated.
        var hasLostLock = false
        /// The place of the content that the decision was made about; `nil` if that was not known.
        var found: SessionOrder?
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

    /// The store's answer to a task.
    struct StoreAnswer: Hashable, Sendable {
        /// The decision about the content.
        let decision: StoreDecision
        /// The content of the store before the task.
        let snapshot: StoreSnapshot
        /// The reason why the task failed.
        var failure: StorageError?
    }

    /// The end of one or more sessions, which is repeated until the store has confirmed it.
    struct Ending: Hashable, Sendable {
        /// The mark of the sessions that end, as far as this process knew.
        var mark: EndMark
        /// The other sessions that a user's sign-out ends; `nil` for another ending, and after the first attempt: a
        /// later one could find records that another process has written since.
        var signOut: SignOut?
        /// The epoch that a user's sign-out has begun; `nil` for another ending.
        var signOutEpoch: Int?
        var hasFailed = false
    }

    /// The sessions that a sign-out ends although this process has not read them.
    enum SignOut: Hashable, Sendable {
        /// Sign-ins before it, by the clock.
        case before(SessionOrder)
        /// Anything, because this process has read nothing, except sign-ins that came after it by the clock. By the clock,
        /// those before it are up to this place.
        case anything(SessionOrder)

        var order: SessionOrder {
            switch self {
            case .before(let order), .anything(let order): order
            }
        }

        func covers(_ order: SessionOrder, at wallClock: Date) -> Bool {
            guard order > self.order, case .anything = self else { return order <= self.order }
            // A sign-in of the future was made while the clock was ahead.
            return order.generation > StoredSession.generation(at: wallClock)
        }
    }
}
