internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Reports one call to the observers. Without observers there is no observation, and nothing is redacted or recorded.
final class CallObservation: Sendable {
    private let observers: [any NetworkObserver]
    private let id: UUID
    private let time: any TimeSource
    private let startedAt: Duration
    /// The prepared request, with secrets masked.
    private let request: HTTPRequest
    private let body: ObservedBody?
    /// The request that the current attempt has sent last.
    private let transfer = Locked<TransferRecorder?>(nil)

    /// Starts the observation and reports ``NetworkObserver/callWillStart(_:)``.
    init?(observers: [any NetworkObserver], request: HTTPRequest, body: PreparedBody?, context: RequestContext) {
        guard !observers.isEmpty else { return nil }
        // Created after the check: on Linux, `UUID()` opens a file.
        self.id = UUID()
        self.observers = observers
        self.time = context.time
        self.startedAt = context.startedAt
        self.request = request.redacted
        self.body = body.map { ObservedBody($0, of: request, context) }
        let call = observed(attempt: 0, body: self.body)
        for observer in observers { observer.callWillStart(call) }
    }

    func attemptWillStart(_ context: RequestContext, _ request: HTTPRequest) {
        transfer.withLock { $0 = nil }
        let call = observed(context, request)
        for observer in observers { observer.attemptWillStart(call) }
    }

    /// Starts to measure a request of the attempt.
    func startTransfer() -> TransferRecorder {
        let recorder = TransferRecorder(time: time)
        transfer.withLock { $0 = recorder }
        return recorder
    }

    func attemptWillRedirect(_ context: RequestContext, _ request: HTTPRequest, to url: String) {
        let url = Redaction.redactURL(url)
        let call = observed(context, request, metrics)
        for observer in observers { observer.attemptWillRedirect(call, to: url) }
    }

    func attemptDidReceive(_ context: RequestContext, _ response: ServerResponse, bytes: Int) {
        let call = observed(context, nil, metrics)
        let response = ObservedResponse(response, bytes: bytes)
        for observer in observers { observer.attemptDidReceive(call, response: response) }
    }

    func attemptDidFail(_ context: RequestContext, _ error: NetworkError) {
        let call = observed(context, nil, metrics)
        for observer in observers { observer.attemptDidFail(call, error: error) }
    }

    func callIsWaitingForConnectivity(_ context: RequestContext) {
        let call = observed(context)
        for observer in observers { observer.callIsWaitingForConnectivity(call) }
    }

    func callWillRetry(_ context: RequestContext, after delay: Duration, dueTo error: NetworkError) {
        // The next attempt may be answered by an interceptor.
        transfer.withLock { $0 = nil }
        let call = observed(context)
        for observer in observers { observer.callWillRetry(call, after: delay, dueTo: error) }
    }

    func callDidFinish(_ result: Result<Int, NetworkError>, attempts: Int) {
        let call = observed(attempt: attempts, body: body)
        for observer in observers { observer.callDidFinish(call, result: result) }
    }

    private var metrics: TransferMetrics? { transfer.withLock { $0 }?.metrics }

    private func observed(
        _ context: RequestContext, _ request: HTTPRequest? = nil, _ metrics: TransferMetrics? = nil
    ) -> ObservedCall {
        // An interceptor may have replaced the body for this attempt.
        let replaced = context.bodyVersion > 0 ? request : nil
        return observed(
            attempt: context.attempt, request: request, stamp: context.stamp, metrics: metrics,
            body: replaced.map { request in context.outgoing.map { ObservedBody($0, of: request, context) } } ?? body)
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
    fileprivate init(_ body: PreparedBody, of request: HTTPRequest, _ context: RequestContext) {
        // The body of an interceptor has the type that the interceptor has set.
        let type = context.bodyVersion > 0 ? request.headerFields[.contentType] : nil
        self.init(contentType: type ?? body.contentType, length: body.length, bytes: body.bytes)
    }
}
