internal import HTTPTypes

/// What a call has before its request is built.
struct CallStart: Sendable {
    let owner: CallOwner
    /// The token, if one was fresh when the call was made.
    let credential: Credential?
    /// When the call was made.
    let uptime: Duration
    /// Why there is no token, if the call has waited for one.
    var failure: SessionError?
}

extension CallPipeline {
    /// The first step of a call, without suspending.
    /// - Returns: `nil` if the call carries no token, or is part of a refresh.
    func begin(_ requirement: AuthenticationRequirement) -> CallStart? {
        guard requirement != .none, let tokens, !tokens.isRefreshingHere else { return nil }
        let (uptime, (owner, credential)) = (time.uptime, tokens.beginCall())
        return CallStart(owner: owner, credential: credential, uptime: uptime)
    }

    /// Waits for a token before the state of the call exists, which takes eight times as much memory as this. Thousands of
    /// calls may wait for one refresh.
    ///
    /// Only calls that nothing observes meanwhile wait here, and none that cannot be sent anyway.
    @inline(never)
    func waitForToken(
        of start: CallStart, for endpoint: any Endpoint, accept: String?
    ) async throws(NetworkError) -> CallStart {
        guard let tokens, try waitsEarly(endpoint, accept: accept) else { return start }
        var start = start
        if case .failure(let error) = await tokens.credential(for: start.owner) { start.failure = error }
        return start
    }

    private func waitsEarly(_ endpoint: any Endpoint, accept: String?) throws(NetworkError) -> Bool {
        guard !hasHooks, config.observers.isEmpty, !endpoint.path.isAbsolute,
            [.get, .head].contains(endpoint.method)
        else { return false }
        let call = try build(endpoint, nil, length: nil, accept: accept, endpoint.authentication)
        return authorizer?.mayAuthorize(call) == true
    }
}
