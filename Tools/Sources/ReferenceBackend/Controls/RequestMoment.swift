/// One stage in the life of a request, for whoever wants to act at just that moment.
public struct RequestMoment: Sendable, Hashable {
    /// How far a request has come.
    public enum Stage: Sendable, Hashable {
        /// It is here, and nothing has been done about it.
        case arrived
        /// What it changes is kept; nothing of the answer has been sent.
        case handled(status: Int)
        /// Its answer is on the wire.
        case answered(status: Int)
    }

    /// Names the request, as the answer's `X-Request-Id` does.
    public let id: String
    /// The method.
    public let method: String
    /// The path, without the query.
    public let path: String
    /// Who asked, where the client says so.
    public let userAgent: String?
    /// How far it has come.
    public let stage: Stage
}
