internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Sends the request of an attempt, within one time limit.
final class ExchangeRunner: Sendable {
    let config: NetworkConfig
    let allowsInsecureHTTP: Bool
    let authorizer: Authorizer?
    let transport: any Transport
    let time: any TimeSource
    /// The same transport, if it enforces time limits itself and the client uses the system's clock as it does.
    private let deadlineTransport: (any DeadlineTransport)?
    private let limits: TimeLimits

    var waitsForContinue: Bool { transport.waitsForContinue }

    init(config: NetworkConfig, authorizer: Authorizer?, transport: any Transport, time: any TimeSource) {
        self.config = config
        self.allowsInsecureHTTP = config.allowsInsecureHTTP || authorizer?.tokens.allowsInsecureHTTP == true
        self.authorizer = authorizer
        self.transport = transport
        self.time = time
        self.deadlineTransport = time is SystemTimeSource ? transport as? any DeadlineTransport : nil
        self.limits = TimeLimits(time: time)
    }

    /// - Parameters:
    ///   - hasCacheConditions: Whether the cache has added validators to the request.
    ///   - onUnusedResponse: Called with a response that arrives after the call was cancelled; `nil` if a cancelled
    ///     call needs none.
    func run(
        _ request: HTTPRequest, at origin: Origin, for call: consuming CallState, hasCacheConditions: Bool = false,
        onUnusedResponse: (@Sendable (ServerResponse) -> Void)? = nil
    ) async throws -> (response: ServerResponse, report: Exchange.Report) {
        // Created outside the task: an attempt abandoned before it starts must not take its successor's progress for
        // its own.
        var exchange = Exchange(request, at: origin, for: call, by: self)
        exchange.hasCacheConditions = hasCacheConditions
        if let onUnusedResponse, call.mayOutliveCaller {
            return try await runDespiteCancellation(
                exchange, for: call, within: limit(of: call), onUnusedResponse: onUnusedResponse)
        }
        guard let deadlineTransport, call.isShort else {
            let limit = limit(of: call)
            return try await withLimit(limit) { [exchange = consume exchange, call = consume call] progress in
                var exchange = exchange
                return try await exchange.followRedirects(for: call, within: .restarted(by: progress))
            }
        }
        let limit = limit(of: call)
        do {
            return try await exchange.followRedirects(
                for: call, within: .kept(by: deadlineTransport, until: time.uptime + limit))
        } catch is DeadlineError {
            throw TimeLimitError(limit: limit)
        }
    }

    /// Runs the exchange of a sign-in. Once it is sent, the server may issue tokens, and a transport that is cancelled
    /// could not return them. So the exchange goes on after the call was cancelled.
    private func runDespiteCancellation(
        _ exchange: Exchange, for call: CallState, within limit: Duration,
        onUnusedResponse: @escaping @Sendable (ServerResponse) -> Void
    ) async throws -> (response: ServerResponse, report: Exchange.Report) {
        try Task.checkCancellation()
        let race = Race<(response: ServerResponse, report: Exchange.Report)>()
        Task {
            let result = await limits.run(withoutProgressFor: limit) { progress in
                var exchange = exchange
                return try await exchange.followRedirects(for: call, within: .restarted(by: progress))
            }
            let isFirst = race.finish(result)
            if !isFirst, case .success(let lost) = result { onUnusedResponse(lost.response) }
        }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { race.wait($0) }
        } onCancel: {
            race.finish(.failure(CancellationError()))
        }
        return try result.get()
    }

    /// Runs a part of an attempt in a task that is abandoned if it makes no progress for too long.
    func withLimit<Value: Sendable>(
        _ limit: Duration, _ operation: @escaping @Sendable (ProgressSignal) async throws -> Value
    ) async throws -> Value {
        try await limits.run(withoutProgressFor: limit, operation).get()
    }

    func limit(of call: CallState) -> Duration {
        call.context.sentEndpoint.timeout ?? config.timeout
    }
}

/// The requests and responses of one attempt: the request of the attempt, and those that redirects lead to.
struct Exchange {
    /// The way in which the time limit of an exchange is enforced.
    enum TimeLimit: Sendable {
        /// The transport itself enforces the limit, which ends at an uptime.
        case kept(by: any DeadlineTransport, until: Duration)
        /// The exchange runs in a task that can be abandoned. Its progress restarts the limit.
        case restarted(by: ProgressSignal)
    }

    /// The facts about an exchange besides its response.
    struct Report: Sendable {
        /// The body of the response, if a receiver consumes it.
        var unreadBody: ByteStream?
        /// Whether a redirect led to another origin, which did not get the token.
        var leftOrigin = false
        /// The target of the last redirect, as the cache names it; `nil` if there was none.
        var redirectTarget: String?
        /// Whether the server performed a request that must not be repeated before it redirected to the result.
        var isPerformed = false
        /// The credential of the last request, if it was replaced before a redirect.
        var renewed: Credential?
        /// Whether the response is a stored one in place of a failure. It says nothing about the token.
        var isStale = false
    }

