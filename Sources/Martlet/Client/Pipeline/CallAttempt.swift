internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// One attempt of a call: begin, obtain a response, validate, deliver.
struct CallAttempt {
    /// The source of the response.
    private enum Source {
        case server
        /// The cache, in place of a failure of the server.
        case cacheAfterFailure
        /// An interceptor or the cache. The server was not asked.
        case client
    }

    /// The fate of the request slot at the end of the attempt.
    private enum SlotEnd {
        case releasedAfterFailure
        case releasedAfterSuccess
        /// Released without a request to the server, so the release says nothing about the server.
        case released
        /// The body of the response, which is read after the call, keeps the slot.
        case handedOver
    }

    /// Whether the attempt got its token and its slot at once.
    private enum Acquisition { case immediate, mayHaveWaited }

    private let pipeline: CallPipeline
    /// The request. Once the attempt has begun, it has its token and the changes of the interceptors.
    private var request: HTTPRequest
    private var origin: Origin
    private var slot: ConcurrencyLimiter.Claim?
    private var slotEnd = SlotEnd.released
    /// The uptime at which the request could be sent.
    private var startedAt: Duration
    private var source = Source.server
    private var unreadBody: ByteStream?
    private var ticket: CacheTicket?
    /// Whether the server has already performed the request, so that a replay would perform it twice.
    private var isPerformed = false
    /// Whether the observers know that the attempt has started, but not how it has ended.
    private var isUnderWay = false
    /// Called with the response to a sign-in if an interceptor does not accept it, or if the call was cancelled.
    var onUnusedResponse: (@Sendable (ServerResponse) -> Void)?

    /// - Parameter now: The uptime.
    init(of call: CallState, in pipeline: CallPipeline, at now: Duration) {
        self.pipeline = pipeline
        self.startedAt = now
        self.request = call.request
        self.origin = call.context.origin
    }

    mutating func perform(_ call: inout CallState) async -> Result<ServerResponse, NetworkError> {
        do {
            defer { endSlot(carriedToken: call.context.stamp != nil) }
            try await begin(&call)
            let response = try await obtainResponse(&call)
            if let unreadBody, let receiver = call.receiver {
                try await validate(response, &call)
                try await deliver(unreadBody, of: response, to: receiver, call)
                return .success(response)
            }
            isUnderWay = false
            call.observation?.attemptDidReceive(call.context, response, bytes: response.body.count)
            try await validate(response, &call)
            return deliver(response, call)
        } catch {
            let failure = ExchangeRunner.wrap(error, call: call.context.call, lastResponse: call.lastResponse)
            if isUnderWay { call.observation?.attemptDidFail(call.context, failure) }
            return .failure(failure)
        }
    }

    // The steps have one caller each. They are inlined, because each call of an async function allocates a frame and
    // checks the executor.
    @inline(__always)
    private mutating func begin(_ call: inout CallState) async throws {
        if try await acquireTokenAndSlot(&call) == .mayHaveWaited { startedAt = pipeline.time.uptime }
        slotEnd = .releasedAfterFailure
        // If the store was read during the wait, the session that the cookies belong to is known now.
        if let cookies = call.cookies, cookies.isOwnerUnknown {
            call.cookies = pipeline.cookies(of: call, signIn: cookies.signIn)
        }
    }

    /// Waits for a token and then for a request slot, and returns when the request may be sent. With a fresh token and
    /// a free slot it checks the token once and does not suspend.
    ///
    /// If the server rejects a token that many calls use, only calls that have been sent are rejected. The calls that
    /// still wait for a slot go back and wait for the new token.
    @inline(__always)
    private mutating func acquireTokenAndSlot(_ call: inout CallState) async throws -> Acquisition {
        pipeline.authorizer?.startAttempt(of: &call)
        let mayCarryToken = pipeline.authorizer?.mayAuthorize(call) == true
        if !mayCarryToken, call.authorization.requirement == .required, request.method == .trace {
            throw InvalidRequestError("A TRACE must not carry a token (RFC 9110, section 9.3.8).")
        }
        if let authorizer = pipeline.authorizer, authorizer.tokens.isRefreshingHere {
            if mayCarryToken { try await authorizer.takeTokenInsideRefresh(&call) }
            // A refresher's own call must not queue behind the calls that wait for the refresh.
            return .mayHaveWaited
        }
        var claim: ConcurrencyLimiter.Claim? = .init(origin: origin, isLasting: call.receiver != nil)
        guard let authorizer = pipeline.authorizer, mayCarryToken else {
            if takeSlot(for: &claim) { return .immediate }
            try await waitForSlot(for: claim)
            return .mayHaveWaited
        }
        while true {
            let isFresh = try authorizer.takeFreshToken(&call)
            if !isFresh { try await authorizer.waitForToken(&call) }
            if !takeSlot(for: &claim) { try await waitForSlot(for: claim) } else if isFresh { return .immediate }
            if try authorizer.recheckToken(for: &call) {
                // The token may have expired while the call waited for it to be handed over, or for the slot.
                try await authorizer.refreshIfNeeded(&call)
                return .mayHaveWaited
            }
            if let slot { pipeline.slots.release(slot) }
            slot = nil
        }
    }

