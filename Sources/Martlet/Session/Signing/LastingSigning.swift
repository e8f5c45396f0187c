package import HTTPTypes

// For requests that outlive the process: the system sends them later, so their token must last until then.
extension TokenManager {
    /// Signs a request with a token that stays valid for at least the given time.
    /// - Parameters:
    ///   - request: The request. A token that it already carries is replaced.
    ///   - need: The time that the token must last. A token that would expire earlier is refreshed first.
    ///   - owner: The session that the request belongs to.
    /// - Returns: The session and rotation of the token.
    package func sign(
        _ request: inout HTTPRequest, lasting need: Duration, for owner: CallOwner
    ) async throws(SessionError) -> SessionStamp {
        let credential = try await credential(lasting: need, for: owner).get()
        scheme.attach(credential.accessToken, to: &request.headerFields)
        return credential.stamp
    }

    /// Waits for a token of the same session that replaces one that the server rejected.
    package func replaceToken(of stamp: SessionStamp) async throws(SessionError) {
        _ = try await credential(replacing: stamp).get()
    }

    /// Whether a response rejects its request's token. Only the method and the URL of that request are still known.
    package func isRejected(_ response: ServerResponse, to method: HTTPRequest.Method, at url: String?) -> Bool {
        let location = url.flatMap { try? Location.parse($0).get() }
        let request = HTTPRequest(
            method: method, scheme: location?.origin.scheme, authority: location?.authority, path: location?.target)
        return isRejected(response, to: request)
    }
}
