public import HTTPTypes

/// Retries attempts that failed because the server could not be reached, the connection was lost, the time ran out, or
/// the status is 408, 429, 500, 502, 503 or 504. If the device has no network, it does not retry:
/// ``NetworkError/offline(_:)`` is thrown at once.
///
/// By default, it retries only idempotent methods (RFC 9110, section 9.2.2) and calls with a key of
/// ``IdempotencyKeys``. The delay doubles with each attempt, with full jitter, unless the server sends `Retry-After`. A
/// date in that field is compared with the response's `Date`. Zero, and a date in the past, are ignored.
///
/// ```swift
/// var config = NetworkConfig()
/// config.retry = RetryPolicy(maximumAttempts: 5, totalTime: .seconds(60))
/// ```
public struct RetryPolicy: RequestInterceptor {
    let maximumAttempts: Int
    let totalTime: Duration
    let firstDelay: Duration
    let maximumDelay: Duration
    let statuses: StatusCodes
    let methods: Set<HTTPRequest.Method>
    private let random: RandomSource

    /// Creates a policy.
    /// - Parameters:
    ///   - maximumAttempts: The largest number of attempts, including the first. 1 disables retries, as do values below
    ///     it.
    ///   - totalTime: The time after the start of a call within which another attempt may start. A delay that would end
    ///     later is not started. For a download, the time starts again when an attempt breaks off that has received a
    ///     part of the file, if the next attempt can ask for the rest.
    ///   - firstDelay: The upper bound of the first delay. It doubles with each attempt, and jitter picks a delay
    ///     between zero and the bound.
    ///   - maximumDelay: The longest delay, unless the server asks for a longer one.
    ///   - statuses: The statuses to retry.
    ///   - methods: The methods to retry.
    ///   - random: Returns a random number in a range, for jitter. Replace it in tests, so that every delay is known.
    public init(
        maximumAttempts: Int = 3,
        totalTime: Duration = .seconds(60),
        firstDelay: Duration = .milliseconds(500),
        maximumDelay: Duration = .seconds(20),
        statuses: StatusCodes = [408, 429, 500, 502, 503, 504],
        methods: Set<HTTPRequest.Method> = [.get, .head, .options, .trace, .put, .delete],
        random: @escaping @Sendable (ClosedRange<Double>) -> Double = { .random(in: $0) }
    ) {
        self.maximumAttempts = maximumAttempts
        self.totalTime = totalTime
        self.firstDelay = firstDelay
        self.maximumDelay = maximumDelay
        self.statuses = statuses
        self.methods = methods
        self.random = RandomSource(random)
    }

    /// Never retries. A request whose token was rejected is still sent again with a refreshed token.
    public static let never = RetryPolicy(maximumAttempts: 1)

    /// Retries transient errors if the method, the number of attempts and the time allow it.
    public func retry(
        _ request: HTTPRequest, for context: inout RequestContext, dueTo error: NetworkError
    ) async -> RetryDecision {
        let hasKey =
            context[IdempotencyKeys.Mark.self].map { $0.isSent && request.headerFields[$0.field] != nil } ?? false
        let isIdempotent = methods.contains(request.method) || hasKey
        guard isIdempotent, context.attempt < maximumAttempts, isTransient(error) else {
            return .noOpinion
        }
        // Waiting does not put a response into the cache.
        guard request.headerFields[.cacheControl]?.contains("only-if-cached") != true else { return .noOpinion }
        let retryAfter = error.response.flatMap {
            RetryAfter.wait(askedBy: $0.head, deviceClock: context.wallClock)
        }
        let ceiling = min(maximumDelay, firstDelay * (1 << min(max(context.attempt - 1, 0), 20)))
        // Ignore zero, as from a date in the past: all clients would return at once.
        let wait = retryAfter.flatMap { $0 > .zero ? $0 : nil } ?? ceiling * random(in: 0...1)
        guard context.timeWithoutProgress + wait <= totalTime else { return .noOpinion }
        return .retryAfter(wait)
    }

    /// Whether another attempt may succeed.
    private func isTransient(_ error: NetworkError) -> Bool {
        switch error {
        case .cannotConnect, .connectionLost, .timedOut: true
        case .unacceptableStatus(_, let response): statuses.contains(response.status)
        case .api(_, let error): statuses.contains(error.status)
        case .offline, .cancelled, .tlsFailed, .invalidRequest, .insecureURL, .invalidResponse, .responseTooLarge,
            .tooManyRedirects, .decoding, .unauthorized, .signInRequired, .sessionExpired, .sessionChanged,
            .unreadableFile, .refreshFailed, .storageUnavailable, .bodyNotReplayable, .downloadFailed,
            .interceptorFailed, .transport:
            false
        }
    }
}
