import Foundation
import Martlet

/// Fails calls at once while the server is down. After a pause one call tests whether it is back.
actor CircuitBreaker: RequestInterceptor {
    struct CircuitOpen: Error {
        let until: Date
    }

    /// Marks the call that tests the server.
    private struct Test: Sendable {}

    private let threshold: Int
    private let pause: TimeInterval
    private var failures = 0
    private var openUntil: Date?

    init(threshold: Int = 5, pause: TimeInterval = 30) {
        self.threshold = threshold
        self.pause = pause
    }

    func adapt(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
        guard let until = openUntil, context[Test.self] == nil else { return }
        guard context.wallClock >= until else { throw CircuitOpen(until: until) }
        // This call is the test, with all its attempts. Others fail at once until it succeeds or another pause is over.
        openUntil = context.wallClock + pause
        context[Test.self] = Test()
    }

    func validate(_ response: ServerResponse, for context: inout RequestContext) async throws {
        if response.status < 500 { (failures, openUntil) = (0, nil) }
    }

    func retry(
        _ request: HTTPRequest, for context: inout RequestContext, dueTo error: NetworkError
    ) async -> RetryDecision {
        switch error {
        case .cannotConnect, .connectionLost, .timedOut: failures += 1
        default: if let status = error.response?.status, status >= 500 { failures += 1 }
        }
        if failures >= threshold, openUntil == nil { openUntil = context.wallClock + pause }
        return .noOpinion
    }
}
