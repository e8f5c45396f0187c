public import HTTPTypes

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

// For apps that keep their existing HTTP client: `sign` before each request, `recover` after its response.
extension TokenManager {
    /// Signs a request that another HTTP client is about to send, after refreshing the token if necessary.
    ///
    /// ```swift
    /// var request = HTTPRequest(method: .get, scheme: "https", authority: "api.example.com", path: "/v1/me")
    /// try await tokens.sign(&request)
    /// var (body, response) = try await client.send(request)
    /// if try await tokens.recover(from: response, body: body, to: &request) {
    ///     (body, response) = try await client.send(request)
    /// }
    /// ```
    ///
    /// Tokens are sent only to the base URL's origin and the trusted origins, and only over https or to this machine,
    /// unless the manager's `allowsInsecureHTTP` is `true`. A request to any other origin is not changed.
    ///
    /// If no user is signed in, or the session has expired, the request is not changed either, so that the login can
    /// pass through the same client. Only a token of a former session of this manager is removed.
    /// - Parameters:
    ///   - request: The request. A token that it already carries is replaced.
    ///   - requirement: With ``AuthenticationRequirement/required``, a request without a session throws an error.
    ///   - session: The only session that may sign the request, if it is a retry of one that this session has signed.
    /// - Returns: The session and rotation of the token; `nil` if the request is not signed.
    /// - Throws: ``SessionError`` if the store cannot be read, the token cannot be refreshed now, or a session is
    ///   required and there is none; ``SessionError/sessionChanged`` if the session that was current when the method
    ///   was called has ended, or if `session` is no longer the current one.
    @discardableResult
    public func sign(
        _ request: inout HTTPRequest, _ requirement: AuthenticationRequirement = .ifSignedIn,
        for session: SessionID? = nil
    ) async throws(SessionError) -> SessionStamp? {
        try await sign(
            &request.headerFields, target: try? request.target(), requirement, for: session, as: currentOwner)
    }

    /// Checks the response to a request. If the server rejected the request's token, signs the request with another
    /// one, after a refresh if necessary. Concurrent rejected requests share one refresh.
    ///
    /// Call it once per request and send the request again at most once. A request without a token is not changed, and
    /// the result is `false`.
    /// - Parameters:
    ///   - response: The head of the response.
    ///   - body: The body of the response, if the manager's ``AccessTokenRejectionRule`` examines it.
    ///   - request: The request as it was sent. It is signed with another token if the result is `true`.
    /// - Returns: Whether to send the request again.
    /// - Throws: ``SessionError/sessionChanged`` if the request belongs to a session that has ended: it must not be
    ///   sent under another user's token. ``SessionError/expired(_:)`` if the user must sign in again. Any other
    ///   ``SessionError`` if there is no other token now.
    public func recover(
        from response: HTTPResponse, body: Data = Data(), to request: inout HTTPRequest
    ) async throws(SessionError) -> Bool {
        let sent = request
        return try await recover(
            &request.headerFields, target: try? sent.target(),
            ifRejected: isRejected(ServerResponse(head: response, body: body), to: sent))
    }

    /// - Parameter owner: The owner of the request.
    func sign(
        _ fields: inout HTTPFields, target: String?, _ requirement: AuthenticationRequirement,
        for session: SessionID? = nil, as owner: CallOwner
    ) async throws(SessionError) -> SessionStamp? {
        guard requirement != .none, mayCarryToken(toURL: target) else { return nil }
        let result = await credential(for: owner)
        // A request of a session must get neither another session's token nor none at all.
        var session = session ?? owner.session
        if session == nil, case .failure(.expired) = result { session = await resolved(owner).session }
        switch result {
        case .success(let credential):
            if let session, credential.stamp.session != session { throw .sessionChanged }
            sign(&fields, with: credential)
            return credential.stamp
        case .failure(.signedOut) where session != nil:
            throw .sessionChanged
        case .failure(.expired(let reason)) where session != nil:
            throw .expired(reason)
        case .failure(.signedOut) where requirement == .ifSignedIn, .failure(.expired) where requirement == .ifSignedIn:
            // Remove only tokens of this manager. Other credentials, such as those of the login, belong to the app.
            if let token = scheme.token(in: fields), stamp(ofSigned: token) != nil {
                fields[scheme.header] = nil
            }
            return nil
        case .failure(let error):
            throw error
        }
    }

    /// Whether the response rejects the request's token. The rule must not see the token.
    func isRejected(_ response: ServerResponse, to request: HTTPRequest) -> Bool {
        var request = request
        request.headerFields[scheme.header] = nil
        return accessTokenRejection.isRejected(response, to: request)
    }

    func recover(
        _ fields: inout HTTPFields, target: String?, ifRejected isRejected: @autoclosure () -> Bool
    ) async throws(SessionError) -> Bool {
        guard mayCarryToken(toURL: target), let token = scheme.token(in: fields), isRejected() else { return false }
        guard let stamp = try await stamp(of: token) else { throw .sessionChanged }
        let credential = try await credential(replacing: stamp).get()
        guard credential.stamp.session == stamp.session else { throw .sessionChanged }
        sign(&fields, with: credential)
        return true
    }

    /// The stamp of the token in a request that another client sent.
    private func stamp(of token: Secret) async throws(SessionError) -> SessionStamp? {
        if let stamp = stamp(ofSigned: token) { return stamp }
        // The app may have been restarted since the request was signed, so compare with the stored session too.
        let state = await loadedState
        guard !Task.isCancelled else { throw .cancelled }
        switch state {
        case .unavailable(let failure), .unreadable(let failure): throw .unavailable(failure)
        case .loading, .signedOut, .signedIn, .expired: return stamp(ofCurrent: token)
        }
    }

    private func sign(_ fields: inout HTTPFields, with credential: Credential) {
        rememberSigned(credential)
        scheme.attach(credential.accessToken, to: &fields)
    }

    private func mayCarryToken(toURL target: String?) -> Bool {
        guard let target, case .success(let location) = Location.parse(target) else { return false }
        return mayCarryToken(to: location.origin)
    }
}
