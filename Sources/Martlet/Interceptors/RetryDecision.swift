public import HTTPTypes

/// The decision of an interceptor on a failed attempt.
public enum RetryDecision: Sendable {
    /// No opinion. Without another decision, the call fails.
    case noOpinion
    /// Retry at once.
    case retry
    /// Retry after a delay by the client's ``NetworkConfig/time``. Zero or less retries at once.
    case retryAfter(Duration)
    /// Retry with another request, after a delay that may be zero. All further attempts start from it.
    ///
    /// Start from the request that ``RequestInterceptor/retry(_:for:dueTo:)`` gets. To replace the body as well, assign
    /// ``RequestContext/body``.
    indirect case retryWith(HTTPRequest, after: Duration = .zero)
    /// Do not retry, and fail with this error instead.
    indirect case fail(NetworkError)
}
