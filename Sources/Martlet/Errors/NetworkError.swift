/// The error of every call that fails.
///
/// Its description names the endpoint and says what failed and what to do next. It never shows a secret. Later versions
/// may add cases, so a `switch` over the error needs a `default` or an `@unknown default`.
///
/// ```swift
/// do {
///     articles = try await client.send(ArticleEndpoint.all)
/// } catch .offline {
///     banner = "You are offline."
/// } catch .sessionExpired, .signInRequired {
///     router.show(.login)
/// } catch {
///     banner = error.localizedDescription
/// }
/// ```
@nonexhaustive public enum NetworkError: Error, Sendable {
    /// This device has no network.
    case offline(CallDescription)
    /// The server could not be reached: unknown host, connection refused, host unreachable.
    case cannotConnect(CallDescription, reason: String)
    /// The connection was lost during the call.
    case connectionLost(CallDescription, reason: String)
    /// There was no complete response within the timeout.
    case timedOut(CallDescription, after: Duration)
    /// The task was cancelled.
    case cancelled(CallDescription)
    /// TLS failed: an untrusted certificate, an expired one, no common protocol.
    case tlsFailed(CallDescription, reason: String)
    /// The request could not be built: a bad URL, a path that leaves the base, a body that does not encode.
    case invalidRequest(CallDescription, reason: String)
    /// A file of the request's body cannot be read: it does not exist, is not a regular file, may not be read, or
    /// changed while it was sent.
    case unreadableFile(CallDescription, path: String, reason: String)
    /// A plain `http` URL of another machine, or a redirect to one.
    case insecureURL(CallDescription, url: String)
    /// The response is not valid HTTP, or it does not match the request: oversized header fields, an invalid redirect,
    /// the wrong range of a file, or a body that is not an event stream.
    case invalidResponse(CallDescription, reason: String)
    /// The response is larger than the client accepts in memory.
    case responseTooLarge(CallDescription, limit: Int)
    /// The server sent more redirects than allowed.
    case tooManyRedirects(CallDescription, limit: Int)
    /// The endpoint does not accept the status of the response.
    case unacceptableStatus(CallDescription, ServerResponse)
    /// The server explained its error; see ``APIError``.
    case api(CallDescription, APIError)
    /// The response could not be decoded as the requested type.
    case decoding(CallDescription, ResponseDecodingError)
    /// The server responded with a 401 that it did not explain: it rejected the token or a password, or the request had
    /// no token. A 401 with an envelope, a problem document or ``NetworkConfig/errorBody`` is ``api(_:_:)``; ``status``
    /// is 401 for both.
    case unauthorized(CallDescription, ServerResponse)
    /// The endpoint requires a session, and no user is signed in.
    case signInRequired(CallDescription)
    /// The session has ended. Contains the response that rejected this call's token, if there was one.
    case sessionExpired(CallDescription, ExpiryReason, ServerResponse?)
    /// The session that the call belonged to has ended or was replaced. The request was not sent under the other
    /// session. If it was sent before, the server may have performed it.
    case sessionChanged(CallDescription)
    /// The token could not be refreshed now. The session is kept; try again later.
    case refreshFailed(CallDescription, RefreshError, ServerResponse?)
    /// The stored session cannot be read now.
    case storageUnavailable(CallDescription, StorageError)
    /// The request had to be sent again, but its body is single-use; contains the response that required it.
    case bodyNotReplayable(CallDescription, ServerResponse?)
    /// The response could not be saved as a file, or its digest is wrong.
    case downloadFailed(CallDescription, DownloadError)
    /// An interceptor threw an error.
    case interceptorFailed(CallDescription, any Error)
    /// An error of the transport that has no case of its own.
    case transport(CallDescription, any Error)

    /// The call that failed.
    public var call: CallDescription {
        switch self {
        case .offline(let call), .cannotConnect(let call, _), .connectionLost(let call, _), .timedOut(let call, _),
            .cancelled(let call), .tlsFailed(let call, _), .invalidRequest(let call, _), .insecureURL(let call, _),
            .unreadableFile(let call, _, _), .invalidResponse(let call, _), .responseTooLarge(let call, _),
            .tooManyRedirects(let call, _),
            .unacceptableStatus(let call, _), .api(let call, _), .decoding(let call, _), .unauthorized(let call, _),
            .signInRequired(let call), .sessionExpired(let call, _, _), .sessionChanged(let call),
            .refreshFailed(let call, _, _), .storageUnavailable(let call, _), .bodyNotReplayable(let call, _),
            .downloadFailed(let call, _), .interceptorFailed(let call, _), .transport(let call, _):
            call
        }
    }

    /// The server's response, if the error contains one.
    public var response: ServerResponse? {
        switch self {
        case .unacceptableStatus(_, let response), .unauthorized(_, let response): response
        case .api(_, let error): error.response
        case .decoding(_, let error): error.response
        case .sessionExpired(_, _, let response), .refreshFailed(_, _, let response),
            .bodyNotReplayable(_, let response):
            response
        default: nil
        }
    }

    /// The status code of the server's response, if the error contains one. It is `nil` for
    /// ``refreshFailed(_:_:_:)``, even if that contains the 401 to this call: the user is still signed in.
    public var status: Int? {
        if case .refreshFailed = self { nil } else { response?.status }
    }

    /// Whether the call failed because its task was cancelled.
    public var isCancelled: Bool {
        if case .cancelled = self { true } else { false }
    }
}
