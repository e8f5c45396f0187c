/// The decision of an interceptor on a failed attempt.
public enum RetryDecision: Sendable {
    /// No opinion. Without another decision, the call fails.
    case doNotRetry
    /// Retry at once.
    case retry
    /// Retry after a delay by the client's ``NetworkConfig/time``. Zero or less retries at once.
    case retryAfter(Duration)
    /// Do not retry, and fail with this error instead.
    case fail(NetworkError)
}
