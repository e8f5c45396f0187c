internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension NetworkClient {
    /// Sends a sign-in endpoint and starts a session with the tokens of its response.
    ///
    /// The refresher reads the tokens (``TokenRefresher/tokens(inSignInResponse:)``). The endpoint is sent without a
    /// token, unless it requires one, as the upgrade of a guest does.
    ///
    /// ```swift
    /// let user: User = try await client.signIn(Login(email: email, password: password))
    /// ```
    /// - Parameters:
    ///   - endpoint: The sign-in endpoint.
    ///   - type: The type to decode from the response; ``NoContent`` to ignore the rest of it.
    ///   - monitor: Reports the progress of the upload.
    ///   - account: The account to store with the session.
    /// - Returns: The decoded response, after the session was written to the store. If the write failed, the session is
    ///   kept in memory (``SignedInSession/isSaved`` is `false`) and the write is retried.
    /// - Throws: ``NetworkError``. If the response has no tokens or cannot be decoded, the error is
    ///   ``NetworkError/decoding(_:_:)``, and the tokens in the response are revoked. If a sign-out or another sign-in
    ///   came first, it is ``NetworkError/sessionChanged(_:)``; an automatic sign-in
    ///   (``NetworkConfig/automaticSignIn``) and the registration of a guest do not count. If the write failed and
    ///   ``SessionPolicy/requiresSavedTokens`` is set, it is ``NetworkError/storageUnavailable(_:_:)``, and no user is
    ///   signed in. After ``NetworkError/cancelled(_:)``, this call has signed no user in. Tokens that arrive after the
    ///   cancellation are revoked, unless the sign-in is a GET with a cache, or uploads files or more than 1 MiB.
    @discardableResult
    public func signIn<Value: Decodable & Sendable>(
        _ endpoint: any Endpoint, as type: Value.Type = Value.self, monitor: TransferMonitor? = nil,
        account: @Sendable (Value) -> SessionAccount = { _ in SessionAccount() }
    ) async throws(NetworkError) -> Value {
        try await signInResponse(for: endpoint, as: type, monitor: monitor, account: account).value
    }

    /// Signs in as ``signIn(_:as:monitor:account:)`` does, and returns the decoded response with its head and the
    /// `code`, `message` and `meta` of its envelope.
    ///
    /// ```swift
    /// let response = try await client.signInResponse(for: Login(email: email, password: password), as: User.self)
    /// banner.show(response.message ?? "Welcome, \(response.value.name)")
    /// ```
    public func signInResponse<Value: Decodable & Sendable>(
        for endpoint: any Endpoint, as type: Value.Type = Value.self, monitor: TransferMonitor? = nil,
        account: @Sendable (Value) -> SessionAccount = { _ in SessionAccount() }
    ) async throws(NetworkError) -> NetworkResponse<Value> {
        // The token of the previous user must not go with a sign-in, unless the endpoint requires it.
        let authentication: AuthenticationRequirement = endpoint.authentication == .required ? .required : .none
        let owner =
            authentication == .required ? tokens?.supersededOwner ?? tokens?.currentOwner : tokens?.signInOwner
        return try await signIn(
            endpoint, SignInStart(authentication, as: owner ?? .unbound), monitor: monitor, account: account
        ) { [pipeline] call throws(NetworkError) in
            try pipeline.decoding.decode(type, from: call)
        }
    }

    /// Sends a sign-in and starts a session, for the public methods and for guests.
    /// - Parameter decode: Reads the result from the response; if it throws, no session is started.
    package func signIn<Value: Sendable>(
        _ endpoint: any Endpoint, _ start: SignInStart, monitor: TransferMonitor? = nil,
        account: @Sendable (Value) -> SessionAccount,
        decode: @Sendable (CompletedCall) throws(NetworkError) -> Value
    ) async throws(NetworkError) -> NetworkResponse<Value> {
        let tokens = try manager(for: endpoint, start, monitor)
        let cookies = pipeline.config.cookies.map { SignInCookies($0) }
        var outgoing = OutgoingCall(
            endpoint, body: endpoint.body, accept: "application/json",
            start: pipeline.makeStart(start.requirement, as: start.owner), monitor: monitor)
        outgoing.signIn = cookies
        outgoing.onUnusedResponse = tokens.revokeIssued
        let call = try await pipeline.perform(outgoing)
        do throws(NetworkError) {
            let (value, issued) = try tokens.issued(inSignIn: call, decode)
            let session = SessionID()
            cookies?.prepare(session)
            do throws(SessionError) {
                try await tokens.signIn(
                    with: issued, account: account(value), as: session, since: start.owner.epoch,
                    age: pipeline.time.uptime - call.receivedAt)
            } catch {
                throw NetworkError(error, for: call.call)
            }
            pipeline.giveCookies(of: cookies, to: tokens)
            call.finish()
            return NetworkResponse(value, of: call, in: pipeline.decoding.reading(of: call.response))
        } catch {
            call.report?.finish(with: error)
            throw error
        }
    }

    /// The manager to sign in to. Checked before the request is sent, so that the server does not create a session that
    /// no client uses.
    private func manager(
        for endpoint: any Endpoint, _ start: SignInStart, _ monitor: TransferMonitor?
    ) throws(NetworkError) -> TokenManager {
        let call = CallDescription(unsent: endpoint)
        if let tokens, !start.owner.isBound || start.owner.epoch == tokens.epoch { return tokens }
        monitor?.finish()
        let error: NetworkError =
            tokens == nil
            ? .invalidRequest(
                call, reason: "This client has no TokenManager to sign in to. Create it with init(tokens:).")
            : .sessionChanged(call)
        throw refused(error)
    }

    /// Reports to the observers a call that fails before its request is built.
    /// - Returns: The error.
    package func refused(_ error: NetworkError) -> NetworkError {
        pipeline.reportRefusal(error)
        return error
    }

    /// Decodes the response to a call with the client's settings.
    package func decode<Value: Decodable & Sendable>(
        _ type: Value.Type, from call: CompletedCall
    ) throws(NetworkError) -> Value {
        try pipeline.decoding.decode(type, from: call)
    }
}

