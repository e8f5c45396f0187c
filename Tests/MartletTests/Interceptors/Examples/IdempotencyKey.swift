import Foundation
import Martlet

/// Gives all attempts of a call one key, so that the server performs it once, and retries it after a lost response.
struct IdempotencyKey: RequestInterceptor {
    let key: String

    init(_ key: String) {
        self.key = key
    }

    func prepare(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
        if let name = HTTPField.Name("Idempotency-Key") { request.headerFields[name] = key }
    }

    func retry(
        _ request: HTTPRequest, for context: inout RequestContext, dueTo error: NetworkError
    ) async -> RetryDecision {
        guard case .connectionLost = error, context.attempt < 3 else { return .doNotRetry }
        return .retryAfter(.seconds(1))
    }
}
