/// A call before its request is built. It is made once, when the app makes the call.
struct OutgoingCall: Sendable {
    let endpoint: any Endpoint
    /// The body of the endpoint. It is read once, because the endpoint may create a new one for each access.
    let body: RequestBody?
    /// The `Accept` field, if the endpoint sets none.
    let accept: String?
    private(set) var start: CallStart
    let monitor: TransferMonitor?
    /// Consumes the body of an acceptable response. Without a receiver, the body is read into memory.
    var receiver: (any ResponseReceiver)?
    /// The cookies that a sign-in receives; `nil` for any other call, and without a jar.
    var signIn: SignInCookies?
    /// Called with the response to a sign-in that its caller will not get: the call was cancelled, or an interceptor
    /// rejected the response or threw while it processed it.
    var onUnusedResponse: (@Sendable (ServerResponse) -> Void)?
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

    /// Admits the call through the gate, and replaces its owner with the one captured there.
    mutating func admit(as start: CallStart) {
        self.start = start
        isAdmitted = true
    }

    /// Drops the token that was captured with the call. It may change before the first attempt, which asks for its own.
    mutating func dropToken() {
        start.credential = nil
    }

    /// Records the result of a wait for a token.
    mutating func finishWait(_ result: Result<Credential, SessionError>) {
        switch result {
        case .success(let credential): if credential.prober != nil { start.credential = credential }
        case .failure(let error): start.failure = error
        }
    }
}

/// The owner of a call, and its token. Both are taken when the call is made. Only the gate of
/// ``NetworkConfig/automaticSignIn`` and a wait for a token replace them.
struct CallStart: Sendable {
    /// Whether the call carries a token. The endpoint decides, unless the call is a sign-in.
    let requirement: AuthenticationRequirement
    let owner: CallOwner
    /// The owner of what the response leaves behind; `nil` if the client keeps nothing.
    let responseOwner: ResponseOwner?
    /// The token, if one was fresh when the call was made, or if the call probes a rejected one after a wait.
    fileprivate(set) var credential: Credential?
    /// The uptime at which the call was made.
    let uptime: Duration
    /// The reason why there is no token, if the call has waited for one.
    fileprivate(set) var failure: SessionError?

    var authorization: Authorization { Authorization(requirement, as: owner, credential, failure) }
}