    private let runner: ExchangeRunner
    private var request: HTTPRequest
    private var origin: Origin
    private var carriesBody: Bool
    /// Whether the cache has added validators to the request. They are those of a response for its URL only.
    var hasCacheConditions = false
    /// The number of the last body that has reported its progress to the monitor.
    private var bodyNumber: Int
    private var redirects = 0
    private var report = Report()

    init(_ request: HTTPRequest, at origin: Origin, for call: borrowing CallState, by runner: ExchangeRunner) {
        self.runner = runner
        self.request = request
        self.origin = origin
        self.carriesBody = call.body != nil
        self.bodyNumber = call.monitor?.bodyNumber ?? 0
    }

    /// Sends the request, follows redirects, and reads the response unless a receiver does.
    mutating func followRedirects(
        for call: CallState, within limit: TimeLimit
    ) async throws -> (response: ServerResponse, report: Report) {
        while true {
            let response = try await send(for: call, within: limit)
            call.cookies?.receive(response.head, to: request, from: origin)
            guard let redirect = try redirect(by: response.head, call) else {
                return try await read(response, for: call)
            }
            try await follow(redirect, after: response, for: call)
        }
    }

    // Inlined, as the steps of an attempt.
    @inline(__always)
    private mutating func send(for call: CallState, within limit: TimeLimit) async throws -> TransportResponse {
        let body = carriesBody ? try await openBody(of: call, within: limit) : nil
        // Opening a file or a stream takes time, in which the token may expire or the session may end.
        if case .stream = body?.content { try await renewToken(of: call) }
        let request = call.withCookies(request, at: origin, isFirst: redirects == 0)
        guard let recorder = call.observation?.startTransfer() else {
            return try await transmit(request, body, for: call, within: limit)
        }
        let response = try await TransferRecorder.$current.withValue(recorder) {
            try await transmit(request, body, for: call, within: limit)
        }
        return response.recorded(by: recorder)
    }

    private mutating func openBody(of call: CallState, within limit: TimeLimit) async throws -> OutgoingBody? {
        guard let body = try await call.body?.open() else { return nil }
        let progress: ProgressSignal? = if case .restarted(let progress) = limit { progress } else { nil }
        return body.reporting(to: call.monitor, call.context.attempt, after: &bodyNumber, progress)
    }

    @inline(__always)
    private func transmit(
        _ request: HTTPRequest, _ body: OutgoingBody?, for call: CallState, within limit: TimeLimit
    ) async throws -> TransportResponse {
        do {
            switch limit {
            case .restarted:
                let (head, stream) = try await runner.transport.send(request, body: body)
                return TransportResponse(head: head, body: .stream(stream))
            case .kept(let transport, let deadline):
                var bytes: Data?
                if case .bytes(let content) = body?.content { bytes = content }
                return try await transport.exchange(
                    request, body: bytes, upTo: runner.config.maximumResponseBytes,
                    within: deadline - runner.time.uptime)
            }
        } catch let error as DeadlineError {
            throw error
        } catch {
            if mustNotRepeat(call), (error as? TransportError)?.sentNothing == true {
                throw TransportError.connectionLost("the server of a redirect could not be reached: \(error)")
            }
            if redirects > 0, let error = error as? TransportError { throw error.afterRedirect(to: origin) }
            guard case .interceptorFailed(let call, let error) = ExchangeRunner.wrap(error, call: call.context.call)
            else { throw error }
            throw NetworkError.transport(call, error)
        }
    }

    private mutating func redirect(by head: HTTPResponse, _ call: CallState) throws(Redirect.Refusal) -> Redirect? {
        guard runner.config.maximumRedirects > 0, head.headerFields.contains(.location) else { return nil }
        runner.authorizer?.markCredentials(in: &request, of: call)
        // A server that repeats the request elsewhere must still perform it only once.
        return try Redirect(
            of: request, by: head, from: origin, keeping: call.context[IdempotencyKeys.Mark.self]?.field)
    }

    /// Sets up the request that follows a redirect, or throws if the call must not continue.
    private mutating func follow(
        _ redirect: Redirect, after response: TransportResponse, for call: CallState
    ) async throws {
        redirects += 1
        guard redirects <= runner.config.maximumRedirects else {
            throw NetworkError.tooManyRedirects(call.context.call, limit: runner.config.maximumRedirects)
        }
        guard runner.allowsInsecureHTTP || !redirect.origin.isInsecure else {
            throw Redirect.Refusal.insecure(url: "\(redirect.origin)")
        }
        carriesBody = carriesBody && redirect.keepsBody
        if carriesBody, let body = call.body, !body.isReplayable {
            let head = ServerResponse(head: response.head, body: Data())
            throw NetworkError.bodyNotReplayable(call.context.call, head)
        }
        // Reading the rest of a short body lets the transport reuse the connection.
        _ = try? await response.collect(upTo: 16 << 10)
        // After a cancellation or a timeout the next attempt may already be under way.
        try Task.checkCancellation()
        // Of an idempotent method, several requests have the effect of one (RFC 9110, section 9.2.2).
        if redirect.request.method != request.method, ![.put, .delete, .options].contains(request.method) {
            report.isPerformed = true
        }
        request = redirect.request
        // RFC 9110, section 15.4. The cache asks only on behalf of requests without conditions of their own.
        if hasCacheConditions { request.removeCacheConditions() }
        try await renewToken(of: call)
        report.leftOrigin = report.leftOrigin || redirect.leavesOrigin
        call.observation?.attemptWillRedirect(
            call.context, request, to: "\(redirect.origin)\(redirect.request.path ?? "")")
        origin = redirect.origin
    }

