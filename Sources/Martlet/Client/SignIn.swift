internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension NetworkClient {
    /// Sends a sign-in endpoint, reads the tokens in its answer and starts a session with them.
    ///
    /// The tokens are found by the refresher's dialect (``TokenRefresher/tokens(inSignInAnswer:)``). The endpoint goes out
    /// without a token unless it requires one, as the upgrade of a guest does.
    ///
    /// ```swift
    /// let user: User = try await client.signIn(Login(email: email, password: password))
    /// ```
    /// - Parameters:
    ///   - endpoint: The sign-in.
    ///   - type: What else the answer has to tell; ``Empty`` where it is of no interest.
    ///   - monitor: Is told how much of the body has gone out.
    ///   - account: Who it is, for the session's record.
    /// - Returns: The answer, once the session has been stored.
    /// - Throws: ``NetworkError``; ``NetworkError/decoding(_:_:)`` where there are no tokens in the answer.
    @discardableResult
    public func signIn<Value: Decodable & Sendable>(
        _ endpoint: any Endpoint, as type: Value.Type = Value.self, monitor: TransferMonitor? = nil,
        account: @Sendable (Value) -> SessionAccount = { _ in SessionAccount() }
    ) async throws(NetworkError) -> Value {
        // It must not carry the token of whoever was signed in before, unless it says that it needs it.
        let authentication: AuthenticationRequirement = endpoint.authentication == .required ? .required : .none
        return try await signIn(
            endpoint, as: type, authentication: authentication, since: tokens?.epoch, monitor: monitor,
            account: account)
    }

    /// - Parameters:
    ///   - epoch: Nobody may have signed in or out since then.
    ///   - session: The only session that may sign the request; whichever there is if `nil`.
    func signIn<Value: Decodable & Sendable>(
        _ endpoint: any Endpoint, as type: Value.Type, authentication: AuthenticationRequirement, since epoch: Int?,
        session: SessionID? = nil, monitor: TransferMonitor? = nil, account: @Sendable (Value) -> SessionAccount
    ) async throws(NetworkError) -> Value {
        // Before anything is sent: the server would have a guest, or a session, that nobody knows of.
        guard let tokens else {
            monitor?.finish()
            throw .invalidRequest(
                FailedCall(method: endpoint.method.rawValue, url: Redaction.redact(endpoint.path), attempts: 0),
                RequestProblem("This client has no TokenManager to sign in to. Make it with init(tokens:)."))
        }
        let raw = try await pipeline.perform(
            endpoint, accept: "application/json", authentication: authentication, session: session, monitor: monitor)
        let (answer, call) = (raw.value.answer, raw.value.call)
        let decoding = ResponseDecoding(decoder: config.decoder, envelope: config.envelope)
        let value = try decoding.decode(type, from: raw)
        let bundle: TokenBundle
        do {
            bundle = try tokens.refresher.tokens(inSignInAnswer: answer)
        } catch {
            let why = Redaction.redact(String(describing: error))
            throw .decoding(call, DecodingFailure(type: "sign-in", codingPath: "", reason: why, answer: answer))
        }
        do {
            let serverDate = answer.headers[.date].flatMap(HTTPDate.parse)
            try await tokens.signIn(with: bundle, account: account(value), serverDate: serverDate, since: epoch)
        } catch {
            throw NetworkError(error, for: call)
        }
        return value
    }
}

extension NetworkClient {
    /// Sends a sign-in request with a response bound to it. See ``signIn(_:as:monitor:account:)``.
    @discardableResult
    public func signIn<Request: APIRequest>(
        _ request: Request, monitor: TransferMonitor? = nil,
        account: @Sendable (Request.Response) -> SessionAccount = { _ in SessionAccount() }
    ) async throws(NetworkError) -> Request.Response {
        try await signIn(request, as: Request.Response.self, monitor: monitor, account: account)
    }
}
