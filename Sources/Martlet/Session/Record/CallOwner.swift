/// The sign-in state when a call was made. No attempt of the call, and no stream that comes from it, may use another
/// session than the one that was current then.
struct CallOwner: Hashable, Sendable {
    /// What was current when the call was made.
    enum Situation: Hashable, Sendable {
        /// The store had not been read.
        case unknown
        case signedOut
        case expired
        case session(SessionID)
    }

    /// The number of sign-ins and sign-outs before the call.
    let epoch: Int
    let situation: Situation

    /// The session that the call belongs to; `nil` if it belongs to none, or if the store had not been read.
    var session: SessionID? {
        if case .session(let id) = situation { id } else { nil }
    }
}