    /// Takes a slot if one is free, or gives up the claim if the call must not wait for one.
    /// - Returns: `false` if the call must wait.
    @inline(never)
    private mutating func takeSlot(for claim: inout ConcurrencyLimiter.Claim?) -> Bool {
        guard let wanted = claim, !pipeline.slots.take(wanted) else {
            slot = claim
            return true
        }
        // A call made by a hook must not wait for the slot that the intercepted call holds. Nor must a sign-in that a
        // hook may be waiting for.
        guard pipeline.slots.isHeldByHook || UnattendedSignIn.isUnderWay else { return false }
        claim = nil
        return true
    }

    private mutating func waitForSlot(for claim: ConcurrencyLimiter.Claim?) async throws {
        guard let claim else { return }
        try await pipeline.slots.wait(for: claim)
        slot = claim
    }

    /// The response of an interceptor, of the cache or of the server.
    @inline(__always)
    private mutating func obtainResponse(_ call: inout CallState) async throws -> ServerResponse {
        var given: ServerResponse?
        call.receiver?.addFields(to: &request)
        let unsigned = request
        pipeline.authorizer?.attachToken(to: &request, for: &call)
        if pipeline.hasInterceptors {
            (origin, given) = try await pipeline.intercept(&request, from: unsigned, &call)
            if request.method == .trace { pipeline.authorizer?.removeToken(from: &request, for: &call) }
            pipeline.authorizer?.noteReplacedToken(in: request, for: &call)
            call.context[IdempotencyKeys.Mark.self]?.note(request)
        }
        call.readCookies(for: request, at: origin)
        try call.receiver?.checkCredentials(
            pipeline.fieldsWithoutToken(of: request, call).credentials,
            inPlaceOfToken: pipeline.fieldsInPlaceOfToken(of: request, call),
            url: CacheRequest.url(of: request, at: origin))
        if given == nil, let cache = pipeline.config.cache {
            (given, ticket) = pipeline.consult(cache, for: request, at: origin, call)
        }
        call.monitor?.start(attempt: call.context.attempt)
        guard let given else { return try await send(&call) }
        (source, slotEnd) = (.client, .released)
        guard let receiver = call.receiver, receiver.accepts(given.head, for: call.context.sentEndpoint) else {
            return given
        }
        unreadBody = ByteStream(given.body)
        return ServerResponse(head: given.head, body: Data())
    }

    @inline(__always)
    private mutating func send(_ call: inout CallState) async throws -> ServerResponse {
        call.context.sent += 1
        isUnderWay = true
        if let observation = call.observation {
            pipeline.authorizer?.markCredentials(in: &request, of: call)
            observation.attemptWillStart(call.context, request)
        }
        let (response, report) =
            if let ticket {
                try await pipeline.run(
                    request, at: origin, for: call, with: ticket, onUnusedResponse: onUnusedResponse)
            } else {
                try await pipeline.exchangeRunner.run(
                    request, at: origin, for: call, onUnusedResponse: onUnusedResponse)
            }
        // The first response tells whether requests share a connection. This one may keep its slot for long.
        if let slot, slot.isLasting { pipeline.slots.admitQueued(at: slot.origin) }
        if let renewed = report.renewed { pipeline.authorizer?.recordAttached(renewed, for: &call) }
        // A request redirected to another origin carries no token, so its response cannot reject the token.
        if report.leftOrigin { call.context.stamp = nil }
        if report.isStale { source = .cacheAfterFailure }
        // A server that knows the key performs the request once.
        isPerformed = report.isPerformed && call.context[IdempotencyKeys.Mark.self]?.isSent != true
        unreadBody = report.unreadBody
        return response
    }

