public import Martlet

/// The state of a session as far as its model knows it, and the screen to show for it.
public struct SessionStatus: Sendable, Hashable {
    /// The last known state of the session.
    public private(set) var state = SessionState.loading
    /// The signed-in session. A session that ended while the app was running stays here until the user signs in again
    /// or signs out.
    public private(set) var session: SignedInSession?
    /// Whether the launch is over: the stored tokens have been checked, or the check took too long.
    private var hasStarted = false

    /// Creates the status of a session that has not been read yet.
    public init() {}

    /// The screen to show. At launch this is ``SessionRoute/loading`` until the stored tokens have been checked or the
    /// check has timed out, so that the content does not appear and then give way to the login.
    public var route: SessionRoute {
        switch state {
        case .loading: .loading
        case .signedOut: .login
        case .signedIn(let session): hasStarted ? .content(session) : .loading
        case .expired(let reason): .signInAgain(reason)
        case .unavailable(let failure): .unavailable(failure)
        case .unreadable(let failure): .unreadable(failure)
        }
    }

    /// The session whose content is visible.
    /// - Parameter showsExpiredContent: Whether the content stays behind the sheet that asks the user to sign in again.
    func shownSession(showsExpiredContent: Bool) -> SignedInSession? {
        switch route {
        case .content: session
        case .signInAgain: showsExpiredContent ? session : nil
        case .loading, .login, .unavailable, .unreadable: nil
        }
    }

    /// The reason why the session ended; `nil` once the user has signed in again or signed out.
    var endReason: ExpiryReason? {
        if case .signInAgain(let reason) = route { reason } else { nil }
    }

    /// Applies a state of the session.
    mutating func follow(_ state: SessionState) {
        self.state = state
        switch state {
        case .signedIn(let session): self.session = session
        case .signedOut: session = nil
        // The content of this session was never visible, so there is nothing to return to.
        case .expired: if !hasStarted { session = nil }
        case .loading, .unavailable, .unreadable: break
        }
    }

    /// Ends the launch, so that the content may be shown.
    mutating func start() {
        hasStarted = true
    }
}
