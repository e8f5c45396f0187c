internal import HTTPTypes

/// The state of a call before its request is built. It is made once, when the call begins.
struct CallStart: Sendable {
    /// Whether the call carries a token: as the endpoint says, unless the call is a sign-in.
    let requirement: AuthenticationRequirement
    let owner: CallOwner
    /// The owner of what the response leaves behind; `nil` if the client keeps nothing.
    let responseOwner: ResponseOwner?
    /// The token, if one was fresh when the call was made, or if the call has waited and probes it.
    var credential: Credential?
    /// The uptime at which the call was made.
    let uptime: Duration
    /// The reason why there is no token, if the call has waited for one.
    var failure: SessionError?
}

extension CallPipeline {
    /// The first step of a call, without suspending.
    func begin(_ requirement: AuthenticationRequirement) -> CallStart {
        let uptime = time.uptime
        guard requirement != .none, let tokens else {
            return CallStart(
                requirement: requirement, owner: .unbound, responseOwner: responseOwner(for: .unbound), uptime: uptime)
        }
        let (owner, credential) = tokens.beginCall()
        return CallStart(
            requirement: requirement, owner: owner, responseOwner: responseOwner(for: owner), credential: credential,
            uptime: uptime)
    }

    /// The first step of a sign-in whose owner is known.
    func begin(_ requirement: AuthenticationRequirement, as owner: CallOwner) -> CallStart {
        begin(requirement, as: owner, leaving: responseOwner(for: owner))
    }

    /// The first step of a call that goes on with something that began earlier, such as the next connection of a stream.
    /// - Parameter former: The owner of what its responses leave behind, taken when it began.
    func begin(
        _ requirement: AuthenticationRequirement, as owner: CallOwner, leaving former: ResponseOwner?
    ) -> CallStart {
        CallStart(
            requirement: requirement, owner: requirement == .none ? .unbound : owner,
            responseOwner: former?.continued(by: owner), uptime: time.uptime)
    }

    /// Waits for a token before the state of the call exists, which takes eight times as much memory as this. Thousands of
    /// calls may wait for one refresh.
    ///
    /// Only calls without observers and interceptors wait here, and none that cannot be sent anyway.
    @inline(never)
    func waitForToken(
        of start: CallStart, for endpoint: any Endpoint, accept: String?
    ) async throws(NetworkError) -> CallStart {
        guard let tokens, !tokens.isRefreshingHere, try waitsEarly(endpoint, accept: accept) else { return start }
        var start = start
        switch await tokens.credential(for: start.owner, .mayProbe) {
        case .success(let credential): if credential.probe != nil { start.credential = credential }
        case .failure(let error): start.failure = error
        }
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
