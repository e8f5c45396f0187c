/// A stage in the processing of a request, as reported to ``BackendConfiguration/onRequest``.
public struct RequestMoment: Sendable, Hashable {
    /// The stages of a request.
    public enum Stage: Sendable, Hashable {
        /// The request has arrived and has not been handled.
        case arrived
        /// The request has presented a used refresh token, and its session was revoked.
        case reuseDetected
        /// The request has presented a used refresh token within the grace period, and gets the same pair again.
        case grantRepeated
        /// The request was handled and its effects are kept. Nothing of the response has been sent.
        case handled(status: Int)
        /// The response has been sent.
        case responded(status: Int)
    }

    /// The id of the request, as in the response's `X-Request-Id`.
    public let id: String
    /// The method.
    public let method: String
    /// The path, without the query.
    public let path: String
    /// The `User-Agent` of the request, if present.
    public let userAgent: String?
    /// The stage of the request.
    public let stage: Stage
}
