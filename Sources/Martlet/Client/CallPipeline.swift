internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The one way through, from an endpoint to the bytes of its answer.
struct CallPipeline: Sendable {
    let baseURL: BaseURL
    let tokens: TokenManager?
    let config: NetworkConfig
    let time: any TimeSource
    let attempts: AttemptRunner
    private let interceptors: [any RequestInterceptor]
    private let authentication: AuthenticationInterceptor?
    private let limiter: ConcurrencyLimiter

    init(baseURL: BaseURL, tokens: TokenManager?, config: NetworkConfig, transport: any Transport) {
        self.baseURL = baseURL
        self.tokens = tokens
        self.config = config
        self.time = config.time ?? tokens?.time ?? .system
        let signing = tokens.map { [AuthenticationInterceptor(tokens: $0) as any RequestInterceptor] } ?? []
        self.interceptors = signing + config.interceptors + [config.retry]
        self.authentication = interceptors.lazy.compactMap { $0 as? AuthenticationInterceptor }.first
        self.limiter = ConcurrencyLimiter { origin in
            guard let ours = config.maxConcurrentRequests else { return transport.parallelRequests(to: origin) }
            return min(ours, transport.parallelRequests(to: origin) ?? ours)
        }
        self.attempts = AttemptRunner(
            config: config, allowsInsecureHTTP: config.allowsInsecureHTTP || tokens?.allowsInsecureHTTP == true,
            transport: transport, time: time)
    }

    /// Sends an endpoint until an attempt succeeds or nobody wants another one.
    /// - Parameters:
    ///   - session: The only session that may sign it; whichever there is if `nil`.
    ///   - monitor: Is told how far the bytes have got.
    ///   - receiver: Takes the body of a good answer, which comes into memory where there is none.
    func perform(
        _ endpoint: any Endpoint, accept: String?, authentication: AuthenticationRequirement? = nil,
        session: SessionID? = nil, monitor: TransferMonitor? = nil, receiver: (any AnswerReceiver)? = nil
    ) async throws(NetworkError) -> NetworkResponse<RawAnswer> {
        var isReadOn = false
        defer { if !isReadOn { monitor?.finish() } }
        var call = try build(endpoint, accept: accept, authentication ?? endpoint.authentication)
        call.context.session = session
        call.monitor = monitor
        call.receiver = receiver
        let watch = CallWatch(observers: config.observers, request: call.request, body: call.body, time: time)
        do {
            let (answer, lastAttempt) = try await run(&call, watch)
            watch?.finish(.success(answer.status), attempts: call.context.attempt)
            isReadOn = receiver?.outlivesCall == true
            return NetworkResponse(
                value: RawAnswer(answer: try await process(answer, &call), call: call.context.call), head: answer.head,
                attempts: call.context.attempt,
                timings: .init(total: time.uptime - call.context.startedAt, lastAttempt: lastAttempt))
        } catch let error as NetworkError {
            throw error
        } catch {
            throw AttemptRunner.wrap(error, call: call.context.call)
        }
    }

    // MARK: - Building

    func build(
        _ endpoint: any Endpoint, accept: String?, _ authentication: AuthenticationRequirement
    ) throws(NetworkError) -> Call {
        let method = endpoint.method
        let location: Location
        do {
            location = try baseURL.location.get().appending(path: endpoint.path, query: endpoint.query)
        } catch {
            let url = Redaction.redact(endpoint.path)
            throw .invalidRequest(FailedCall(method: method.rawValue, url: url, attempts: 0), error)
        }
        let url = "\(location.origin)\(Redaction.redactPath(location.path[...]))"
        let failed = FailedCall(method: method.rawValue, url: url, attempts: 0)
        guard attempts.allowsInsecureHTTP || !location.origin.isInsecure else {
            throw .insecureURL(failed, url: url)
        }
        if self.authentication == nil, authentication == .required { throw .signInRequired(failed) }

        var request = HTTPRequest(
            method: method, scheme: location.origin.scheme, authority: location.authority, path: location.target,
            headerFields: config.headers)
        for field in endpoint.headers { request.headerFields[field.name] = nil }
        for field in endpoint.headers { request.headerFields.append(field) }
        if let accept, request.headerFields[.accept] == nil { request.headerFields[.accept] = accept }

        let body: PreparedBody?
        do {
            body = try endpoint.body.map { try PreparedBody($0, encoder: config.encoder) }
        } catch {
            let why = Redaction.redact(String(describing: error))
            throw .invalidRequest(failed, RequestProblem("Its body could not be made: \(why)"))
        }
        if let type = body?.contentType, request.headerFields[.contentType] == nil {
            request.headerFields[.contentType] = type
        }
        var context = RequestContext(
            endpoint: endpoint, authentication: authentication, method: method.rawValue, url: url,
            origin: location.origin, time: time)
        var asksFirst = false
        if let body {
            context.transferTime = config.uploads.transferTime(of: body)
            asksFirst =
                attempts.waitsForContinue && config.uploads.expectsContinue(body)
                && request.headerFields[.expect] == nil
            if asksFirst { request.headerFields[.expect] = "100-continue" }
        }
        return Call(request: request, body: body, context: context, asksFirst: asksFirst)
    }

