// For code that reads the session's tokens itself: a WebSocket, gRPC, a screen that shows the user's rights.
extension TokenManager {
    /// The tokens of the current session, without waiting and without a request. They may have expired
    /// (``TokenBundle/isExpired(at:)``); ``validTokenBundle()`` refreshes them first.
    ///
    /// ``TokenBundle/expiresAt`` is the manager's estimate by this device's clock, or `nil` if the server has not told how
    /// long the token is valid. ``TokenBundle/lifetime`` is always `nil`.
    ///
    /// It is `nil` if no user is signed in, until the store has been read, while a sign-in is being saved, and while
    /// ``SessionPolicy/requiresSavedTokens`` keeps the tokens from being used.
    public var currentBundle: TokenBundle? {
        core.withLock { $0.machine.currentBundle }
    }

    /// The tokens of the current session, after a refresh if the access token has expired or was rejected.
    ///
    /// Use the access token for connections that Martlet does not make itself, such as WebSockets and gRPC. If a refresh
    /// is in progress, the caller waits for it. A request that the app signs with this token can be passed to
    /// `recover(from:body:to:)`, like one signed by `sign(_:_:)`.
    /// - Throws: ``SessionError`` if there is no valid token; ``SessionError/sessionChanged`` if the session that was current
    ///   when the method was called has ended.
    public func validTokenBundle() async throws(SessionError) -> TokenBundle {
        let owner = currentOwner
        while true {
            let credential = try await credential(for: owner).get()
            let bundle = core.withLock { core -> TokenBundle? in
                let bundle = core.machine.currentBundle
                // If other tokens have replaced these by now, the server may not accept these any more.
                guard core.machine.stamp(of: credential.accessToken) == credential.stamp else { return nil }
                core.signed.remember(credential)
                return bundle
            }
            if let bundle { return bundle }
        }
    }
}
