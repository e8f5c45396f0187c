internal import HTTPTypes

/// The stage of the pipeline that deals with access tokens: it attaches one before an attempt, and replaces one that
/// the server rejects, once for each call.
struct Authorizer: Sendable {
    let tokens: TokenManager
    /// The field with the last token that was attached, because checking each of its characters again takes time.
    private let lastField = Locked<(token: Secret, field: HTTPField)?>(nil)

    init(tokens: TokenManager) {
        self.tokens = tokens
    }

    /// Whether the call may carry a token at all.
    func mayAuthorize(_ call: CallState) -> Bool {
        call.authorization.requirement != .none && tokens.mayCarryToken(to: call.context.origin)
    }

    /// Takes a fresh token without suspending.
    /// - Returns: `false` if there is no fresh token, or if the token must last for an upload. Then call
    ///   ``waitForToken(_:)``.
    func takeFreshToken(_ call: inout CallState) throws(SessionError) -> Bool {
        guard call.authorization.credential == nil, call.authorization.transferTime == nil else { return false }
        let first = call.authorization.firstCredential
        call.authorization.firstCredential = nil
        guard let credential = first ?? tokens.freshCredential(for: call.authorization.owner) else { return false }
        try assign(credential, to: &call)
        return true
    }

    /// Waits for a token, unless the call already has one from an earlier wait.
    ///
    /// No request slot is held meanwhile, so that calls that need no token can pass.
    func waitForToken(_ call: inout CallState) async throws(SessionError) {
        guard call.authorization.credential == nil else { return }
        let failure = call.authorization.firstFailure
        call.authorization.firstFailure = nil
        let result: Result<Credential, SessionError> =
            if let failure { .failure(failure) } else { await requestToken(for: call) }
        switch result {
        case .success(let credential):
            try assign(credential, to: &call)
        case .failure(.signedOut) where call.authorization.session != nil:
            // A call that belonged to a session must not continue anonymously.
            throw .sessionChanged
        case .failure(.signedOut) where call.authorization.requirement == .ifSignedIn:
            return
        case .failure(.expired(let reason)) where mayGoWithoutToken(call):
            call.authorization.expiryReason = reason
        case .failure(let error):
            throw error
        }
    }

    /// Replaces the call's token if it was rejected or replaced while the call was suspended.
    /// - Returns: `false` if the call must wait for a new token.
    func revalidateToken(for call: inout CallState) throws(SessionError) -> Bool {
        guard let credential = call.authorization.credential, !tokens.isUsable(credential.stamp) else { return true }
        try checkSession(of: call.authorization)
        call.authorization.credential = nil
        guard let newer = tokens.freshCredential(for: call.authorization.owner) else { return false }
        try assign(newer, to: &call)
        return true
    }

    /// Refreshes the token if it has expired while the call was waiting, or would expire while the body is sent. The call
    /// keeps its request slot. If it queued again, the new token could expire while it waits.
    func refreshIfNeeded(_ call: inout CallState) async throws(SessionError) {
        guard let credential = call.authorization.credential else { return }
        if case .success(let newer) = await requestToken(for: call), newer.stamp.session == credential.stamp.session {
            call.authorization.credential = newer
        }
        try checkSession(of: call.authorization)
    }

    /// Fails if the session that the call belongs to has ended.
    func checkSession(of authorization: Authorization) throws(SessionError) {
        if let owner = authorization.owner, let error = tokens.end(of: owner) { throw error }
    }

    /// Takes a token for a call that a refresher makes during a refresh. Such a call must not wait for the result of
    /// that refresh.
    func takeTokenInsideRefresh(_ call: inout CallState) async throws(SessionError) {
        if let credential = tokens.freshCredential() { return try assign(credential, to: &call) }
        guard call.authorization.requirement == .required else { return }
        try assign(try await tokens.credential().get(), to: &call)
    }

    /// Puts the call's token on the request of the next attempt.
    func attachToken(to request: inout HTTPRequest, for call: inout CallState) {
        guard let credential = call.authorization.credential else { return }
        call.authorization.credential = nil
        call.context.stamp = credential.stamp
        call.authorization.reportsAcceptance = credential.isUnproven
        request.headerFields[tokens.scheme.header] = nil
        request.headerFields.append(field(with: credential.accessToken))
    }