    // MARK: - Running

    /// What is under way for one call.
    struct Call: Sendable {
        var request: HTTPRequest
        let body: PreparedBody?
        var context: RequestContext
        var lastAnswer: ServerAnswer?
        var monitor: TransferMonitor?
        var receiver: (any AnswerReceiver)?
        /// Whether the server is asked before the body goes out.
        var asksFirst = false
    }

    private func run(_ call: inout Call, _ watch: CallWatch?) async throws -> (ServerAnswer, Duration) {
        var isAnnounced = false
        do {
            let built = call.request
            for interceptor in interceptors { try await interceptor.prepare(&call.request, for: &call.context) }
            if !call.request.isForSamePlace(as: built) {
                call.context.origin = try origin(of: call.request)
            }
            watch?.start(call.request)
            isAnnounced = true
            while true {
                call.context.attempt += 1
                let started = time.uptime
                let failure: NetworkError
                switch await attempt(&call, watch) {
                case .success(let answer): return (answer, time.uptime - started)
                case .failure(let error): failure = error
                }
                call.lastAnswer = failure.answer ?? call.lastAnswer
                let wait = isOwnWish(failure, &call) ? .zero : try await decide(&call, failure)
                guard call.body?.isReplayable ?? true else {
                    guard failure.answer != nil else { throw failure }
                    throw NetworkError.bodyNotReplayable(call.context.call, call.lastAnswer)
                }
                watch?.retry(after: wait, dueTo: failure)
                if wait > .zero { try await time.sleep(until: time.uptime + wait) }
            }
        } catch {
            let failure = AttemptRunner.wrap(error, call: call.context.call)
            if isAnnounced { watch?.finish(.failure(failure), attempts: call.context.sent) }
            throw failure
        }
    }

    /// Whether the server only refused what the client asked for by itself, so that it is sent again without that.
    private func isOwnWish(_ failure: NetworkError, _ call: inout Call) -> Bool {
        if call.asksFirst, failure.answer?.status == 417 {
            call.asksFirst = false
            call.request.headerFields[.expect] = nil
            return true
        }
        return call.receiver?.startsOver(after: failure) == true
    }

    /// One attempt: adapt, send, follow redirects, read, validate.
    private func attempt(_ call: inout Call, _ watch: CallWatch?) async -> Result<ServerAnswer, NetworkError> {
        var isUnderWay = false
        do {
            let place = try await takePlace(&call.context)
            var isPlaceHandedOn = false
            defer { if !isPlaceHandedOn { place.map(limiter.release) } }
            var request = call.request
            call.receiver?.adapt(&request)
            for interceptor in interceptors { try await interceptor.adapt(&request, for: &call.context) }
            let origin = try origin(of: &request, adaptedFrom: &call)
            call.context.sent += 1
            isUnderWay = true
            call.monitor?.start(attempt: call.context.attempt)
            watch?.attempt(call.context, request)
            let outcome = try await attempts.run(request, call, from: origin, watch)
            // A redirect to another origin went out without the token, so its answer says nothing about it.
            if outcome.leftOrigin { call.context.signature = nil }
            if let body = outcome.body, let receiver = call.receiver {
                for interceptor in interceptors { try await interceptor.validate(outcome.answer, for: &call.context) }
                var held: HeldPlace?
                if receiver.outlivesCall, let place {
                    held = HeldPlace { [limiter] in limiter.release(place) }
                    isPlaceHandedOn = true
                }
                let count = try await attempts.receive(body, of: outcome.answer, for: call, by: receiver, held)
                try await receiver.finish(outcome.answer.head)
                watch?.receive(call.context, outcome.answer, bytes: count)
                return .success(outcome.answer)
            }
            isUnderWay = false
            watch?.receive(call.context, outcome.answer, bytes: outcome.answer.body.count)
            for interceptor in interceptors { try await interceptor.validate(outcome.answer, for: &call.context) }
            // What is good, a receiver has taken.
            if call.receiver == nil, call.context.endpoint.acceptableStatuses.contains(outcome.answer.status) {
                return .success(outcome.answer)
            }
            let decoding = ResponseDecoding(decoder: config.decoder, envelope: config.envelope)
            return .failure(decoding.refusal(outcome.answer, call: call.context.call))
        } catch {
            let failure = AttemptRunner.wrap(error, call: call.context.call, lastAnswer: call.lastAnswer)
            if isUnderWay { watch?.fail(call.context, failure) }
            return .failure(failure)
        }
    }