    /// Fails the attempt if the response rejects its token, or if an interceptor does not accept the response.
    @inline(__always)
    private mutating func validate(_ response: ServerResponse, _ call: inout CallState) async throws {
        let isFromServer = if case .server = source { true } else { false }
        if isFromServer, let authorizer = pipeline.authorizer {
            if call.authorization.isReplay, authorizer.isRejected(response, to: call) {
                // The store may have to be read, which must not hold up the next call.
                endSlot(carriedToken: true)
                slot = nil
            }
            try await authorizer.validate(response, for: &call, mayReplay: !isPerformed)
        }
        // A receiver checks its session itself for as long as it receives. The tokens of a sign-in are judged later.
        if unreadBody == nil, onUnusedResponse == nil { try pipeline.authorizer?.checkSession(after: call) }
        if isFromServer {
            // If the call may not be replayed, its caller gets the rejection. Do not store it, or other calls would get
            // it too.
            if ticket != nil, pipeline.authorizer?.isRejected(response, to: call) == true { ticket = nil }
        }
        guard pipeline.hasInterceptors else { return }
        do {
            try await pipeline.validate(response, &call)
        } catch {
            onUnusedResponse?(response)
            throw error
        }
    }

    /// Lets a receiver consume the body of a response. The time limit restarts with each chunk.
    private mutating func deliver(
        _ body: ByteStream, of response: ServerResponse, to receiver: any ResponseReceiver, _ call: CallState
    ) async throws {
        let count = Locked(0)
        let counted = body.counted(of: nil) { now in count.withLock { $0 = Int(clamping: now.completed) } }
        // Capture the monitor, not the call: the call has the receiver, which keeps the body until the caller takes it.
        // If the call fails, the caller never does.
        let (monitor, pass) = (call.monitor, call.monitor?.pass ?? 0)
        // Read the attempt number now: an attempt abandoned before it starts would read its successor's.
        let incoming = IncomingResponse(
            attempt: receiver.attempt, head: response.head, body: counted,
            progress: { monitor?.receive($0, in: pass) }, finish: { monitor?.finish() },
            slot: handOverSlot(to: receiver), owner: call.authorization.owner)
        if receiver.outlivesCall {
            // No limit may end the call while the receiver keeps the body: the next attempt would wait for the slot
            // that the body holds.
            try Task.checkCancellation()
            try await receiver.receive(incoming)
        } else {
            let runner = pipeline.exchangeRunner
            try await runner.withLimit(runner.limit(of: call)) { progress in
                try await receiver.receive(incoming.reporting(to: progress))
            }
        }
        try await receiver.finish(response.head)
        call.observation?.attemptDidReceive(call.context, response, bytes: count.withLock { $0 })
    }

    /// Delivers a response that is complete, if its status is acceptable.
    private mutating func deliver(_ response: ServerResponse, _ call: CallState) -> Result<ServerResponse, NetworkError>
    {
        // A receiver has already consumed acceptable responses.
        guard call.receiver == nil, call.context.sentEndpoint.acceptableStatuses.contains(response.status) else {
            ticket?.removeIfGone(response.status)
            return .failure(pipeline.decoding.statusError(for: response, call: call.context.call))
        }
        if case .server = source { slotEnd = .releasedAfterSuccess }
        ticket?.store()
        return .success(response)
    }

    private mutating func handOverSlot(to receiver: any ResponseReceiver) -> RequestSlot? {
        guard receiver.outlivesCall, let slot else { return nil }
        slotEnd = .handedOver
        return RequestSlot(slot, of: pipeline.slots)
    }

    private func endSlot(carriedToken: Bool) {
        guard let slot else { return }
        switch slotEnd {
        case .handedOver: break
        case .released: pipeline.slots.release(slot)
        case .releasedAfterFailure: pipeline.slots.release(slot, reserve: .closes)
        case .releasedAfterSuccess: pipeline.slots.release(slot, reserve: effectOfSuccess(carriedToken: carriedToken))
        }
    }

    /// The effect of a success on the reserve. In a client with a token manager, only a call that carried a token opens
    /// or closes the reserve: any other success does not show that the server still accepts the token.
    private func effectOfSuccess(carriedToken: Bool) -> ConcurrencyLimiter.ReserveEffect {
        guard pipeline.authorizer == nil || carriedToken else { return .stays }
        // With four requests in reserve per connection, each then waits about a second at most.
        return pipeline.time.uptime - startedAt < .milliseconds(250) ? .opens : .closes
    }
}
