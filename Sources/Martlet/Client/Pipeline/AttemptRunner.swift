internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Runs one attempt within one time limit: sends the request, follows redirects and reads the response.
struct AttemptRunner: Sendable {
    private let config: NetworkConfig
    let allowsInsecureHTTP: Bool
    private let transport: any Transport
    /// The same transport, if it keeps time limits by itself and the client uses the clock that it uses.
    private let punctual: (any PunctualTransport)?
    private let time: any TimeSource
    private let limits: TimeLimits

    var waitsForContinue: Bool { transport.waitsForContinue }

    /// Prepares the request that follows a redirect, or throws if the call must not go on. The credential is the one that
    /// has replaced the request's since the first redirect.
    typealias RedirectHook = @Sendable (inout HTTPRequest, inout Credential?) async throws -> Void

    /// The response of an attempt, after all redirects.
    struct Outcome: Sendable {
        var response: ServerResponse
        /// The unread body, if a receiver consumes it.
        var body: ByteStream?
        /// Whether a redirect led to another origin, which did not get the token.
        var leftOrigin: Bool
        /// The URL of the last redirect; `nil` if there was none.
        var redirectTarget: String?
        /// Whether the response is a stored one in place of a failure. It says nothing about the token.
        var isStale = false
        /// The credential of the last request, if it was replaced before a redirect.
        var renewed: Credential?
    }

    init(config: NetworkConfig, allowsInsecureHTTP: Bool, transport: any Transport, time: any TimeSource) {
        self.config = config
        self.allowsInsecureHTTP = allowsInsecureHTTP
        self.transport = transport
        self.punctual = time is SystemTimeSource ? transport as? any PunctualTransport : nil
        self.time = time
        self.limits = TimeLimits(time: time)
    }

    func run(
        _ request: HTTPRequest, _ call: CallState, from origin: Origin, _ observation: CallObservation?,
        onRedirect: @escaping RedirectHook
    ) async throws -> Outcome {
        if let punctual, call.isShort {
            let limit = limit(of: call)
            let deadline = Deadline(transport: punctual, limit: limit, uptime: time.uptime + limit)
            do {
                return try await exchange(request, call, from: origin, observation, deadline: deadline, onRedirect)
            } catch is DeadlineError {
                throw TimeLimitError(limit: limit)
            }
        }
        let generation = call.monitor?.generation ?? 0
        return try await limits.run(withoutProgressFor: limit(of: call)) { progress in
            try await exchange(request, call, from: origin, observation, progress, generation, onRedirect)
        }.get()
    }

    /// Lets a receiver consume the body of a response. The time limit restarts with each chunk.
    /// - Returns: The number of bytes received.
    func receive(
        _ body: ByteStream, of response: ServerResponse, for call: CallState, by receiver: any ResponseReceiver,
        _ slot: RequestSlot?
    ) async throws -> Int {
        let count = Locked(0)
        let pass = call.monitor?.pass ?? 0
        // Capture the attempt number now: an attempt abandoned before it starts would read its successor's.
        let attempt = receiver.attempt
        // Not the call itself: it has the receiver, which keeps the body until the caller takes it. The caller of a call
        // that has failed never does.
        let (monitor, owner) = (call.monitor, call.authorization.owner)
        var context = call.context
        context.outgoing = nil
        let consume = { @Sendable [context] (progress: ProgressSignal?) async throws -> Int in
            let counted = body.counted(of: nil) { now in count.withLock { $0 = Int(clamping: now.completed) } }
            try await receiver.receive(
                IncomingResponse(
                    attempt: attempt, head: response.head, body: counted, context: context,
                    progress: { count in
                        progress?.report()
                        monitor?.receive(count, in: pass)
                    }, finish: { monitor?.finish() }, slot: slot, owner: owner))
            return count.withLock { $0 }
        }
        guard receiver.outlivesCall else {
            return try await limits.run(withoutProgressFor: limit(of: call), consume).get()
        }
        // No limit may end the call while the receiver keeps the body: the next attempt would wait for its slot.
        try Task.checkCancellation()
        return try await consume(nil)
    }

    private func limit(of call: CallState) -> Duration {
        call.context.endpoint.timeout ?? config.timeout
    }