    /// Waits until the request may be on its way, with a token that is still good then.
    ///
    /// A burst on a token that the server refuses costs one refusal for each connection and not one for each request:
    /// whoever still waits here for a place goes back to wait for the new token.
    private func takePlace(_ context: inout RequestContext) async throws -> Origin? {
        // A refresher's own call must not wait behind those that wait for what it is to bring.
        guard tokens?.isRefreshingHere != true else { return nil }
        let origin = context.origin
        while true {
            await authentication?.waitForToken(&context)
            let hasWaited = try await limiter.acquire(origin)
            guard authentication?.hasToken(&context) ?? true else {
                limiter.release(origin)
                continue
            }
            if hasWaited { await authentication?.renewToken(&context) }
            return origin
        }
    }

    /// Where an adapted request goes. An interceptor may have sent it elsewhere, where the token must not follow.
    private func origin(of request: inout HTTPRequest, adaptedFrom call: inout Call) throws -> Origin {
        guard !request.isForSamePlace(as: call.request) else { return call.context.origin }
        let place = try origin(of: request)
        if place != call.context.origin, let header = call.context.signedHeader {
            request.headerFields[header] = nil
            call.context.signature = nil
        }
        return place
    }

    private func origin(of request: HTTPRequest) throws -> Origin {
        let url = "\(request.scheme ?? "https")://\(request.authority ?? "")"
        let origin = try Location.parse(url).get().origin
        guard attempts.allowsInsecureHTTP || !origin.isInsecure else {
            throw Redirect.Refusal.insecure(url: "\(origin)")
        }
        return origin
    }

    /// How long to wait before the next attempt.
    /// - Throws: The failure itself where there shall be no other.
    private func decide(_ call: inout Call, _ failure: NetworkError) async throws(NetworkError) -> Duration {
        guard !failure.isCancelled else { throw failure }
        for interceptor in interceptors {
            switch await interceptor.retry(call.request, for: &call.context, dueTo: failure) {
            case .doNotRetry: continue
            case .retry: return .zero
            case .retryAfter(let wait): return wait
            case .fail(let error): throw error
            }
        }
        throw failure
    }

    private func process(_ answer: ServerAnswer, _ call: inout Call) async throws -> ServerAnswer {
        var answer = answer
        for interceptor in interceptors { answer = try await interceptor.process(answer, for: &call.context) }
        return answer
    }
}

extension HTTPRequest {
    fileprivate func isForSamePlace(as other: HTTPRequest) -> Bool {
        authority == other.authority && scheme == other.scheme
    }
}

/// A body whose encoding is done, so that each attempt only opens it.
struct PreparedBody: Sendable {
    let contentType: String?
    let isReplayable: Bool
    /// How many bytes it has; `nil` where nobody knows.
    let length: Int64?
    /// The bytes, where they are in memory.
    let bytes: Data?
    /// Opens the body for one attempt.
    let open: @Sendable () throws -> OutgoingBody

    init(_ body: RequestBody, encoder: JSONEncoder) throws {
        contentType = body.contentType
        isReplayable = body.isReplayable
        switch body.source {
        case .bytes(let data):
            self.length = Int64(data.count)
            self.bytes = data
            self.open = { OutgoingBody(data) }
        case .encoded(let encode):
            let data = try encode(encoder)
            self.length = Int64(data.count)
            self.bytes = data
            self.open = { OutgoingBody(data) }
        case .stream(let open):
            self.length = body.measure()
            self.bytes = nil
            self.open = open
        }
    }
}

extension RequestBody {
    /// How many bytes would go out; `nil` where nobody knows. For clients that send nothing.
    package var lengthWhenSent: Int64? {
        (try? PreparedBody(self, encoder: .martlet))?.length
    }
}
