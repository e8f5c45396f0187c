internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Performs every call of a client: builds the request, attaches the token, sends it, validates the response and
/// retries.
struct CallPipeline: Sendable {
    let baseURL: BaseURL
    let tokens: TokenManager?
    private(set) var config: NetworkConfig
    let time: any TimeSource
    let attemptRunner: AttemptRunner
    let decoding: ResponseDecoding
    /// The app's interceptors, then the retry policy.
    private(set) var interceptors: [any RequestInterceptor]
    /// Whether the app has interceptors. Without them a call skips what only they need.
    private(set) var hasHooks: Bool
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
        self.hasHooks = !config.interceptors.isEmpty
        self.authorizer = tokens.map(Authorizer.init)
        self.slots = ConcurrencyLimiter(of: transport, at: config.maximumConcurrentRequests)
        self.joined = config.joinsIdenticalCalls ? JoinedCalls(time: time) : nil
        self.decoding = ResponseDecoding(
            decoder: config.decoder, envelope: config.envelope, errorBody: config.errorBody)
        self.attemptRunner = AttemptRunner(
            config: config, allowsInsecureHTTP: config.allowsInsecureHTTP || tokens?.allowsInsecureHTTP == true,
            transport: transport, time: time)
    }

    /// The same pipeline with further interceptors, which run before the others. It shares the request slots.
    func intercepted(by additional: [any RequestInterceptor]) -> CallPipeline {
        var copy = self
        copy.config.interceptors = additional + config.interceptors
        copy.interceptors = additional + interceptors
        copy.hasHooks = !copy.config.interceptors.isEmpty
        return copy
    }

    /// Sends an endpoint until an attempt succeeds or must not be retried.
    /// - Parameters:
    ///   - start: The start of the call, with its owner.
    ///   - signIn: The cookies that a sign-in gets; `nil` for another call, and without a jar.
    ///   - receiver: Consumes the body of an acceptable response. Without one the body is read into memory.
    @inline(never)
    func perform(
        _ endpoint: any Endpoint, accept: String?, start: CallStart, signIn: SignInCookies? = nil,
        monitor: TransferMonitor? = nil, receiver: (any ResponseReceiver)? = nil
    ) async throws(NetworkError) -> NetworkResponse<RawResponse> {
        var bodyOutlivesCall = false
        defer { if !bodyOutlivesCall { monitor?.finish() } }
        let body = endpoint.body
        let length = await body?.measured()
        var call = try build(endpoint, body, length: length, accept: accept, start.requirement, since: start.uptime)
        call.authorization.owner = start.owner
        call.authorization.firstFailure = start.failure
        // Interceptors and files may take time, in which the token may change.
        if !hasHooks, body?.inspectsFiles != true { call.authorization.firstCredential = start.credential }
        call.monitor = monitor
        call.receiver = receiver
        call.context.awaitsHead = receiver?.outlivesCall == true
        call.responseOwner = start.responseOwner
        if config.cookies != nil { call.cookies = cookies(of: call, signIn: signIn) }
        do {
            let (response, lastAttempt) = try await run(&call)
            let receivedAt = time.uptime
            bodyOutlivesCall = receiver?.outlivesCall == true
            return NetworkResponse(
                value: RawResponse(
                    response: hasHooks ? try await process(response, &call) : response, context: call.context,
                    receivedAt: receivedAt, owner: call.authorization.owner),
                head: response.head, attempts: call.context.attempt,
                duration: (hasHooks ? time.uptime : receivedAt) - call.context.startedAt,
                lastAttemptDuration: lastAttempt)
        } catch let error as NetworkError {
            throw error
        } catch {
            throw AttemptRunner.wrap(error, call: call.context.call)
        }
    }

    private func run(_ call: inout CallState) async throws -> (ServerResponse, Duration) {
        var observation: CallObservation?
        do {
            if hasHooks { try await prepare(&call) }
            observation = CallObservation(
                observers: config.observers, request: call.request, body: call.body, context: call.context)
            while true {
                call.context.attempt += 1
                let started = time.uptime
                let failure: NetworkError
                let result = await attempt(&call, observation)
                if let hooks = call.hooks { call.context.outgoing = hooks.preparedBody }
                switch result {
                case .success(let response):
                    let duration = time.uptime - started
                    observation?.callDidFinish(.success(response.status), attempts: call.context.sent)
                    return (response, duration)
                case .failure(let error):
                    failure = error
                }
                call.lastResponse = failure.response ?? call.lastResponse
                let wait =
                    isClientInitiatedRetry(failure, &call)
                    ? .zero : try await delayBeforeRetry(of: &call, after: failure, observation)
                guard call.body?.isReplayable ?? true else {
                    guard failure.response != nil else { throw failure }
                    throw NetworkError.bodyNotReplayable(call.context.call, call.lastResponse)
                }
                observation?.callWillRetry(call.context, after: wait, dueTo: failure)
                if wait > .zero { try await time.sleep(until: time.uptime + wait) }
            }
        } catch {
            let failure = AttemptRunner.wrap(error, call: call.context.call)
            observation?.callDidFinish(.failure(failure), attempts: call.context.sent)
            throw failure
        }
    }

    /// Whether the server rejected only what the client had added to the request by itself (`Expect`, or the `Range` of
    /// a resumed download), so that the request is sent again without it.
    private func isClientInitiatedRetry(_ failure: NetworkError, _ call: inout CallState) -> Bool {
        if call.expectsContinue, failure.response?.status == 417 {
            (call.expectsContinue, call.isExpectationRefused) = (false, true)
            call.request.headerFields[.expect] = nil
            return true
        }
        return call.receiver?.shouldRestart(after: failure) == true
    }

    /// One attempt: authorize, adapt, send, follow redirects, read, validate.
    private func attempt(_ call: inout CallState, _ observation: CallObservation?) async -> Result<
        ServerResponse, NetworkError
    > {
        var isUnderWay = false
        do {
            let (slot, started) = (try await authorize(&call), time.uptime)
            if let open = call.cookies, open.isOpen { call.cookies = cookies(of: call, signIn: open.signIn) }
            var isSlotTransferred = false
            var hasSucceeded: Bool? = false
            defer {
                if let slot, !isSlotTransferred {
                    release(slot, heldSince: started, by: call, hasSucceeded: hasSucceeded)
                }
            }
            var request = call.request
            call.receiver?.adapt(&request)
            let unsigned = request
            authorizer?.attachToken(to: &request, for: &call)
            var (origin, answer) =
                hasHooks ? try await intercept(&request, from: unsigned, &call) : (call.context.origin, nil)
            call.readCookies(for: request, at: origin)
            try call.receiver?.willSend(fieldsWithoutToken(of: request, call).credentials)
            var ticket: CacheTicket?
            if answer == nil, let cache = config.cache {
                (answer, ticket) = consult(cache, for: request, at: origin, call)
            }
            call.monitor?.start(attempt: call.context.attempt)
            let outcome: AttemptRunner.Outcome
            if let answer {
                hasSucceeded = nil
                outcome = AttemptRunner.Outcome(answer, for: call)
            } else {
                call.context.sent += 1
                isUnderWay = true
                observation?.attemptWillStart(call.context, request)
                let onRedirect: AttemptRunner.RedirectHook = {
                    [authorizer, authorization = call.authorization] request, renewed in
                    try await authorizer?.prepareRedirect(&request, for: authorization, &renewed)
                }
                if let ticket {
                    outcome = try await run(request, call, from: origin, observation, ticket, onRedirect)
                } else {
                    outcome = try await attemptRunner.run(
                        request, call, from: origin, observation, onRedirect: onRedirect)
                }
                if let renewed = outcome.renewed { authorizer?.adopt(renewed, for: &call) }
                // A request redirected to another origin carries no token, so its response cannot reject the token.
                if outcome.leftOrigin { call.context.stamp = nil }
            }
            if let body = outcome.body, let receiver = call.receiver {
                if answer == nil { try await authorizer?.validate(outcome.response, for: &call) }
                if hasHooks { try await validate(outcome.response, &call) }
                var transferred: RequestSlot?
                if receiver.outlivesCall, let slot {
                    transferred = RequestSlot { [slots] in slots.release(slot) }
                    isSlotTransferred = true
                }
                let count = try await attemptRunner.receive(
                    body, of: outcome.response, for: call, by: receiver, transferred)
                try await receiver.finish(outcome.response.head)
                observation?.attemptDidReceive(call.context, outcome.response, bytes: count)
                return .success(outcome.response)
            }
            isUnderWay = false
            observation?.attemptDidReceive(call.context, outcome.response, bytes: outcome.response.body.count)
            if answer == nil, !outcome.isStale { try await authorizer?.validate(outcome.response, for: &call) }
            if hasHooks { try await validate(outcome.response, &call) }
            // A receiver has already consumed acceptable responses.
            let isAcceptable =
                call.receiver == nil && call.context.endpoint.acceptableStatuses.contains(outcome.response.status)
            if answer == nil { hasSucceeded = isAcceptable && !outcome.isStale }
            if isAcceptable {
                ticket?.store(of: tokens)
                return .success(outcome.response)
            }
            return .failure(decoding.statusError(for: outcome.response, call: call.context.call))
        } catch {
            let failure = AttemptRunner.wrap(error, call: call.context.call, lastResponse: call.lastResponse)
            if isUnderWay { observation?.attemptDidFail(call.context, failure) }
            return .failure(failure)
        }
    }
}
