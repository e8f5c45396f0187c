/// The part of a ``TokenManager`` that a screen or an adapter needs. Tests and previews pass a mock.
///
/// ```swift
/// struct ChatConnection {
///     let tokens: any TokenManaging
///
///     func authorization() async throws(SessionError) -> String {
///         "Bearer " + (try await tokens.validTokens().accessToken.reveal())
///     }
/// }
/// ```
///
/// An HTTP adapter needs more, because it must not send a token to another origin: it takes a ``TokenManager``, whose
/// `sign(_:_:)` and `recover(from:body:to:)` take care of that.
public protocol TokenManaging: Sendable {
    /// The current state.
    var state: SessionState { get }

    /// The current state, then every later one.
    var states: AsyncStream<SessionState> { get }

    /// Restores the session at launch. The default implementation only returns ``state``.
    /// - Returns: The state after the attempt.
    @discardableResult
    func restore() async -> SessionState

    /// The tokens of the current session, without waiting; `nil` if there is none.
    var currentTokens: Tokens? { get }

    /// The tokens of the current session, after a refresh if the access token has expired.
    /// - Throws: ``SessionError`` if there is no valid token.
    func validTokens() async throws(SessionError) -> Tokens

    /// Refreshes the token even if it has not expired.
    /// - Returns: The new tokens.
    /// - Throws: ``SessionError`` if the refresh failed.
    @discardableResult
    func refresh() async throws(SessionError) -> Tokens

    /// Starts a session with the tokens of a server's sign-in response, in place of the current one.
    /// - Parameters:
    ///   - tokens: The tokens.
    ///   - account: The user, for the app's own use.
    /// - Returns: The session, after it was stored.
    /// - Throws: ``SessionError`` if no session was started.
    @discardableResult
    func signIn(with tokens: Tokens, account: SessionAccount) async throws(SessionError) -> SignedInSession

    /// Ends the session on this device, then at the server.
    /// - Parameter limit: The time to wait for the server as well.
    /// - Returns: Whether the server has confirmed in time that it has revoked the tokens.
    @discardableResult
    func signOut(waitingForServer limit: Duration) async -> Bool
}

extension TokenManaging {
    /// Whether a user is signed in, according to ``state``. Also `true` if the token has expired while the device is
    /// offline, because only the server can end a session.
    ///
    /// For a ``TokenManager`` it is `false` until the store has been read, which ``TokenManager/restore()`` does.
    public var isSignedIn: Bool { state.isSignedIn }

    /// Returns ``state``.
    @discardableResult
    public func restore() async -> SessionState {
        state
    }

    /// Starts a session with the tokens of a server's sign-in response, without an account.
    @discardableResult
    public func signIn(with tokens: Tokens) async throws(SessionError) -> SignedInSession {
        try await signIn(with: tokens, account: SessionAccount())
    }

    /// Ends the session on this device, and does not wait for the server.
    public func signOut() async {
        await signOut(waitingForServer: .zero)
    }
}

extension TokenManager: TokenManaging {}
