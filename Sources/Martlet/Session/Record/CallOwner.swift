/// The sign-in state when a call was made. It is captured once, before the call first suspends, and stays with the
/// call. Every attempt of the call, and every stream that it returns, uses the session that was current then, or none.
package struct CallOwner: Hashable, Sendable {
    /// The sign-in state when the call was made.
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

    /// The owner of a call that needs no session. The call gets no token, and does not end with a session.
    package static var unbound: CallOwner { CallOwner(epoch: -1, signInState: .unbound) }

    /// Whether the call depends on the sign-in state at all.
    var isBound: Bool {
        if case .unbound = signInState { false } else { true }
    }

    /// The session that the call belongs to; `nil` if there was none, or if the store had not been read.
    package var session: SessionID? {
        if case .session(let id) = signInState { id } else { nil }
    }
}
