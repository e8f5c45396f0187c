#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension SessionStateMachine {
    /// Somebody who waits for a token.
    typealias WaiterID = Int
    /// Names one order to the outside, so that its late answer is known as late.
    typealias OrderID = Int

    enum State: Hashable, Sendable {
        case notLoaded
        case loading(waiters: Set<WaiterID>)
        case unavailable(StorageFailure)
        case signedOut
        case signedIn(ActiveSession)
        case expired(ExpiryReason, SessionID)
    }

    struct ActiveSession: Hashable, Sendable {
        /// Its journal is set while the server may have spent the refresh token without our knowing its successor.
        var record: StoredSession
        /// `nil` where nothing sensible is known of the lifetime: then only a refusal leads to a refresh.
        var life: TokenLife?
        var phase: Phase = .settled
        var waiters: Set<WaiterID> = []
        /// The server has refused the current token.
        var isRejected = false
        /// A new sign-in becomes visible once its record has been written, or writing it has failed.
        var isAnnounced = true
        /// Whether the store has the newest tokens.
        var isSaved = true
        /// Whether the store has ever had a record of this session: only then does its absence tell anything.
        var isStored = true
        var saveFailures = 0
        /// The second and later tries to write the current record.
        var saveRetry: OrderID?
        /// A wait before the next try is under way; one is enough.
        var awaitsSaveRetry = false
        var coolDown: CoolDown?
        var failures = 0
        var recentRefreshes: [Duration] = []
    }

    enum Phase: Hashable, Sendable {
        case settled
        /// Waits for the lock, and looks into the store for what others have done meanwhile.
        case preparing(RefreshOrder)
        /// The refresh token is at the server.
        case sending(RefreshOrder, isDoubtful: Bool)
        /// The new record is on its way to the store, and nobody sees its tokens before it is there.
        case saving(SaveOrder)
        /// The server has refused the refresh token: unless the store has a newer one, that is the end.
        case condemning(RefreshOrder, ExpiryReason)
    }

    struct CoolDown: Hashable, Sendable {
        var until: Duration
        var failure: RefreshFailure
    }

    /// One refresh, whatever it takes.
    struct RefreshOrder: Hashable, Sendable {
        let id: OrderID
        let record: StoredSession
        /// Whether the store is known to have had a record of this session.
        var isStored: Bool
        /// When the refresh token went out for the first time.
        var firstSentAt: Duration?
        /// How often it went out again after an answer was lost.
        var replays = 0
        /// Whether it may have gone out before, in an earlier try or from another process, and its answer was lost.
        var mayHaveBeenSent = false

        var stamp: SessionStamp { record.stamp }
    }

    /// One try to write a record.
    struct SaveOrder: Hashable, Sendable {
        let id: OrderID
        let record: StoredSession
        let life: TokenLife?
        /// Whether the store is known to have had a record of this session. If not, somebody has just signed in, and
        /// whatever is there gives way; else the record gives way to what others have done meanwhile.
        var isStored: Bool
    }

    /// Whose record is deleted.
    enum DeletionScope: Hashable, Sendable {
        case everybody
        case session(SessionID)
        case everybodyBut(SessionID)
        /// This one, whose token was refused, and none that is newer.
        case refused(StoredSession)

        func includes(_ record: StoredSession) -> Bool {
            switch self {
            case .everybody: return true
            case .session(let id): return id == record.id
            case .everybodyBut(let id): return id != record.id
            case .refused(let refused):
                switch RecordComparison(.found(record), with: refused) {
                case .same, .older: return true
                case .newer, .otherSession, .gone, .unreadable: return false
                }
            }
        }
    }

    struct Deletion: Hashable, Sendable {
        let id: OrderID
        let scope: DeletionScope
        /// Whether a record that cannot be read stays: it may be somebody else's, or a newer one of the same session.
        let sparesUnreadable: Bool
        var failures = 0
    }

    /// What was found in the store, with the life of the token in it by this device's clock.
    struct Sighting: Hashable, Sendable {
        var reading: StoreReading
        var life: TokenLife?

        static func unavailable(_ failure: StorageFailure) -> Sighting {
            Sighting(reading: .unavailable(failure), life: nil)
        }
    }

    enum Answer: Hashable, Sendable {
        case token(Credential)
        case failure(SessionError)
        /// The waiter will be resumed.
        case wait
        /// What there was to wait for is over; what it means for this waiter shows when it asks anew.
        case askAgain
        /// Others have renewed the token: whoever wanted a new one, no matter why, now wants any that is good, of this
        /// session alone.
        case renewed(SessionID)
    }

    enum RefreshOutcome: Hashable, Sendable {
        case success(TokenBundle, TokenLifetime?, freshUntil: Date?)
        case transient(RefreshFailure)
        case terminal(ExpiryReason)
    }

    enum Action: Hashable, Sendable {
        case load
        /// Runs one refresh: prepare, send, report.
        case refresh(RefreshOrder)
        case save(SaveOrder)
        /// Deletes the record of an order unless there is a newer one.
        case condemn(RefreshOrder)
        case delete(Deletion)
        /// Takes the journal off a record whose token has turned out unspent.
        case clearJournal(StoredSession)
        case retrySave(after: Duration)
        case retryDelete(OrderID, after: Duration)
        case resume([WaiterID], Answer)
        case revoke(TokenBundle)
        case emit(SessionEvent)
    }
}
