internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Reports one call to the observers. Without observers there is no observation, and nothing is redacted or recorded.
final class CallObservation: OutcomeReport {
    private struct State {
        /// The most recent request of the current attempt.
        var transfer: TransferRecorder?
        /// The number of attempts that were sent.
        var attempts = 0
        var isFinished = false
    }

    private let observers: [any NetworkObserver]
    private let id: UUID
    private let time: any TimeSource
    private let startedAt: Duration
    /// The prepared request, with secrets masked.
    private let request: HTTPRequest
    private let body: ObservedBody?
    private let description: CallDescription
    private let state = Locked(State())

    /// Starts the observation and reports ``CallEvent/started(_:)``.
    init?(observers: [any NetworkObserver], request: HTTPRequest, body: PreparedBody?, context: RequestContext) {
        guard !observers.isEmpty else { return nil }
        // Created after the check: on Linux, `UUID()` opens a file.
        self.id = UUID()
        self.observers = observers
        self.time = context.time
        self.startedAt = context.startedAt
        self.request = request.redacted
        self.body = body.map { ObservedBody($0, of: request) }
        self.description = context.call
        let call = observed(attempt: 0, body: self.body)
        report(.started(call))
    }

    /// Reports a call that failed before its request could be built.
    init?(observers: [any NetworkObserver], refused description: CallDescription, time: any TimeSource) {
        guard !observers.isEmpty, let method = HTTPRequest.Method(rawValue: description.method) else { return nil }
        self.id = UUID()
        self.observers = observers
        self.time = time
        self.startedAt = time.uptime
        self.request = HTTPRequest(method: method, scheme: nil, authority: nil, path: description.url)
        self.body = nil
        self.description = description
        let call = observed(attempt: 0, body: nil)
        report(.started(call))
    }

    // If the last caller was cancelled before the response arrived, no caller receives it.
    deinit {
        finish(with: .cancelled(description))
    }

    func attemptWillStart(_ context: RequestContext, _ request: HTTPRequest) {
        state.withLock { state in
            state.transfer = nil
            state.attempts = context.sent
        }
        let call = observed(context, request)
        report(.attemptStarted(call))
    }

    func startTransfer() -> TransferRecorder {
        let recorder = TransferRecorder(time: time)
        state.withLock { $0.transfer = recorder }
        return recorder
    }

    func attemptWillRedirect(_ context: RequestContext, _ request: HTTPRequest, to url: String) {
        // The exchange of a cancelled sign-in goes on.
        guard !state.withLock({ $0.isFinished }) else { return }
        let url = Redaction.redactURL(url)
        let call = observed(context, request, metrics)
        report(.redirected(call, to: url))
    }

    func attemptDidReceive(_ context: RequestContext, _ response: ServerResponse, bytes: Int) {
        let call = observed(context, nil, metrics)
        let isStream = context.awaitsHead && bytes == 0 && response.status < 400
        let response = ObservedResponse(response, bytes: bytes, isStream: isStream)
        report(.received(call, response))
    }

    func attemptDidFail(_ context: RequestContext, _ error: NetworkError) {
        let call = observed(context, nil, metrics)
        report(.attemptFailed(call, error))
    }

    func callIsWaitingForConnectivity(_ context: RequestContext) {
        let call = observed(context)
        report(.waitingForConnectivity(call))
    }

    func callWillRetry(_ context: RequestContext, after delay: Duration, dueTo error: NetworkError) {
        // An interceptor may respond to the next attempt, which then has no metrics.
        state.withLock { $0.transfer = nil }
        let call = observed(context)
        report(.retrying(call, after: delay, dueTo: error))
    }

    func finish(with status: Int) {
        finish(.success(status))
    }

    func finish(with error: NetworkError) {
        finish(.failure(error))
    }

    func streamBroke(_ error: NetworkError) {
        let call = observed(attempt: state.withLock { $0.attempts }, body: body)
        report(.streamBroke(call, error))
    }

    /// Only the first outcome is reported. Callers that have joined a call may decode its response in different ways.
    private func finish(_ result: Result<Int, NetworkError>) {
        let (isFirst, attempts) = state.withLock { state in
            defer { state.isFinished = true }
            return (!state.isFinished, state.attempts)
        }
        guard isFirst else { return }
        let call = observed(attempt: attempts, body: body)
        report(.finished(call, result))
    }

    private func report(_ event: CallEvent) {
        for observer in observers { observer.observe(event) }
    }

    private var metrics: TransferMetrics? { state.withLock { $0.transfer }?.metrics }

    private func observed(
        _ context: RequestContext, _ request: HTTPRequest? = nil, _ metrics: TransferMetrics? = nil
    ) -> ObservedCall {
        // An interceptor may have replaced the body for this attempt.
        observed(
            attempt: context.attempt, request: request, stamp: context.stamp, metrics: metrics,
            body: request.map { request in context.outgoing.map { ObservedBody($0, of: request) } } ?? body)
    }

    private func observed(
        attempt: Int, request: HTTPRequest? = nil, stamp: SessionStamp? = nil, metrics: TransferMetrics? = nil,
        body: ObservedBody?
    ) -> ObservedCall {
        ObservedCall(
            id: id, request: request?.redacted ?? self.request, attempt: attempt, stamp: stamp,
            elapsed: time.uptime - startedAt, metrics: metrics, body: body)
    }
}

extension ObservedBody {
    /// The body with the `Content-Type` of the request: an interceptor may have set both.
    fileprivate init(_ body: PreparedBody, of request: HTTPRequest) {
        self.init(
            contentType: request.headerFields[.contentType] ?? body.contentType, length: body.length, bytes: body.bytes)
    }
}
