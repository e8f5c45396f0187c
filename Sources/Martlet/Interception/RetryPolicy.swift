public import HTTPTypes

/// Repeats what failed for a reason that passes: lost connections, 408, 429, 502 and their kind.
///
/// Only methods that may be repeated without harm are (RFC 9110, section 9.2.2), unless told otherwise. The waits double
/// with each attempt, with full jitter, and `Retry-After` wins in both its forms.
///
/// ```swift
/// var config = NetworkConfig()
/// config.retry = RetryPolicy(maximumAttempts: 5, totalTime: .seconds(60))
/// ```
public struct RetryPolicy: RequestInterceptor {
    /// How many times a request is sent at most, the first time included. 1 means never again. Default 3.
    public var maximumAttempts: Int
    /// How long after its start a call may begin another attempt. A wait that would go beyond is not begun. Default 60 s.
    public var totalTime: Duration
    /// The longest that the first wait may be; it doubles with each attempt, and chance takes from zero up to all of it.
    /// Default 0.5 s.
    public var firstDelay: Duration
    /// The longest wait, unless the server asks for more. Default 20 s.
    public var maximumDelay: Duration
    /// The statuses that pass. Default 408, 429, 500, 502, 503 and 504.
    public var statuses: StatusCodes
    /// The methods that may be repeated. Default ``idempotentMethods``.
    public var methods: Set<HTTPRequest.Method>
    private let random: RandomSource

    /// The methods that are idempotent by RFC 9110, section 9.2.2.
    public static let idempotentMethods: Set<HTTPRequest.Method> = [.get, .head, .options, .trace, .put, .delete]

    /// When to repeat.
    /// - Parameters:
    ///   - maximumAttempts: How many times a request is sent at most; values below 1 count as 1.
    ///   - totalTime: How long after its start a call may begin another attempt.
    ///   - firstDelay: The first wait.
    ///   - maximumDelay: The longest wait, unless the server asks for more.
    ///   - statuses: The statuses that pass.
    ///   - methods: The methods that may be repeated.
    ///   - random: Where jitter comes from.
    public init(
        maximumAttempts: Int = 3,
        totalTime: Duration = .seconds(60),
        firstDelay: Duration = .milliseconds(500),
        maximumDelay: Duration = .seconds(20),
        statuses: StatusCodes = [408, 429, 500, 502, 503, 504],
        methods: Set<HTTPRequest.Method> = RetryPolicy.idempotentMethods,
        random: RandomSource = .system
    ) {
        self.maximumAttempts = maximumAttempts
        self.totalTime = totalTime
        self.firstDelay = firstDelay
        self.maximumDelay = maximumDelay
        self.statuses = statuses
        self.methods = methods
        self.random = random
    }

    /// Repeats nothing but what a refreshed token is for.
    public static let never = RetryPolicy(maximumAttempts: 1)

    /// Repeats what failed for a reason that passes, if method, number of attempts and time allow.
    public func retry(
        _ request: HTTPRequest, for context: inout RequestContext, dueTo error: NetworkError
    ) async -> RetryDecision {
        guard methods.contains(request.method), context.attempt < maximumAttempts, mayPass(error) else {
            return .doNotRetry
        }
        let asked = RetryAfter.parse(error.answer?.headers[.retryAfter], now: context.wallClock)
        let ceiling = min(maximumDelay, firstDelay * (1 << min(max(context.attempt - 1, 0), 20)))
        let wait = asked ?? ceiling * random(in: 0...1)
        guard context.elapsed + wait <= totalTime else { return .doNotRetry }
        return .retryAfter(wait)
    }

    private func mayPass(_ error: NetworkError) -> Bool {
        switch error {
        case .cannotConnect, .connectionLost, .timedOut: true
        case .unacceptableStatus(_, let answer): statuses.contains(answer.status)
        case .api(_, let error): statuses.contains(error.status)
        case .offline, .cancelled, .tlsFailed, .invalidRequest, .insecureURL, .invalidResponse, .responseTooLarge,
            .tooManyRedirects, .decoding, .unauthorized, .signInRequired, .sessionExpired, .sessionChanged,
            .refreshFailed, .storageUnavailable, .bodyNotReplayable, .downloadFailed, .interceptorFailed, .transport:
            false
        }
    }
}
