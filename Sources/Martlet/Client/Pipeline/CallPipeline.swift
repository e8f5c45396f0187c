internal import HTTPTypes

/// Performs every call of a client: builds the request, attaches the token, sends the request, validates the response
/// and retries.
final class CallPipeline: Sendable {
    let baseURL: BaseURL
    let tokens: TokenManager?
    let config: NetworkConfig
    let time: any TimeSource
    let exchangeRunner: ExchangeRunner
    let decoding: ResponseDecoding
    /// The app's interceptors, then the retry policy.
    let interceptors: [any RequestInterceptor]
    /// Whether the app has interceptors. Without interceptors, calls skip the work that only interceptors need.
    let hasInterceptors: Bool
    let authorizer: Authorizer?
    let slots: ConcurrencyLimiter
    /// The calls under way that others may join; `nil` if none may.
    let joined: JoinedCalls?

    init(baseURL: BaseURL, tokens: TokenManager?, config: NetworkConfig, transport: any Transport) {
        self.baseURL = baseURL
        self.tokens = tokens
        self.config = config
        self.time = config.time ?? tokens?.time ?? .system
        self.interceptors = config.interceptors + [config.retry]
        self.hasInterceptors = !config.interceptors.isEmpty
        self.authorizer = tokens.map(Authorizer.init)
        self.slots = ConcurrencyLimiter(of: transport, at: config.maximumConcurrentRequests)
        self.joined = config.coalescesIdenticalCalls ? JoinedCalls(time: time) : nil
        self.decoding = ResponseDecoding(
            decoder: config.decoder, envelope: config.envelope, errorBody: config.errorBody)
        self.exchangeRunner = ExchangeRunner(config: config, authorizer: authorizer, transport: transport, time: time)
    }

    /// The same pipeline with further interceptors, which run before the others. It shares the request slots.
    init(_ original: CallPipeline, interceptors additional: [any RequestInterceptor]) {
        var config = original.config
        config.interceptors = additional + config.interceptors
        self.baseURL = original.baseURL
        self.tokens = original.tokens
        self.config = config
        self.time = original.time
        self.interceptors = additional + original.interceptors
        self.hasInterceptors = !config.interceptors.isEmpty
        self.authorizer = original.authorizer
        self.slots = original.slots
        self.joined = original.joined
        self.decoding = original.decoding
        self.exchangeRunner = original.exchangeRunner
    }

    /// Sends a call until an attempt succeeds or must not be retried.
    ///
    /// A failure is reported to the observers here; a success is reported when the caller gets the result.
    @inline(never)
    func perform(_ outgoing: OutgoingCall, built: BuiltCall? = nil) async throws(NetworkError) -> CompletedCall {
        let monitor = outgoing.monitor
        var bodyOutlivesCall = false
        defer { if !bodyOutlivesCall { monitor?.finish() } }
        var call: CallState
        if let built {
            call = built.state
            call.built = built
        } else {
            let length = await outgoing.body?.measured()
            call = try observing { () throws(NetworkError) in try build(outgoing, length: length) }
        }
        // Running interceptors and reading files takes time, and the token may change in between.
        if hasInterceptors || outgoing.body?.inspectsFiles == true { call.authorization.dropToken() }
        if config.cookies != nil { call.cookies = cookies(of: call, signIn: outgoing.signIn) }
        do {
            let (response, receivedAt) = try await runAttempts(&call, outgoing)
            bodyOutlivesCall = call.receiver?.outlivesCall == true
            return CompletedCall(
                response: hasInterceptors ? try await process(response, &call, outgoing) : response,
                head: response.head,
                context: call.context, owner: call.authorization.owner, receivedAt: receivedAt,
                duration: (hasInterceptors ? time.uptime : receivedAt) - call.context.startedAt,
                report: call.observation)
        } catch {
            let failure = ExchangeRunner.wrap(error, call: call.context.call)
            if let observation = call.observation { observation.finish(with: failure) } else { reportRefusal(failure) }
            throw failure
        }
    }

    /// Runs a step of a call before its request is built, and reports an error to the observers.
    func observing<Value>(_ body: () throws(NetworkError) -> Value) throws(NetworkError) -> Value {
        do throws(NetworkError) {
            return try body()
        } catch {
            reportRefusal(error)
            throw error
        }
    }

    /// Reports to the observers a call that fails before its request is built.
    func reportRefusal(_ error: NetworkError) {
        CallObservation(observers: config.observers, refused: error.call, time: time)?.finish(with: error)
    }

