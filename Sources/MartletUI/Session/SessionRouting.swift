public import Martlet

/// Follows a session, restores it at launch, and says which screen an app should show.
///
/// ``SessionModel`` and ``SessionViewModel`` conform to it, and every member below works the same in both. They differ
/// only in how a view observes ``status``: with the Observation framework or with Combine.
@MainActor public protocol SessionRouting: AnyObject, Sendable {
    /// The status of the session.
    var status: SessionStatus { get }

    /// Does the work that the members of this protocol start.
    var core: SessionCore { get }

    /// Creates a model that shows the status of a core.
    init(core: SessionCore)
}

extension SessionRouting {
    /// Creates a model that follows a session.
    /// - Parameters:
    ///   - source: Provides the session's state.
    ///   - patience: The longest time for which ``SessionRoute/loading`` is shown at launch while the stored tokens are
    ///     checked. After that, the model shows the stored session.
    ///   - time: The clock; the system's if `nil`.
    public init(_ source: SessionSource, patience: Duration = .seconds(3), time: (any TimeSource)? = nil) {
        self.init(core: SessionCore(source, patience: patience, time: time ?? .system))
    }

    /// Creates a model that follows the session of a token manager.
    public init(_ tokens: TokenManager) {
        self.init(SessionSource(tokens))
    }

    /// The screen to show.
    public var route: SessionRoute { status.route }

    /// The signed-in session. A session that ended while the app was running stays here until the user signs in again
    /// or signs out.
    public var session: SignedInSession? { status.session }

    /// Restores the session and follows it until the task is cancelled.
    public func run() async { await core.run() }

    /// Reads the stored session again, for a button on the screen for ``SessionRoute/unavailable(_:)``.
    /// - Returns: A task that ends once the session has been read.
    @discardableResult public func retry() -> Task<Void, Never> { core.retry() }

    /// Signs out: on this device immediately, on the server if it can be reached.
    /// - Returns: A task that ends once the sign-out is complete.
    @discardableResult public func signOut() -> Task<Void, Never> { core.signOut() }
}
