#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension SessionStateMachine {
    /// Identifies a suspended caller.
    typealias WaiterID = Int
    /// Identifies a refresh.
    typealias JobID = Int

    /// An action that ``TokenManager`` must perform after an event.
    enum Action: Hashable, Sendable {
        /// Ask the store, and report its answer.
        case store(StoreTask)
        /// Call `storeRetryDue()` after a delay. `hasWork` says whether there is something to write or delete.
        case retryStore(after: Duration, hasWork: Bool)
        /// Run one refresh: acquire the lock, prepare, send, report the result.
        indirect case refresh(RefreshJob)
        case resume([WaiterID], WaiterReply)
        /// Revoke tokens. `expiresAt` is the expiry of the access token; in the past if the server has rejected it.
        indirect case revoke(Tokens, expiresAt: Duration?)
        /// Call `networkReturned()` when the device has a network again.
        case awaitNetwork
        /// Call `probeDue(at:)` at this uptime.
        case probe(at: Duration)
        case emit(SessionEvent)
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

    /// The proof that the server has accepted a token.
    enum Acceptance: Hashable, Sendable {
        /// The first acceptance of a token of unknown lifetime.
        case first
        /// The call was a replay. Its first attempt was rejected with this token before the refresh was sent.
        case replay(after: SessionStamp)
        /// The call went out with a token that another call's endpoint had rejected.
        case probe(WaiterID)
    }

    /// Whether a caller may go out with a token that the server has rejected at another endpoint.
    enum ProbePermission: Hashable, Sendable {
        /// The caller waits until the token is replaced, or accepted at another endpoint.
        case waits
        /// The caller may go out with the token. It can replay its request after a rejection, and reports the outcome.
        case mayProbe
        /// The caller may go out with the token if no other caller can. Its endpoint may accept any token.
        case mayProbeLast
    }

    /// The next step of a refresh after its preparation.
    enum Preparation: Hashable, Sendable {
        /// Send the refresh token now.
        case send
        /// The refresh is no longer needed, or must not send its token.
        case stop
        /// Acquire the lock again.
        case startOver
    }

    /// The times and the random number of an event.
    struct Moment: Hashable, Sendable {
        var uptime: Duration
        var wallClock: Date
        /// Between 0 and 1.
        var jitter: Double

        func before(_ duration: Duration) -> Moment {
            Moment(
                uptime: uptime - duration, wallClock: wallClock.addingTimeInterval(-duration.inSeconds), jitter: jitter)
        }
    }
}
