public import HTTPTypes

/// Changes the requests of a client, inspects their responses, and decides whether a failed attempt is retried.
///
/// Every method has a default that does nothing. The hooks of a call run in this order, and interceptors in the order
/// of ``NetworkConfig/interceptors``, after those of ``NetworkClient/intercepted(by:)``:
///
/// 1. ``prepare(_:for:)``, once.
/// 2. ``CallEvent/started(_:)``, once.
/// 3. Before each attempt, the client waits for an access token and a request slot, and attaches the token.
/// 4. ``adapt(_:for:)``, before each attempt.
/// 5. ``respond(to:for:)``, before each attempt. If none responds, the request is sent.
/// 6. ``validate(_:for:)``, after each response, unless the client tries to replace a token that the response rejects.
/// 7. ``retry(_:for:dueTo:)``, after each failed attempt that the client does not handle itself. If it can replace a
///    rejected token, it sends the request again without calling this hook, at most three times for each call, and each
///    time with a newer token.
/// 8. ``process(_:for:)``, once if the call succeeded, before its response is decoded.
/// 9. ``CallEvent/finished(_:_:)``, once, with the outcome that the caller gets. If the body of a stream breaks off
///    later, ``CallEvent/streamBroke(_:_:)``.
///
/// ```swift
/// struct APIKey: RequestInterceptor {
///     let name: HTTPField.Name
///     let key: Secret
///     func adapt(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
///         request.headerFields.setSensitive(key.reveal(), for: name)
///     }
/// }
/// ```
///
/// A header field that was set with `HTTPFields.setSensitive(_:for:)` is masked for observers, and never follows a
/// redirect to another origin. The header fields and bodies of interceptors do not go to third parties
/// (``NetworkConfig/headers``), unless the interceptor itself sends the request there.
public protocol RequestInterceptor: Sendable {
    /// Changes the request once, before anything else happens. All attempts of the call start from the changed request.
    /// - Parameters:
    ///   - request: The request, with its own header fields and `Content-Type`, and without a token.
    ///   - context: Describes the call, has its ``RequestContext/body``, and keeps values of the interceptor until the
    ///     call ends.
    /// - Throws: Any error, to fail the call before it is sent. An error other than ``NetworkError`` is wrapped in
    ///   ``NetworkError/interceptorFailed(_:_:)``.
    func prepare(_ request: inout HTTPRequest, for context: inout RequestContext) async throws
    /// Changes the request of one attempt. The next attempt starts again from the prepared request.
    ///
    /// The call already holds its slot among ``NetworkConfig/maximumConcurrentRequests``; its time limit has not
    /// started. A call that this method makes through the same client does not wait for a slot.
    ///
    /// If the access token expires or is replaced while the interceptors are running, the client gets another one and
    /// calls this method once more for the same attempt, with the prepared request and the new token. If the body can
    /// be read only once, or if the second token expires, too, the client replaces only the token. The attempt then
    /// fails if an interceptor has changed the token's field. No request is sent with a token that has expired, unless
    /// the session cannot be renewed or ``Endpoint/allowsRefresh`` is `false`.
    /// - Parameters:
    ///   - request: The request, with its token and the changes of earlier interceptors.
    ///   - context: Describes the call, and has the ``RequestContext/body`` of the attempt.
    /// - Throws: Any error, to fail the attempt. Like any other failure, it may be retried.
    func adapt(_ request: inout HTTPRequest, for context: inout RequestContext) async throws
    /// Answers the request of one attempt in place of the server, for example from a cache. The first response wins.
    ///
    /// The request is authorized by then: the response never reaches a call whose session has ended, and
    /// ``RequestContext/stamp`` names the session. The call holds its slot as in ``adapt(_:for:)``.
    ///
    /// The response is validated, retried and processed like one from the server, but says nothing about the token: a
    /// 401 does not refresh it. Redirects are not followed. An observer sees ``CallEvent/received(_:_:)`` without
    /// ``CallEvent/attemptStarted(_:)``, and the attempt does not count as sent.
    /// - Parameters:
    ///   - request: The request as it would be sent.
    ///   - context: Describes the call.
    /// - Returns: The response; `nil` to send the request.
    /// - Throws: Any error, to fail the attempt. Like any other failure, it may be retried.
    func respond(to request: HTTPRequest, for context: inout RequestContext) async throws -> ServerResponse?
    /// Inspects a response of any status, and throws to fail the attempt.
    ///
    /// Not called if the response rejects a token that the client tries to replace, or rejects a call that has no token
    /// because the session has expired. It sees a rejection only if the client does not replay the call: after the last
    /// replay, after a redirect that has performed the request, and if ``Endpoint/allowsRefresh`` is `false`.
    /// - Parameters:
    ///   - response: The response. If a download or a stream consumes its body, the body is empty here.
    ///   - context: Describes the call.
    /// - Throws: The reason why the attempt fails. ``Endpoint/acceptableStatuses`` are checked afterwards.
    func validate(_ response: ServerResponse, for context: inout RequestContext) async throws
    /// Decides what to do after a failed attempt. The first decision other than ``RetryDecision/noOpinion`` wins.
    ///
    /// Not called if the call was cancelled, if the attempt found no network and the call waits or has waited for one
    /// (``NetworkConfig/connectivityTimeout``), or if the request is sent again without a field that the client had
    /// added: `Expect`, or the `Range` of a resumed download.
    ///
    /// The client handles a rejected token first. It does not call this method if it has replaced the token, or if the
    /// refresh after the first rejection fails, because the call then fails with that error. It calls this method with
    /// the rejection of a replay for which there is no newer token, and with every rejection if
    /// ``Endpoint/allowsRefresh`` is `false`.
    /// - Parameters:
    ///   - request: The prepared request, without the changes of ``adapt(_:for:)``. To retry another one, return
    ///     ``RetryDecision/retryWith(_:after:)``.
    ///   - context: Describes the call. ``RequestContext/attempt`` is the attempt that failed.
    ///   - error: The error of the attempt. ``NetworkError/response`` is the server's response, if there is one.
    /// - Returns: The decision.
    func retry(
        _ request: HTTPRequest, for context: inout RequestContext, dueTo error: NetworkError
    ) async -> RetryDecision
    /// Changes a response before it is decoded, for example to decrypt it.
    ///
    /// For a download or a stream it sees only the head, and its changes have no effect.
    /// - Parameters:
    ///   - response: The response, with the changes of earlier interceptors.
    ///   - context: Describes the call.
    /// - Returns: The response to decode.
    /// - Throws: Any error, to fail the call. It is not retried.
    func process(_ response: ServerResponse, for context: inout RequestContext) async throws -> ServerResponse
}

extension RequestInterceptor {
    /// Changes nothing.
    public func prepare(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {}
    /// Changes nothing.
    public func adapt(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {}
    /// Answers nothing.
    public func respond(
        to request: HTTPRequest, for context: inout RequestContext
    ) async throws -> ServerResponse? { nil }
    /// Accepts the response.
    public func validate(_ response: ServerResponse, for context: inout RequestContext) async throws {}
    /// Has no opinion.
    public func retry(
        _ request: HTTPRequest, for context: inout RequestContext, dueTo error: NetworkError
    ) async -> RetryDecision { .noOpinion }
    /// Changes nothing.
    public func process(_ response: ServerResponse, for context: inout RequestContext) async throws -> ServerResponse {
        response
    }
}
