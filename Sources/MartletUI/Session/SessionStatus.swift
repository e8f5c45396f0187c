public import Martlet

/// What is known of a session, and the screen that follows from it.
public struct SessionStatus: Sendable, Hashable {
    /// The session's state as it was last heard of.
    public private(set) var state = SessionState.loading
    /// The session that is signed in, or the one that has ended while the app ran, until somebody signs in again or out.
    public private(set) var session: SignedInSession?
    /// Whether the start is over: the stored tokens have been tried, or that took too long.
    private var hasStarted = false

    /// A session that nothing is known of yet.
    public init() {}

    /// The screen to show. At the start it is ``SessionRoute/loading`` until the stored tokens have been tried, so that an
    /// app does not flash up that asks for a login the moment after.
    public var route: SessionRoute {
        switch state {
        case .loading: .loading
        case .signedOut: .login
        case .signedIn(let session): hasStarted ? .content(session) : .loading
        case .expired(let reason): .signInAgain(reason)
        case .unavailable(let failure): .unavailable(failure)
        }
    }

    /// The session whose content is shown: also under a sheet that asks to sign in again.
    var shownSession: SignedInSession? {
        switch route {
        case .content, .signInAgain: session
        case .loading, .login, .unavailable: nil
        }
    }

    /// Why the session has ended, until somebody signs in again or out.
    var endReason: ExpiryReason? {
        if case .signInAgain(let reason) = route { reason } else { nil }
    }

    /// The session has come to a state.
    mutating func follow(_ state: SessionState) {
        self.state = state
        switch state {
        case .signedIn(let session): self.session = session
        case .signedOut: session = nil
        // What was never shown has nothing to go back to.
        case .expired: if !hasStarted { session = nil }
        case .loading, .unavailable: break
        }
    }

    /// The start is over.
    mutating func start() {
        hasStarted = true
    }
}
