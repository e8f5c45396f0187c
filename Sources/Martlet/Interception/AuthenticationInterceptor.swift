public import HTTPTypes

/// Signs requests with the session's token, and replays once what was refused for it.
///
/// A client made with ``NetworkClient/init(tokens:config:)`` has one already, before all other interceptors.
public struct AuthenticationInterceptor: RequestInterceptor {
    /// Whose tokens sign the requests.
    public let tokens: TokenManager

    /// Signs requests with the tokens of a session.
    public init(tokens: TokenManager) {
        self.tokens = tokens
    }

    /// Puts the token on the request, waiting for a fresh one where it must.
    public func adapt(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
        context.signature = nil
        context.isTokenRejected = false
        guard isToBeSigned(context) else { return }
        guard let credential = try await credential(for: &context) else { return }
        let session = context.session ?? context.owner ?? credential.stamp.session
        guard session == credential.stamp.session else { throw SessionError.sessionChanged }
        context.session = credential.stamp.session
        context.signature = credential.stamp
        context.signedHeader = tokens.scheme.header
        tokens.scheme.sign(&request.headerFields, with: credential.accessToken)
    }

    /// Calls an attempt failed whose token was refused, the first time.
    public func validate(_ answer: ServerAnswer, for context: inout RequestContext) async throws {
        guard context.signature != nil, !context.hasReplayedAuthentication, tokens.rejection.isRejected(answer) else {
            return
        }
        context.isTokenRejected = true
        // At once, while this request still holds its place: whoever takes it next must not go out with the same token.
        if let stamp = context.signature { tokens.refused(stamp) }
        throw NetworkError.unauthorized(context.call, answer)
    }

    /// Gets a token in place of the refused one and has the request sent again, once.
    public func retry(
        _ request: HTTPRequest, for context: inout RequestContext, dueTo error: NetworkError
    ) async -> RetryDecision {
        // The status alone does not tell: a backend may say 419 of its tokens and mean something else by 401.
        guard context.isTokenRejected, let stamp = context.signature, let answer = error.answer else {
            return .doNotRetry
        }
        switch await tokens.credential(inPlaceOf: stamp) {
        case .success(let credential):
            context.nextCredential = .success(credential)
            // It may be one that others got while the body was on its way, and that would not last for another pass.
            if context.transferTime != nil { await renewToken(&context) }
            context.hasReplayedAuthentication = true
            return .retry
        case .failure(let failure):
            return .fail(NetworkError(failure, for: context.call, answer: answer))
        }
    }

    /// Waits for a token before the request takes a place among those under way, so that nobody waits in such a place.
    func waitForToken(_ context: inout RequestContext) async {
        guard context.nextCredential == nil, isToBeSigned(context), !tokens.isRefreshingHere else { return }
        let answer = await askForToken(context)
        if case .success(let credential) = answer, context.owner == nil { context.owner = credential.stamp.session }
        context.nextCredential = answer
    }

    /// Whether the request, now that it has its place, may go out: its token may have been refused or replaced while it
    /// waited for that. A newer one takes the old one's place, where there is one already.
    func hasToken(_ context: inout RequestContext) -> Bool {
        guard case .success(let credential) = context.nextCredential, !tokens.isGood(credential.stamp),
            tokens.isCurrent(credential.stamp.session)
        else { return true }
        context.nextCredential = tokens.freshCredential().map { .success($0) }
        return context.nextCredential != nil
    }

    /// Gets a newer token of the same session where the one that the call has got would not last any more, because the
    /// call has waited since. It keeps its place meanwhile: at the end of the line the new one would grow old again.
    func renewToken(_ context: inout RequestContext) async {
        guard case .success(let credential) = context.nextCredential,
            case .success(let newer) = await askForToken(context),
            newer.stamp.session == credential.stamp.session
        else { return }
        context.nextCredential = .success(newer)
    }

    /// A token, and one that lasts as long as the body is on its way where that takes a while.
    private func askForToken(_ context: RequestContext) async -> Result<Credential, SessionError> {
        guard let transferTime = context.transferTime else { return await tokens.credential() }
        return await tokens.credential(lasting: transferTime)
    }

    private func isToBeSigned(_ context: RequestContext) -> Bool {
        context.authentication != .none && tokens.mayCarryToken(to: context.origin)
    }

    private func credential(for context: inout RequestContext) async throws -> Credential? {
        let waitedFor = context.nextCredential
        context.nextCredential = nil
        if case .success(let credential) = waitedFor {
            // The user may have signed out, or another one in, since the token was handed out.
            guard tokens.isCurrent(credential.stamp.session) else { throw SessionError.sessionChanged }
            return credential
        }
        if let credential = tokens.freshCredential() { return credential }
        // A refresher's own call cannot wait for what it is to bring.
        if tokens.isRefreshingHere, context.authentication == .ifSignedIn { return nil }
        let answer: Result<Credential, SessionError>
        if let waitedFor { answer = waitedFor } else { answer = await tokens.credential() }
        switch answer {
        case .success(let credential):
            return credential
        case .failure(.signedOut) where context.authentication == .ifSignedIn && context.session == nil,
            .failure(.expired) where context.authentication == .ifSignedIn && context.session == nil:
            return nil
        case .failure(.signedOut) where context.session != nil:
            // A call that was signed once must not go on as a stranger's.
            throw SessionError.sessionChanged
        case .failure(let error):
            throw error
        }
    }
}

extension NetworkError {
    /// What a session's trouble means for a call.
    init(_ error: SessionError, for call: FailedCall, answer: ServerAnswer? = nil) {
        self =
            switch error {
            case .signedOut: .signInRequired(call)
            case .expired(let reason): .sessionExpired(call, reason, answer)
            case .sessionChanged: .sessionChanged(call)
            case .unavailable(let failure): .storageUnavailable(call, failure)
            case .refreshFailed(let failure): .refreshFailed(call, failure, answer)
            case .cancelled: .cancelled(call)
            }
    }
}
