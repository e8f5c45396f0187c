/// The sign-in state when a call was made. It is taken once, before the first suspension, and travels with the call: no
/// attempt of the call, and no stream that comes from it, may use another session than the one that was current then.
package struct CallOwner: Hashable, Sendable {
    /// The sign-in state that was current when the call was made.
    enum SignInState: Hashable, Sendable {
        /// The call needs no session, or its client has no manager.
        case unbound
        /// The store had not been read.
        case unknown
        case signedOut
        case expired
        case session(SessionID)
    }

    /// The number of sign-ins and sign-outs before the call.
    package let epoch: Int
    let signInState: SignInState

    /// The owner of a call that needs no session. It gets no token, and does not end with a session.
    package static var unbound: CallOwner { CallOwner(epoch: -1, signInState: .unbound) }

    /// Whether the call belongs to the sign-in state that was current when it was made.
    var isBound: Bool {
        if case .unbound = signInState { false } else { true }
    }

    /// The session that the call belongs to; `nil` if it belongs to none, or if the store had not been read.
    package var session: SessionID? {
        if case .session(let id) = signInState { id } else { nil }
    }
}