/// The start of a sign-in.
package struct SignInStart: Sendable {
    /// `required` for a sign-in that carries the token of the current session, else `none`.
    let requirement: AuthenticationRequirement
    /// The sign-in state when the sign-in began. If it has changed since, the sign-in is discarded. No other session
    /// may authorize the request.
    let owner: CallOwner

    init(_ requirement: AuthenticationRequirement, as owner: CallOwner) {
        self.requirement = requirement
        self.owner = owner
    }

    /// The start of a sign-in that carries no token. It yields to every other sign-in, even to one that is being saved.
    package static func givingWay(in client: NetworkClient) -> SignInStart {
        SignInStart(.none, as: client.tokens?.automaticSignInOwner ?? .unbound)
    }

    /// The start of a sign-in that replaces the current session, and that only this session's token authorizes.
    /// - Returns: The start, with the account of the session; `nil` if no user is signed in.
    /// - Throws: ``SessionError`` if the store cannot be read, or if the task is cancelled.
    package static func replacingSession(
        in client: NetworkClient
    ) async throws(SessionError) -> (start: SignInStart, account: SessionAccount)? {
        // Taken before the state, so that a sign-in from here on invalidates the start.
        let begun = client.tokens?.supersededOwner ?? client.tokens?.currentOwner ?? .unbound
        let session: SignedInSession
        switch await client.tokens?.loadedState {
        case .signedIn(let found): session = found
        case .unavailable(let failure), .unreadable(let failure): throw .unavailable(failure)
        // The sign-in of another caller is being saved, unless the task was cancelled.
        case .loading where Task.isCancelled: throw .cancelled
        case .loading, .signedOut, .expired, nil: return nil
        }
        let owner = CallOwner(epoch: begun.epoch, signInState: .session(session.id))
        return (SignInStart(.required, as: owner), session.account)
    }
}

extension TokenManager {
    /// Revokes the tokens of a sign-in that cannot use them.
    @Sendable fileprivate func revokeIssued(in response: ServerResponse) {
        guard let issued = try? refresher.tokens(inSignInResponse: response) else { return }
        revoke(issued)
    }

    /// The result of a sign-in and its tokens, which are revoked if the result cannot be decoded.
    fileprivate func issued<Value>(
        inSignIn call: CompletedCall, _ decode: (CompletedCall) throws(NetworkError) -> Value
    ) throws(NetworkError) -> (Value, Tokens) {
        do throws(NetworkError) {
            return (try decode(call), try issuedTokens(inSignIn: call))
        } catch {
            revokeIssued(in: call.response)
            throw error
        }
    }

    fileprivate func issuedTokens(inSignIn call: CompletedCall) throws(NetworkError) -> Tokens {
        let response = call.response
        do {
            var tokens = try refresher.tokens(inSignInResponse: response)
            tokens.serverDate = tokens.serverDate ?? response.headers[.date].flatMap(HTTPDate.parse)
            return tokens
        } catch {
            // The decoding error quotes the response itself.
            let text = (error as? MissingTokenError)?.summary ?? String(describing: error)
            let why = ContentCodings(response.headers).unsupportedReason ?? Redaction.redact(text)
            throw .decoding(
                call.call, ResponseDecodingError(type: "sign-in", codingPath: "", reason: why, response: response))
        }
    }
}

extension NetworkClient {
    /// Sends a sign-in request whose response type is fixed. See ``signIn(_:as:monitor:account:)``.
    @discardableResult
    public func signIn<Request: APIRequest>(
        _ request: Request, monitor: TransferMonitor? = nil,
        account: @Sendable (Request.Response) -> SessionAccount = { _ in SessionAccount() }
    ) async throws(NetworkError) -> Request.Response {
        try await signIn(request, as: Request.Response.self, monitor: monitor, account: account)
    }

    /// Signs in with a request whose response type is fixed. See ``signInResponse(for:as:monitor:account:)``.
    public func signInResponse<Request: APIRequest>(
        for request: Request, monitor: TransferMonitor? = nil,
        account: @Sendable (Request.Response) -> SessionAccount = { _ in SessionAccount() }
    ) async throws(NetworkError) -> NetworkResponse<Request.Response> {
        try await signInResponse(for: request, as: Request.Response.self, monitor: monitor, account: account)
    }
}