    /// Sends the call until an attempt succeeds or no other may follow.
    /// - Returns: The response, and the uptime at which the last attempt ended.
    private func runAttempts(
        _ call: inout CallState, _ outgoing: OutgoingCall
    ) async throws -> (response: ServerResponse, receivedAt: Duration) {
        if hasInterceptors { try await prepare(&call) }
        if !config.observers.isEmpty {
            authorizer?.markCredentials(in: &call.request, of: call)
            call.observation = CallObservation(
                observers: config.observers, request: call.request, body: call.body, context: call.context)
        }
        while true {
            call.context.attempt += 1
            let started = time.uptime
            var attempt = CallAttempt(of: call, in: self, at: started)
            if let onUnusedResponse = outgoing.onUnusedResponse { attempt.onUnusedResponse = onUnusedResponse }
            let kept = call.receiver?.keptBytes ?? 0
            let result = await attempt.perform(&call)
            if let receiver = call.receiver, receiver.keptBytes > kept { call.context.progressedAt = time.uptime }
            if let sources = call.sources { call.context.outgoing = sources.preparedBody }
            let failure: NetworkError
            switch result {
            case .success(let response): return (response, max(started, time.uptime))
            case .failure(let error): failure = error
            }
            let wait = try await waitBeforeRetry(of: &call, after: failure)
            if wait > .zero { try await time.sleep(until: time.uptime + wait) }
        }
    }

    /// Decides whether a call is sent again.
    /// - Returns: The delay before the next attempt.
    /// - Throws: The failure if there is no further attempt.
    private func waitBeforeRetry(of call: inout CallState, after failure: NetworkError) async throws -> Duration {
        call.keepResponse(of: failure)
        let wait =
            withdrawOwnFields(from: &call, after: failure)
            ? .zero : try await delayBeforeRetry(of: &call, after: failure)
        guard call.body?.isReplayable ?? true else {
            guard failure.response != nil else { throw failure }
            throw NetworkError.bodyNotReplayable(call.context.call, call.lastResponse)
        }
        call.observation?.callWillRetry(call.context, after: wait, dueTo: failure)
        return wait
    }

    /// Withdraws a field that the pipeline has added by itself (`Expect`, or the `Range` of a resumed download) if the
    /// server rejected only that field.
    /// - Returns: Whether the request is sent again without the field.
    private func withdrawOwnFields(from call: inout CallState, after failure: NetworkError) -> Bool {
        if call.expectation.remove(from: &call.request.headerFields, after: failure) { return true }
        return call.receiver?.withdrawFields(after: failure) == true
    }
}

extension CallPipeline {
    /// Creates a call, without suspending.
    func makeCall(
        _ endpoint: any Endpoint, accept: String? = nil, monitor: TransferMonitor? = nil
    ) -> OutgoingCall {
        OutgoingCall(
            endpoint, body: endpoint.body, accept: accept, start: makeStart(endpoint.authentication), monitor: monitor)
    }

    /// The start of a call that is made now.
    func makeStart(_ requirement: AuthenticationRequirement) -> CallStart {
        let uptime = time.uptime
        guard requirement != .none, let tokens else {
            return CallStart(
                requirement: requirement, owner: .unbound, responseOwner: responseOwner(for: .unbound), uptime: uptime)
        }
        let (owner, credential) = tokens.beginCall(at: uptime)
        return CallStart(
            requirement: requirement, owner: owner, responseOwner: responseOwner(for: owner), credential: credential,
            uptime: uptime)
    }

    /// The start of a sign-in whose owner is known.
    func makeStart(_ requirement: AuthenticationRequirement, as owner: CallOwner) -> CallStart {
        makeStart(requirement, as: owner, leaving: responseOwner(for: owner))
    }

    /// The start of a call that continues earlier work, such as the next connection of a stream.
    /// - Parameter former: The owner of the cookies and stored responses, determined when that work began.
    func makeStart(
        _ requirement: AuthenticationRequirement, as owner: CallOwner, leaving former: ResponseOwner?
    ) -> CallStart {
        CallStart(
            requirement: requirement, owner: requirement == .none ? .unbound : owner,
            responseOwner: former?.continued(by: owner), uptime: time.uptime)
    }

    /// Waits for a token before the ``CallState`` of the call is built, which takes more memory. Thousands of calls may
    /// wait for one refresh.
    ///
    /// Only calls without observers and interceptors wait here. A call that cannot be sent anyway does not wait.
    @inline(never)
    func waitForTokenEarly(of call: inout OutgoingCall) async throws(NetworkError) {
        guard let tokens, !tokens.isRefreshingHere, try waitsEarly(call) else { return }
        let permission: SessionStateMachine.ProbePermission =
            call.start.requirement == .required ? .mayProbe : .mayProbeLast
        call.finishWait(await tokens.credential(for: call.start.owner, permission))
    }

    private func waitsEarly(_ call: OutgoingCall) throws(NetworkError) -> Bool {
        guard !hasInterceptors, config.observers.isEmpty, !call.endpoint.path.isAbsolute,
            call.endpoint.method.isGetOrHead, call.body == nil, call.endpoint.allowsRefresh
        else { return false }
        return authorizer?.mayAuthorize(try build(call, length: nil)) == true
    }
}
