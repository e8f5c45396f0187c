/// Everything that can go wrong with a call, each case with what it means for a person.
///
/// Every message names the endpoint, says what failed and what to do, and never shows a secret.
///
/// ```swift
/// do {
///     articles = try await client.send(ArticleEndpoint.all)
/// } catch .offline {
///     banner = "You are offline."
/// } catch .sessionExpired, .signInRequired {
///     router.show(.login)
/// } catch {
///     banner = error.description
/// }
/// ```
public enum NetworkError: Error, Sendable {
    /// This device has no network.
    case offline(FailedCall)
    /// The server was not reached: unknown host, refused, unreachable.
    case cannotConnect(FailedCall, reason: String)
    /// The connection broke while the call was under way.
    case connectionLost(FailedCall, reason: String)
    /// No complete answer within the timeout.
    case timedOut(FailedCall, after: Duration)
    /// The task was cancelled. Never a sign that a sign-in failed.
    case cancelled(FailedCall)
    /// TLS failed: an untrusted certificate, an expired one, no common protocol.
    case tlsFailed(FailedCall, reason: String)
    /// The request could not be built: a bad URL, a path that leaves the base, a body that does not encode.
    case invalidRequest(FailedCall, RequestProblem)
    /// A plain `http` URL that is not this machine, or a redirect to one.
    case insecureURL(FailedCall, url: String)
    /// What came back is not HTTP as it should be: a cut body, endless headers, garbage.
    case invalidResponse(FailedCall, reason: String)
    /// The answer is larger than the client accepts in memory.
    case responseTooLarge(FailedCall, limit: Int)
    /// More redirects than allowed.
    case tooManyRedirects(FailedCall, limit: Int)
    /// The status is not one that the endpoint accepts.
    case unacceptableStatus(FailedCall, ServerAnswer)
    /// The server explained its refusal: an envelope, or a problem document (RFC 9457).
    case api(FailedCall, APIError)
    /// The answer does not decode into what the caller asked for.
    case decoding(FailedCall, DecodingFailure)
    /// The server refused the token, or asked for one where there was none.
    case unauthorized(FailedCall, ServerAnswer)
    /// The endpoint needs a token and nobody is signed in.
    case signInRequired(FailedCall)
    /// The session has ended for good; holds the answer that started it, where there was one.
    case sessionExpired(FailedCall, ExpiryReason, ServerAnswer?)
    /// The session that the call belonged to is over, or another one took its place; it was not sent under that one.
    case sessionChanged(FailedCall)
    /// The token could not be renewed for now. The session is kept; try again later.
    case refreshFailed(FailedCall, RefreshFailure, ServerAnswer?)
    /// The stored session cannot be read for now.
    case storageUnavailable(FailedCall, StorageFailure)
    /// The call had to be sent again, but its body can be read only once; holds the answer that asked for it.
    case bodyNotReplayable(FailedCall, ServerAnswer?)
    /// What came could not be kept as a file, or is not what it should be.
    case downloadFailed(FailedCall, DownloadFailure)
    /// An interceptor failed, or refused the call.
    case interceptorFailed(FailedCall, any Error)
    /// Anything a transport reports that has no case of its own.
    case transport(FailedCall, any Error)

    /// The call that failed.
    public var call: FailedCall {
        switch self {
        case .offline(let call), .cannotConnect(let call, _), .connectionLost(let call, _), .timedOut(let call, _),
            .cancelled(let call), .tlsFailed(let call, _), .invalidRequest(let call, _), .insecureURL(let call, _),
            .invalidResponse(let call, _), .responseTooLarge(let call, _), .tooManyRedirects(let call, _),
            .unacceptableStatus(let call, _), .api(let call, _), .decoding(let call, _), .unauthorized(let call, _),
            .signInRequired(let call), .sessionExpired(let call, _, _), .sessionChanged(let call),
            .refreshFailed(let call, _, _), .storageUnavailable(let call, _), .bodyNotReplayable(let call, _),
            .downloadFailed(let call, _), .interceptorFailed(let call, _), .transport(let call, _):
            call
        }
    }

    /// The server's answer, where there was one.
    public var answer: ServerAnswer? {
        switch self {
        case .unacceptableStatus(_, let answer), .unauthorized(_, let answer): answer
        case .api(_, let error): error.answer
        case .decoding(_, let failure): failure.answer
        case .sessionExpired(_, _, let answer), .refreshFailed(_, _, let answer), .bodyNotReplayable(_, let answer):
            answer
        default: nil
        }
    }

    /// Whether the call failed because somebody cancelled it.
    public var isCancelled: Bool {
        if case .cancelled = self { true } else { false }
    }
}

/// Which call failed, for messages and logs.
public struct FailedCall: Sendable, Hashable, CustomStringConvertible {
    /// The method, such as `GET`.
    public let method: String
    /// Origin and path, without the query.
    public let url: String
    /// How many times the request was sent.
    public let attempts: Int

    /// A call that failed.
    public init(method: String, url: String, attempts: Int) {
        self.method = method
        self.url = url
        self.attempts = attempts
    }

    /// `GET https://api.example.com/articles`.
    public var description: String { "\(method) \(url)" }
}
