internal import HTTPTypes

/// A call before its request is built. It is made once, when the app makes the call.
struct OutgoingCall: Sendable {
    let endpoint: any Endpoint
    /// The body of the endpoint, which may create a new one for each access.
    let body: RequestBody?
    /// The `Accept` field, if the endpoint sets none.
    let accept: String?
    private(set) var start: CallStart
    let monitor: TransferMonitor?
    /// Consumes the body of an acceptable response. Without one the body is read into memory.
    var receiver: (any ResponseReceiver)?
    /// The cookies that a sign-in gets; `nil` for another call, and without a jar.
    var signIn: SignInCookies?
    /// Whether the call has passed the gate of ``NetworkConfig/automaticSignIn``.
    private(set) var isAdmitted = false

    init(
        _ endpoint: any Endpoint, body: RequestBody?, accept: String? = nil, start: CallStart,
        monitor: TransferMonitor? = nil
    ) {
        self.endpoint = endpoint
        self.body = body
        self.accept = accept
        self.start = start
        self.monitor = monitor
    }

    /// Lets the call continue with the owner that it has at the gate.
    mutating func admit(as start: CallStart) {
        self.start = start
        isAdmitted = true
    }

    /// Leaves it to the first attempt to find a token, because it comes later, and the token may change until then.
    mutating func dropToken() {
        start.credential = nil
    }

    /// Makes the result of a wait for a token known.
    mutating func finishWait(_ result: Result<Credential, SessionError>) {
        switch result {
        case .success(let credential): if credential.probe != nil { start.credential = credential }
        case .failure(let error): start.failure = error
        }
    }
}

/// The owner of a call, and its token. Both are taken once, when the call is made.
struct CallStart: Sendable {
    /// Whether the call carries a token: as the endpoint says, unless the call is a sign-in.
    let requirement: AuthenticationRequirement
    let owner: CallOwner
    /// The owner of what the response leaves behind; `nil` if the client keeps nothing.
    let responseOwner: ResponseOwner?
    /// The token, if one was fresh when the call was made, or if the call has waited and probes it.
    fileprivate(set) var credential: Credential?
    /// The uptime at which the call was made.
    let uptime: Duration
    /// The reason why there is no token, if the call has waited for one.
    fileprivate(set) var failure: SessionError?

    var authorization: Authorization { Authorization(requirement, as: owner, credential, failure) }
}

extension CallPipeline {
    /// Makes a call, without suspending.
    func call(
        _ endpoint: any Endpoint, accept: String? = nil, monitor: TransferMonitor? = nil
    ) -> OutgoingCall {
        OutgoingCall(
            endpoint, body: endpoint.body, accept: accept, start: begin(endpoint.authentication), monitor: monitor)
    }

    /// The start of a call that is made now.
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

    /// The start of a sign-in whose owner is known.
    func begin(_ requirement: AuthenticationRequirement, as owner: CallOwner) -> CallStart {
        begin(requirement, as: owner, leaving: responseOwner(for: owner))
    }

    /// The start of a call that goes on with something that began earlier, such as the next connection of a stream.
    /// - Parameter former: The owner of what its responses leave behind, taken when it began.
    func begin(
        _ requirement: AuthenticationRequirement, as owner: CallOwner, leaving former: ResponseOwner?
    ) -> CallStart {
        CallStart(
            requirement: requirement, owner: requirement == .none ? .unbound : owner,
            responseOwner: former?.continued(by: owner), uptime: time.uptime)
    }

    /// Waits for a token before the state of the call exists, which takes more memory than this. Thousands of calls may
    /// wait for one refresh.
    ///
    /// Only calls without observers and interceptors wait here, and none that cannot be sent anyway.
    @inline(never)
    func waitForToken(of call: inout OutgoingCall) async throws(NetworkError) {
        guard let tokens, !tokens.isRefreshingHere, try waitsEarly(call) else { return }
        call.finishWait(await tokens.credential(for: call.start.owner, .mayProbe))
    }

    private func waitsEarly(_ call: OutgoingCall) throws(NetworkError) -> Bool {
        guard !hasHooks, config.observers.isEmpty, !call.endpoint.path.isAbsolute,
            [.get, .head].contains(call.endpoint.method), call.body == nil, call.endpoint.allowsRefresh
        else { return false }
        return authorizer?.mayAuthorize(try build(call, length: nil)) == true
    }
}
