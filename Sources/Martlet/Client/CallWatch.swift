internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Tells the observers of one call what happens to it. There is none where nobody watches, so that it costs nothing.
final class CallWatch: Sendable {
    private let observers: [any NetworkObserver]
    private let id: UUID
    private let time: any TimeSource
    private let startedAt: Duration
    /// The request as it was prepared, with its secrets masked.
    private let request: Locked<HTTPRequest>
    private let body: ObservedBody?

    init?(observers: [any NetworkObserver], request: HTTPRequest, body: PreparedBody?, time: any TimeSource) {
        guard !observers.isEmpty else { return nil }
        // Here, not where it is declared: making one opens a file on Linux, and calls that nobody watches need none.
        self.id = UUID()
        self.observers = observers
        self.time = time
        self.startedAt = time.uptime
        self.request = Locked(request.redacted)
        self.body = body.map { ObservedBody(contentType: $0.contentType, length: $0.length, bytes: $0.bytes) }
    }

    private var call: ObservedCall {
        ObservedCall(id: id, request: request.withLock { $0 })
    }

    func start(_ prepared: HTTPRequest) {
        let redacted = prepared.redacted
        request.withLock { $0 = redacted }
        let call = call
        for observer in observers { observer.callWillStart(call) }
    }

    func attempt(_ context: RequestContext, _ request: HTTPRequest) {
        let attempt = observed(context, request)
        for observer in observers { observer.attemptWillStart(attempt) }
    }

    func redirect(_ context: RequestContext, _ request: HTTPRequest, to url: String) {
        let url = Redaction.redactURL(url)
        let attempt = observed(context, request)
        for observer in observers { observer.attemptWillRedirect(attempt, to: url) }
    }

    func receive(_ context: RequestContext, _ answer: ServerAnswer, bytes: Int) {
        let attempt = observed(context, nil)
        for observer in observers {
            observer.attemptDidReceive(attempt, status: answer.status, bytes: bytes)
        }
    }

    func fail(_ context: RequestContext, _ error: NetworkError) {
        let attempt = observed(context, nil)
        for observer in observers { observer.attemptDidFail(attempt, error: error) }
    }

    func retry(after delay: Duration, dueTo error: NetworkError) {
        let call = call
        for observer in observers { observer.callWillRetry(call, after: delay, dueTo: error) }
    }

    func finish(_ result: Result<Int, NetworkError>, attempts: Int) {
        let call = FinishedCall(
            id: id, request: request.withLock { $0 }, attempts: attempts, duration: time.uptime - startedAt,
            result: result)
        for observer in observers { observer.callDidFinish(call) }
    }

    private func observed(_ context: RequestContext, _ request: HTTPRequest?) -> ObservedAttempt {
        ObservedAttempt(
            callID: id, number: context.attempt, request: request?.redacted ?? self.request.withLock { $0 },
            body: body, signature: context.signature, elapsed: time.uptime - startedAt)
    }
}
