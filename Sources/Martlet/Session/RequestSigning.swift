public import HTTPTypes

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

// The session for apps that keep the client they have: two calls, one before a request and one after its answer.
extension TokenManager {
    /// Signs a request that another client is about to send, waiting for a valid token where it must.
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
    /// The token goes only to the base URL's origin and those that the manager trusts, over https or to this machine;
    /// a request to any other place is left as it is.
    /// - Parameters:
    ///   - request: The request; a token that it carries already is replaced.
    ///   - requirement: Whether somebody must be signed in.
    /// - Returns: Whether the request is signed now.
    /// - Throws: ``SessionError`` where a token is required and there is none.
    @discardableResult
    public func sign(
        _ request: inout HTTPRequest, _ requirement: AuthenticationRequirement = .required
    ) async throws(SessionError) -> Bool {
        try await sign(&request.headerFields, target: try? request.target(), requirement)
    }

    /// Judges the answer to a request that `sign` has signed. If the server refused its token, the request
    /// gets another one, after a refresh where that takes one; all who were refused share it.
    ///
    /// Call it once for each request: what the second answer says is the answer.
    /// - Parameters:
    ///   - response: The head of the answer.
    ///   - body: Its body, where the manager's ``rejection`` looks at that.
    ///   - request: The request as it was sent; signed anew where the result is `true`.
    /// - Returns: Whether the request is to be sent once more.
    /// - Throws: ``SessionError/sessionChanged`` where it was signed for a session that is over, which no other user's
    ///   token must take the place of; ``SessionError/expired(_:)`` where the user must sign in again; else why there is no
    ///   other token for now.
    public func recover(
        from response: HTTPResponse, body: Data = Data(), to request: inout HTTPRequest
    ) async throws(SessionError) -> Bool {
        try await recover(
            from: ServerAnswer(head: response, body: body), to: &request.headerFields, target: try? request.target())
    }

    func sign(
        _ fields: inout HTTPFields, target: String?, _ requirement: AuthenticationRequirement
    ) async throws(SessionError) -> Bool {
        guard requirement != .none, mayCarryToken(toURL: target) else { return false }
        switch await credential() {
        case .success(let credential):
            sign(&fields, with: credential)
            return true
        case .failure(.signedOut) where requirement == .ifSignedIn, .failure(.expired) where requirement == .ifSignedIn:
            fields[scheme.header] = nil
            return false
        case .failure(let error):
            throw error
        }
    }

    func recover(
        from answer: ServerAnswer, to fields: inout HTTPFields, target: String?
    ) async throws(SessionError) -> Bool {
        guard mayCarryToken(toURL: target), let token = scheme.token(in: fields), rejection.isRejected(answer) else {
            return false
        }
        guard let stamp = try await stamp(of: token) else { throw .sessionChanged }
        let credential = try await credential(inPlaceOf: stamp).get()
        guard credential.stamp.session == stamp.session else { throw .sessionChanged }
        sign(&fields, with: credential)
        return true
    }

    /// The session and rotation of a token that a request came back with.
    private func stamp(of token: Secret) async throws(SessionError) -> SessionStamp? {
        if let stamp = core.withLock({ $0.signed.stamp(of: token) }) { return stamp }
        // The request may have been under way since before the app was started.
        let state = await loadedState
        guard !Task.isCancelled else { throw .cancelled }
        if case .unavailable(let failure) = state { throw .unavailable(failure) }
        return core.withLock { $0.machine.stamp(of: token) }
    }

    private func sign(_ fields: inout HTTPFields, with credential: Credential) {
        core.withLock { $0.signed.remember(credential) }
        scheme.sign(&fields, with: credential.accessToken)
    }

    private func mayCarryToken(toURL target: String?) -> Bool {
        guard let target, case .success(let location) = Location.parse(target) else { return false }
        return mayCarryToken(to: location.origin)
    }
}

/// Which sessions and rotations the tokens were of that went to others last. Other clients give nothing back but the
/// request.
struct SignedTokens: Sendable {
    private var stamps: [Secret: SessionStamp] = [:]
    private var order: [Secret] = []

    /// Requests may stay under way for a few rotations, not for more.
    private static let limit = 32

    mutating func remember(_ credential: Credential) {
        guard stamps.updateValue(credential.stamp, forKey: credential.accessToken) == nil else { return }
        order.append(credential.accessToken)
        if order.count > Self.limit { stamps[order.removeFirst()] = nil }
    }

    func stamp(of token: Secret) -> SessionStamp? {
        stamps[token]
    }
}
