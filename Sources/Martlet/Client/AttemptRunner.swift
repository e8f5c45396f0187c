internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Sends a request, follows its redirects and reads the answer, all within one time limit.
struct AttemptRunner: Sendable {
    private let config: NetworkConfig
    /// Whether the transport can ask a server before it sends a body.
    var waitsForContinue: Bool { transport.waitsForContinue }
    let allowsInsecureHTTP: Bool
    private let transport: any Transport
    private let limits: TimeLimits

    struct Outcome: Sendable {
        var answer: ServerAnswer
        /// The body where it has not been read, because somebody else is to take it.
        var body: ByteStream?
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
        let announced = call.monitor?.announced ?? 0
        return try await limits.run(withoutHeadwayFor: limit(of: call)) { headway in
            try await exchange(request, call, from: origin, watch, headway, announced)
        }.get()
    }

    /// Lets a receiver take the body of an answer, for as long as it gets on.
    /// - Returns: How many bytes came.
    func receive(
        _ body: ByteStream, of answer: ServerAnswer, for call: CallPipeline.Call, by receiver: any AnswerReceiver,
        _ place: HeldPlace?
    ) async throws -> Int {
        let count = Locked(0)
        let pass = call.monitor?.pass ?? 0
        // Asked for here: who is given up before it begins would take itself for the next one.
        let attempt = receiver.attempt
        return try await limits.run(withoutHeadwayFor: limit(of: call)) { headway in
            let counted = body.counted(of: nil) { now in count.withLock { $0 = Int(clamping: now.completed) } }
            try await receiver.receive(
                IncomingAnswer(
                    attempt: attempt, head: answer.head, body: counted, call: call.context.call,
                    progress: { count in
                        headway.made()
                        call.monitor?.receive(count, in: pass)
                    }, finish: { call.monitor?.finish() }, place: place))
            return count.withLock { $0 }
        }.get()
    }

    private func limit(of call: CallPipeline.Call) -> Duration {
        call.context.endpoint.timeout ?? config.timeout
    }

    private func exchange(
        _ original: HTTPRequest, _ call: CallPipeline.Call, from origin: Origin, _ watch: CallWatch?,
        _ headway: Headway, _ announced: Int
    ) async throws -> Outcome {
        let (body, context) = (call.body, call.context)
        var announced = announced
        var request = original
        var origin = origin
        var carriesBody = body != nil
        var leftOrigin = false
        var redirects = 0
        while true {
            let outgoing =
                carriesBody
                ? try body?.open().watched(by: call.monitor, context.attempt, after: &announced, headway) : nil
            let response = try await send(request, outgoing, context)
            let redirect: Redirect?
            if config.redirects.limit > 0 {
                redirect = try Redirect(of: request, answeredBy: response.head, from: origin)
            } else {
                redirect = nil
            }
            guard let redirect else {
                if let receiver = call.receiver, receiver.takes(response.head, to: context.endpoint) {
                    let answer = ServerAnswer(head: response.head, body: Data())
                    return Outcome(answer: answer, body: response.body, leftOrigin: leftOrigin)
                }
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
            // Nobody waits any more for an attempt that was given up meanwhile, and the next one may be under way.
            try Task.checkCancellation()
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
        case let failure as DownloadFailure: .downloadFailed(call, failure)
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

extension OutgoingBody {
    /// In memory, a body larger than this is handed out piece by piece, so that its time limit can start anew with each.
    private static let maximumSinglePiece = 1 << 20

    /// The same body, told of to whoever wants to know how it gets on.
    fileprivate func watched(
        by monitor: TransferMonitor?, _ attempt: Int, after announced: inout Int, _ headway: Headway
    ) -> OutgoingBody {
        if monitor == nil, case .bytes(let bytes) = content, bytes.count <= Self.maximumSinglePiece { return self }
        let body = monitor?.announceBody(after: announced) ?? 0
        announced = body
        return counted(madeHeadway: { headway.made() }) {
            let pass = monitor?.startBody(body, attempt: attempt) ?? 0
            return { count in
                headway.made()
                monitor?.send(count, in: pass)
            }
        }
    }
}
