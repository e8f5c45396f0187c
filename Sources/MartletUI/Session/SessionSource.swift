public import Martlet

/// Where a session's state comes from: a `TokenManager` in the app, closures in previews and tests.
///
/// ```swift
/// let model = SessionViewModel(SessionSource(state: { .signedOut }))
/// ```
public struct SessionSource: Sendable {
    let state: @Sendable () -> SessionState
    let changes: @Sendable () -> AsyncStream<SessionState>
    let restore: @Sendable () async -> Void
    let signOut: @Sendable () async -> Void

    /// The session that a manager owns.
    public init(_ tokens: TokenManager) {
        self.init(
            state: { tokens.state }, changes: { tokens.states }, restore: { await tokens.restore() },
            signOut: { await tokens.signOut() })
    }

    /// A session of any kind.
    /// - Parameters:
    ///   - state: The state as it is now.
    ///   - changes: An element whenever the state may have changed, the first at once. None but the first by default.
    ///   - restore: Tries what is stored, as an app does at its start.
    ///   - signOut: Ends the session.
    public init(
        state: @escaping @Sendable () -> SessionState,
        changes: (@Sendable () -> AsyncStream<SessionState>)? = nil,
        restore: @escaping @Sendable () async -> Void = {},
        signOut: @escaping @Sendable () async -> Void = {}
    ) {
        self.state = state
        self.changes =
            changes ?? {
                AsyncStream { continuation in
                    continuation.yield(state())
                    continuation.finish()
                }
            }
        self.restore = restore
        self.signOut = signOut
    }
}
