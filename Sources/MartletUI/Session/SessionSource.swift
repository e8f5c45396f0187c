public import Martlet

/// Provides a session's state: from a `TokenManager` in an app, from closures in previews and tests.
///
/// ```swift
/// let model = SessionViewModel(SessionSource(state: { .signedOut }))
/// ```
public struct SessionSource: Sendable {
    let state: @Sendable () -> SessionState
    let changes: @Sendable () -> AsyncStream<SessionState>
    /// Whether the state can change by itself. The fixed state of a preview does not follow a registration.
    let canChange: Bool
    let restore: @Sendable () async -> Void
    let signOut: @Sendable () async -> Void

    /// Creates a source for the session of a token manager.
    public init(_ tokens: TokenManager) {
        self.init(
            state: { tokens.state }, changes: { tokens.states }, restore: { await tokens.restore() },
            signOut: { await tokens.signOut() })
    }

    /// Creates a source from closures.
    /// - Parameters:
    ///   - state: Returns the current state.
    ///   - changes: Yields one element immediately and one whenever the state may have changed. By default, only the
    ///     first.
    ///   - restore: Restores the stored session at launch.
    ///   - signOut: Ends the session.
    public init(
        state: @escaping @Sendable () -> SessionState,
        changes: (@Sendable () -> AsyncStream<SessionState>)? = nil,
        restore: @escaping @Sendable () async -> Void = {},
        signOut: @escaping @Sendable () async -> Void = {}
    ) {
        self.state = state
        canChange = changes != nil
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