    /// Whether the server has performed a request with effects before it redirected. The call must not be sent again as
    /// if nothing had been sent.
    private func mustNotRepeat(_ call: CallState) -> Bool {
        redirects > 0 && !call.request.method.isSafe
    }

    private mutating func renewToken(of call: CallState) async throws {
        do {
            try await runner.authorizer?.prepareNextRequest(&request, for: call.authorization, &report.renewed)
        } catch {
            guard mustNotRepeat(call), case .refreshFailed(let failure) = error, failure.kind == .offline else {
                throw error
            }
            throw TransportError.connectionLost("the token expired during a redirect: \(failure.description)")
        }
    }

    @inline(__always)
    private func read(
        _ response: TransportResponse, for call: CallState
    ) async throws -> (response: ServerResponse, report: Report) {
        var report = report
        if redirects > 0 { report.redirectTarget = CacheRequest.url(of: request, at: origin) }
        if case .stream(let body) = response.body, let receiver = call.receiver,
            receiver.accepts(response.head, for: call.context.sentEndpoint)
        {
            report.unreadBody = body
            return (ServerResponse(head: response.head, body: Data()), report)
        }
        let bytes = try await response.collect(upTo: runner.config.maximumResponseBytes)
        return (ServerResponse(head: response.head, body: bytes), report)
    }
}

extension CallState {
    /// Whether the time limit never restarts: the call sends and receives bytes in memory, and reports no progress.
    fileprivate var isShort: Bool {
        guard receiver == nil, monitor == nil else { return false }
        guard let body else { return true }
        return body.bytes.map { $0.count <= OutgoingBody.maximumSingleChunk } ?? false
    }

    /// Whether the exchange may go on after its caller was cancelled: the body is small, and needs no file.
    fileprivate var mayOutliveCaller: Bool {
        guard receiver == nil else { return false }
        guard let body else { return true }
        let isSmall = body.length.map { $0 <= OutgoingBody.maximumSingleChunk } ?? false
        return isSmall && body.isReplayable && !body.inspectsFiles
    }

    /// A request of the current attempt with its cookies.
    fileprivate func withCookies(_ request: HTTPRequest, at origin: Origin, isFirst: Bool) -> HTTPRequest {
        guard let cookies else { return request }
        return isFirst ? cookies.adding(cookieField, to: request) : cookies.adding(to: request, at: origin)
    }
}

extension TransportError {
    /// The same error, whose reason names the origin that a redirect led to.
    fileprivate func afterRedirect(to origin: Origin) -> TransportError {
        let place = "after a redirect to \(origin)"
        return switch self {
        case .cannotConnect(let why): .cannotConnect("\(why), \(place)")
        case .connectionLost(let why): .connectionLost("\(why), \(place)")
        case .tlsFailed(let why): .tlsFailed("\(why), \(place)")
        case .invalidResponse(let why): .invalidResponse("\(why), \(place)")
        case .offline, .timedOut, .invalidRequest, .bodyFailed: self
        }
    }

    /// Whether no byte of the request has left the device.
    fileprivate var sentNothing: Bool {
        switch self {
        case .offline, .cannotConnect, .tlsFailed: true
        case .connectionLost, .timedOut, .invalidResponse, .invalidRequest, .bodyFailed: false
        }
    }
}

extension OutgoingBody {
    /// A body in memory that is larger than this is sent in chunks, so that its time limit can restart with each of
    /// them.
    static let maximumSingleChunk = 1 << 20

    /// The same body, which reports its progress to the time limit and to the monitor.
    fileprivate func reporting(
        to monitor: TransferMonitor?, _ attempt: Int, after bodyNumber: inout Int, _ progress: ProgressSignal?
    ) -> OutgoingBody {
        if monitor == nil, case .bytes(let bytes) = content, bytes.count <= Self.maximumSingleChunk { return self }
        let body = monitor?.numberBody(after: bodyNumber) ?? 0
        bodyNumber = body
        return counted(onProgress: { progress?.report() }) {
            let pass = monitor?.startBody(body, attempt: attempt) ?? 0
            return { count in
                progress?.report()
                monitor?.send(count, in: pass)
            }
        }
    }
}
