internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Sends a request, follows its redirects and reads the answer, all within one time limit.
struct AttemptRunner: Sendable {
    private let config: NetworkConfig
    let allowsInsecureHTTP: Bool
    private let transport: any Transport
    private let limits: TimeLimits

    struct Outcome: Sendable {
        var answer: ServerAnswer
        /// Whether a redirect led to another origin, where the token does not go.
        var leftOrigin: Bool
    }

    init(config: NetworkConfig, allowsInsecureHTTP: Bool, transport: any Transport, time: any TimeSource) {
        self.config = config
        self.allowsInsecureHTTP = allowsInsecureHTTP
        self.transport = transport
        self.limits = TimeLimits(time: time)
    }

    func run(
        _ request: HTTPRequest, _ call: CallPipeline.Call, from origin: Origin, _ watch: CallWatch?
    ) async throws -> Outcome {
        let limit = call.context.endpoint.timeout ?? config.timeout
        let (body, context) = (call.body, call.context)
        return try await limits.run(within: limit) {
            try await exchange(request, body, from: origin, context, watch)
        }.get()
    }

    private func exchange(
        _ original: HTTPRequest, _ body: PreparedBody?, from origin: Origin, _ context: RequestContext,
        _ watch: CallWatch?
    ) async throws -> Outcome {
        var request = original
        var origin = origin
        var carriesBody = body != nil
        var leftOrigin = false
        var redirects = 0
        while true {
            let response = try await send(request, carriesBody ? body?.open() : nil, context)
            let redirect: Redirect?
            if config.redirects.limit > 0 {
                redirect = try Redirect(of: request, answeredBy: response.head, from: origin)
            } else {
                redirect = nil
            }
            guard let redirect else {
                let bytes = try await response.body.collect(upTo: config.maximumResponseBytes)
                return Outcome(answer: ServerAnswer(head: response.head, body: bytes), leftOrigin: leftOrigin)
            }
            redirects += 1
            guard redirects <= config.redirects.limit else {
                throw NetworkError.tooManyRedirects(context.call, limit: config.redirects.limit)
            }
            guard allowsInsecureHTTP || !redirect.origin.isInsecure else {
                throw Redirect.Refusal.insecure(url: "\(redirect.origin)")
            }
            carriesBody = carriesBody && redirect.keepsBody
            if carriesBody, let body, !body.isReplayable {
                let answer = ServerAnswer(head: response.head, body: Data())
                throw NetworkError.bodyNotReplayable(context.call, answer)
            }
            // What is left of a redirect's own body is of no use, but reading a little of it keeps the connection.
            _ = try? await response.body.collect(upTo: 16 << 10)
            leftOrigin = leftOrigin || redirect.leavesOrigin
            watch?.redirect(context, redirect.request, to: "\(redirect.origin)\(redirect.request.path ?? "")")
            request = redirect.request
            origin = redirect.origin
        }
    }

    private func send(
        _ request: HTTPRequest, _ body: OutgoingBody?, _ context: RequestContext
    ) async throws -> TransportResponse {
        do {
            return try await transport.send(request, body: body)
        } catch {
            guard case .interceptorFailed(let call, let error) = Self.wrap(error, call: context.call) else {
                throw error
            }
            throw NetworkError.transport(call, error)
        }
    }

    /// Gives every error its case, and the name of the call.
    static func wrap(_ error: any Error, call: FailedCall, lastAnswer: ServerAnswer? = nil) -> NetworkError {
        switch error {
        case let error as NetworkError: error
        case let error as SessionError: NetworkError(error, for: call)
        case is CancellationError: .cancelled(call)
        case let error as TimeLimitReached: .timedOut(call, after: error.limit)
        case let error as ByteStream.TooLarge: .responseTooLarge(call, limit: error.limit)
        case is BodySpent: .bodyNotReplayable(call, lastAnswer)
        case let problem as RequestProblem: .invalidRequest(call, problem)
        case let problem as FileProblem: .invalidRequest(call, RequestProblem(problem.description))
        case Redirect.Refusal.insecure(let url): .insecureURL(call, url: url)
        case Redirect.Refusal.unusable(let why): .invalidResponse(call, reason: why)
        case let error as TransportError: wrap(error, call: call, lastAnswer: lastAnswer)
        default: .interceptorFailed(call, error)
        }
    }

    private static func wrap(_ error: TransportError, call: FailedCall, lastAnswer: ServerAnswer?) -> NetworkError {
        switch error {
        case .offline: .offline(call)
        case .cannotConnect(let why): .cannotConnect(call, reason: why)
        case .connectionLost(let why): .connectionLost(call, reason: why)
        case .timedOut: .connectionLost(call, reason: "the transport gave up waiting")
        case .tlsFailed(let why): .tlsFailed(call, reason: why)
        case .invalidResponse(let why): .invalidResponse(call, reason: why)
        case .invalidRequest(let why): .invalidRequest(call, RequestProblem(why))
        case .bodyFailed(let error): wrapBody(error, call: call, lastAnswer: lastAnswer)
        }
    }

    private static func wrapBody(_ error: any Error, call: FailedCall, lastAnswer: ServerAnswer?) -> NetworkError {
        let wrapped = wrap(error, call: call, lastAnswer: lastAnswer)
        guard case .interceptorFailed = wrapped else { return wrapped }
        let why = Redaction.redact(String(describing: error))
        return .invalidRequest(call, RequestProblem("Its body could not be read: \(why)"))
    }
}