    private func exchange(
        _ original: HTTPRequest, _ call: CallState, from origin: Origin, _ observation: CallObservation?,
        _ progress: ProgressSignal? = nil, _ generation: Int = 0, deadline: Deadline? = nil,
        _ onRedirect: RedirectHook
    ) async throws -> Outcome {
        let (body, context) = (call.body, call.context)
        var generation = generation
        var request = original
        var origin = origin
        var carriesBody = body != nil
        var leftOrigin = false
        var redirects = 0
        var renewed: Credential?
        while true {
            let outgoing =
                carriesBody
                ? try await body?.open().reporting(to: call.monitor, context.attempt, after: &generation, progress)
                : nil
            let sent = call.withCookies(request, at: origin, isFirst: redirects == 0)
            let response = try await send(sent, outgoing, context, deadline, observation?.startTransfer())
            call.cookies?.receive(response.head, to: request, from: origin)
            let redirect: Redirect?
            if config.maximumRedirects > 0 {
                redirect = try Redirect(of: request, by: response.head, from: origin)
            } else {
                redirect = nil
            }
            guard let redirect else {
                let target = redirects > 0 ? "\(origin)\(request.path ?? "/")" : nil
                if case .stream(let body) = response.body, let receiver = call.receiver,
                    receiver.accepts(response.head, for: context.endpoint)
                {
                    let head = ServerResponse(head: response.head, body: Data())
                    return Outcome(
                        response: head, body: body, leftOrigin: leftOrigin, redirectTarget: target, renewed: renewed)
                }
                let bytes = try await response.collect(upTo: config.maximumResponseBytes)
                return Outcome(
                    response: ServerResponse(head: response.head, body: bytes), leftOrigin: leftOrigin,
                    redirectTarget: target, renewed: renewed)
            }
            redirects += 1
            guard redirects <= config.maximumRedirects else {
                throw NetworkError.tooManyRedirects(context.call, limit: config.maximumRedirects)
            }
            guard allowsInsecureHTTP || !redirect.origin.isInsecure else {
                throw Redirect.Refusal.insecure(url: "\(redirect.origin)")
            }
            carriesBody = carriesBody && redirect.keepsBody
            if carriesBody, let body, !body.isReplayable {
                let head = ServerResponse(head: response.head, body: Data())
                throw NetworkError.bodyNotReplayable(context.call, head)
            }
            // Reading the rest of a short body lets the transport reuse the connection.
            _ = try? await response.collect(upTo: 16 << 10)
            // After a cancellation or a timeout the next attempt may already be under way.
            try Task.checkCancellation()
            request = redirect.request
            try await onRedirect(&request, &renewed)
            leftOrigin = leftOrigin || redirect.leavesOrigin
            observation?.attemptWillRedirect(
                context, request, to: "\(redirect.origin)\(redirect.request.path ?? "")")
            origin = redirect.origin
        }
    }

    private func send(
        _ request: HTTPRequest, _ body: OutgoingBody?, _ context: RequestContext, _ deadline: Deadline?,
        _ recorder: TransferRecorder?
    ) async throws -> Arrival {
        if let recorder {
            let arrival = try await TransferRecorder.$current.withValue(recorder) {
                try await send(request, body, context, deadline, nil)
            }
            return arrival.recorded(by: recorder)
        }
        do {
            guard let deadline else {
                let (head, stream) = try await transport.send(request, body: body)
                return Arrival(head: head, body: .stream(stream))
            }
            var bytes: Data?
            if case .bytes(let content) = body?.content { bytes = content }
            let response = try await deadline.transport.exchange(
                request, body: bytes, upTo: config.maximumResponseBytes, within: deadline.uptime - time.uptime)
            return Arrival(head: response.head, body: .received(response.isTooLarge ? nil : response.body))
        } catch let error as DeadlineError {
            throw error
        } catch {
            guard case .interceptorFailed(let call, let error) = Self.wrap(error, call: context.call) else {
                throw error
            }
            throw NetworkError.transport(call, error)
        }
    }
}

/// A response whose body is still to be read, or has arrived with it.
private struct Arrival {
    enum Body {
        case stream(ByteStream)
        /// `nil` if the body is larger than the client accepts.
        case received(Data?)
    }

    let head: HTTPResponse
    let body: Body

    func recorded(by recorder: TransferRecorder) -> Arrival {
        recorder.receiveHead()
        switch body {
        case .stream(let stream): return Arrival(head: head, body: .stream(recorder.watching(stream)))
        case .received:
            recorder.finish()
            return self
        }
    }

    func collect(upTo count: Int) async throws -> Data {
        switch body {
        case .stream(let stream): return try await stream.collect(upTo: count)
        case .received(let bytes?): return bytes
        case .received(nil): throw ByteStream.TooLargeError(limit: count)
        }
    }
}

/// The time limit of an attempt that a transport keeps by itself.
private struct Deadline {
    let transport: any PunctualTransport
    let limit: Duration
    /// The uptime at which the limit expires.
    let uptime: Duration
}

extension CallState {
    /// A request of the current attempt with its cookies.
    fileprivate func withCookies(_ request: HTTPRequest, at origin: Origin, isFirst: Bool) -> HTTPRequest {
        guard let cookies else { return request }
        return isFirst ? cookies.adding(cookieField, to: request) : cookies.adding(to: request, at: origin)
    }

    /// Whether the time limit never restarts: the call sends and receives bytes in memory, and reports no progress.
    fileprivate var isShort: Bool {
        guard receiver == nil, monitor == nil else { return false }
        guard let body else { return true }
        return body.bytes.map { $0.count <= OutgoingBody.maximumSingleChunk } ?? false
    }
}

extension OutgoingBody {
    /// A body in memory that is larger than this is sent in chunks, so that its time limit can restart with each of
    /// them.
    fileprivate static let maximumSingleChunk = 1 << 20

    /// The same body, which reports its progress to the time limit and to the monitor.
    fileprivate func reporting(
        to monitor: TransferMonitor?, _ attempt: Int, after generation: inout Int, _ progress: ProgressSignal?
    ) -> OutgoingBody {
        if monitor == nil, case .bytes(let bytes) = content, bytes.count <= Self.maximumSingleChunk { return self }
        let body = monitor?.startGeneration(after: generation) ?? 0
        generation = body
        return counted(onProgress: { progress?.report() }) {
            let pass = monitor?.startBody(body, attempt: attempt) ?? 0
            return { count in
                progress?.report()
                monitor?.send(count, in: pass)
            }
        }
    }
}
