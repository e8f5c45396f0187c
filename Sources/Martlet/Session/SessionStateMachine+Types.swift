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
        var record: StoredSession
        /// `nil` where nothing sensible is known of the lifetime: then only a refusal leads to a refresh.
        var life: TokenLife?
        var phase: Phase = .settled
        var waiters: Set<WaiterID> = []
        /// The server has refused the current token.
        var isRejected = false
        /// A new sign-in becomes visible once its record has been written, or writing it has failed.
        var isAnnounced = true
        var isSaved = true
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
        case refreshing(RefreshOrder)
        /// The new record is on its way to the store, and nobody sees its tokens before it is there.
        case saving(OrderID, StoredSession, TokenLife?)
    }

    struct CoolDown: Hashable, Sendable {
        var until: Duration
        var failure: RefreshFailure
    }

    struct RefreshOrder: Hashable, Sendable {
        let id: OrderID
        let stamp: SessionStamp
        let bundle: TokenBundle
    }

    enum Answer: Hashable, Sendable {
        case token(Credential)
        case failure(SessionError)
        /// The waiter will be resumed.
        case wait
        /// What there was to wait for is over; what it means for this waiter shows when it asks anew.
        case askAgain
    }

    enum RefreshOutcome: Hashable, Sendable {
        case success(TokenBundle, TokenLifetime?, freshUntil: Date?)
        case transient(RefreshFailure)
        case terminal(ExpiryReason)
    }

    enum Action: Hashable, Sendable {
        case load
        case refresh(RefreshOrder)
        case save(OrderID, StoredSession)
        case delete
        case retrySave(after: Duration)
        case resume([WaiterID], Answer)
        case revoke(TokenBundle)
        case emit(SessionEvent)
    }
}