    private func field(with token: Secret) -> HTTPField {
        lastField.withLock { last in
            if let last, last.token == token { return last.field }
            let field = tokens.scheme.field(with: token)
            last = (token, field)
            return field
        }
    }

    /// Removes the token from a request that an interceptor has redirected to another origin.
    func removeToken(from request: inout HTTPRequest, for call: inout CallState) {
        guard call.context.stamp != nil else { return }
        request.headerFields[tokens.scheme.header] = nil
        call.context.stamp = nil
    }

    /// Fails the attempt if its response rejects its token and the call has not been replayed yet.
    ///
    /// The request still holds its slot here. The token is marked as rejected before the slot goes to the next call,
    /// which must not go out with the same token.
    func validate(_ response: ServerResponse, for call: inout CallState) throws(NetworkError) {
        guard tokens.rejection.isRejected(response, to: call.request) else {
            if call.authorization.reportsAcceptance, StatusCodes.successful.contains(response.status) { report(call) }
            return
        }
        guard let stamp = call.context.stamp else {
            if let reason = call.authorization.expiryReason {
                throw .sessionExpired(call.context.call, reason, response)
            }
            return
        }
        guard !call.authorization.hasReplayed else { return }
        call.authorization.isTokenRejected = true
        tokens.reportRejection(of: stamp)
        throw .unauthorized(call.context.call, response)
    }

    /// Gets a token in place of the rejected one.
    /// - Returns: Whether the call must be sent again. `false` if the attempt failed for another reason than its token.
    /// - Throws: ``NetworkError`` if there is no other token.
    func recover(_ call: inout CallState, from failure: NetworkError) async throws(NetworkError) -> Bool {
        guard call.authorization.isTokenRejected, let stamp = call.context.stamp, let response = failure.response
        else { return false }
        do {
            call.authorization.credential = try await tokens.credential(replacing: stamp).get()
            // Another caller may have refreshed the token while this body was sent, so it may not last for another
            // upload.
            if call.authorization.transferTime != nil { try await refreshIfNeeded(&call) }
        } catch {
            throw NetworkError(error, for: call.context.call, response: response)
        }
        call.authorization.hasReplayed = true
        return true
    }

    private func assign(_ credential: Credential, to call: inout CallState) throws(SessionError) {
        if let session = call.authorization.session, session != credential.stamp.session { throw .sessionChanged }
        if call.authorization.session == nil {
            call.authorization.session = credential.stamp.session
            // The store has been read since the call was made.
            call.authorization.owner = call.authorization.owner.map {
                CallOwner(epoch: $0.epoch, situation: .session(credential.stamp.session))
            }
        }
        call.authorization.credential = credential
    }

    private func requestToken(for call: CallState) async -> Result<Credential, SessionError> {
        await tokens.credential(lasting: call.authorization.transferTime, for: call.authorization.owner)
    }

    /// After the session has expired, a call that only reads may go out without a token. One that writes must not:
    /// the user meant to write it as themselves.
    private func mayGoWithoutToken(_ call: CallState) -> Bool {
        call.authorization.requirement == .ifSignedIn && call.authorization.session == nil
            && [.get, .head].contains(call.request.method)
    }

    private func report(_ call: CallState) {
        if let stamp = call.context.stamp { tokens.reportAcceptance(of: stamp) }
    }
}

extension NetworkError {
    /// Converts an error of the session to the error of a call.
    init(_ error: SessionError, for call: CallDescription, response: ServerResponse? = nil) {
        self =
            switch error {
            case .signedOut: .signInRequired(call)
            case .expired(let reason): .sessionExpired(call, reason, response)
            case .sessionChanged: .sessionChanged(call)
            case .unavailable(let failure): .storageUnavailable(call, failure)
            case .refreshFailed(let failure): .refreshFailed(call, failure, response)
            case .cancelled: .cancelled(call)
            }
    }
}
