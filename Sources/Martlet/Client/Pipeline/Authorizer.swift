internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The authorization of one call: the session that the call belongs to, the token for its next attempt, and whether the
/// server has rejected a token.
struct Authorization: Sendable {
    fileprivate static let maximumReplays = 3

    /// Whether the call carries a token. The endpoint decides, unless the call is a sign-in.
    let requirement: AuthenticationRequirement
    /// Whether the call may refresh the token and be sent again with the new one. If not, it carries the session's
    /// token as it is, waits for no refresh, and returns a rejection to its caller like any other response.
    var allowsRefresh = true
    /// The owner of the call. No other session may authorize it, its retries included.
    fileprivate(set) var owner: CallOwner
    /// The estimated time to send the body, for which the token must last; `nil` if the token need not last that long.
    var transferTime: Duration?
    /// The fresh token that was found when the call was made; `nil` once it may have changed.
    fileprivate var firstCredential: Credential?
    /// The reason why there was no token, if the call waited for one before it was built.
    fileprivate var firstFailure: SessionError?
    /// The token for the next attempt.
    fileprivate var credential: Credential?
    /// The token that the current attempt carries.
    fileprivate var attached: Credential?
    /// The reason for the expiry of the session, if the call goes out without a token because of it.
    fileprivate var expiryReason: ExpiryReason?
    /// The report to the manager if the server accepts this attempt's token; `nil` for none.
    fileprivate var awaitedAcceptance: SessionStateMachine.Acceptance?
    /// Whether the server rejected the token of the attempt that has just failed.
    fileprivate var isTokenRejected = false
    /// The token whose rejection came before its refresh was sent, so that the refresh cannot have caused it; `nil` for
    /// any other rejection.
    fileprivate var stampRejectedBeforeRefresh: SessionStamp?
    /// The number of times the call has been sent again because of a rejected token. After the first time, only a newer
    /// token allows another.
    fileprivate var replays = 0
    /// Whether the current attempt repeats one whose token was rejected.
    var isReplay: Bool { replays > 0 }

    init(
        _ requirement: AuthenticationRequirement, as owner: CallOwner, _ credential: Credential?,
        _ failure: SessionError?
    ) {
        self.requirement = requirement
        self.owner = owner
        self.firstCredential = credential
        self.firstFailure = failure
    }

    /// Makes the next attempt find a token. The current token must not be used if it was taken for another origin, or
    /// before interceptors or file access delayed the call.
    mutating func dropToken() {
        (credential, firstCredential) = (nil, nil)
    }
}

/// The stage of the pipeline that deals with access tokens. It attaches a token before an attempt, and replaces a token
/// that the server rejects: once for each call, and again only if there is a newer one.
struct Authorizer: Sendable {
    let tokens: TokenManager
    /// The header field with the last attached token. It is cached because creating it checks each character.
    private let lastField = Locked<(token: Secret, field: HTTPField)?>(nil)
    /// The field of the token if its name does not announce a secret; otherwise `nil`.
    private let unmarkedField: HTTPField.Name?

    init(tokens: TokenManager) {
        self.tokens = tokens
        let name = tokens.scheme.header
        unmarkedField = Redaction.isSensitive(headerName: name.rawName) ? nil : name
    }

    /// Marks as sensitive whatever the app has put into the token's field.
    func markField(in fields: inout HTTPFields) {
        guard let name = unmarkedField, fields.contains(name) else { return }
        for index in fields.indices where fields[index].name == name { fields[index].indexingStrategy = .disallow }
    }

    /// Forgets the token of the last attempt, and its rejection.
    func startAttempt(of call: inout CallState) {
        call.context.stamp = nil
        call.authorization.isTokenRejected = false
    }

    /// Whether the call may carry a token at all. A TRACE must not contain sensitive data, because its response repeats
    /// the request (RFC 9110, section 9.3.8).
    func mayAuthorize(_ call: CallState) -> Bool {
        call.authorization.requirement != .none && call.request.method != .trace
            && tokens.mayCarryToken(to: call.context.origin)
    }

    /// Takes a fresh token, without suspending.
    /// - Returns: `false` if there is no fresh token, or if the token must last for an upload. Then call
    ///   ``waitForToken(_:)``.
    @inline(never)
    func takeFreshToken(_ call: inout CallState) throws(SessionError) -> Bool {
        guard call.authorization.credential == nil, call.authorization.transferTime == nil else { return false }
        var first = call.authorization.firstCredential
        call.authorization.firstCredential = nil
        // The token was taken when the call was made or resumed. Building the request may have taken long, and a probe
        // (a try with a rejected token) may no longer be allowed.
        if let taken = first, !(taken.prober == nil ? tokens.isFresh(taken) : tokens.isUsable(taken)) { first = nil }
        guard let credential = first ?? tokens.freshCredential(for: call.authorization.owner) else { return false }
        call.authorization.firstFailure = nil
        try assign(credential, to: &call)
        return true
    }

    /// Waits for a token, unless the call already has one from an earlier wait.
    ///
    /// No request slot is held during the wait, so that calls that need no token can pass.
    func waitForToken(_ call: inout CallState) async throws(SessionError) {
        guard call.authorization.credential == nil else { return }
        let failure = call.authorization.firstFailure
        call.authorization.firstFailure = nil
        let result: Result<Credential, SessionError> =
            if let failure { .failure(failure) } else { await requestToken(for: call) }
        let absence: SessionError
        switch result {
        case .success(let credential): return try assign(credential, to: &call)
        case .failure(let error): absence = error
        }
        switch absence {
        case .signedOut, .expired:
            // A call that was made before the store was read belongs to the session that the store contained, or to
            // none.
            call.authorization.owner = await tokens.resolved(call.authorization.owner)
        default: throw absence
        }
        switch absence {
        case .signedOut where call.authorization.requirement == .ifSignedIn: return
        case .expired(let reason) where mayGoWithoutToken(call): call.authorization.expiryReason = reason
        default: throw absence
        }
    }

    /// Replaces the call's token if it was rejected or replaced while the call was suspended.
    /// - Returns: `false` if the call must wait for a new token.
    /// - Throws: ``SessionError`` if the session of the call has ended, for example because another user has signed in.
    @inline(never)
    func recheckToken(for call: inout CallState) throws(SessionError) -> Bool {
        guard let credential = call.authorization.credential, !tokens.isUsable(credential) else { return true }
        try checkSession(of: call.authorization)
        // A call that allows no refresh keeps the current token, even if it was rejected.
        if !call.authorization.allowsRefresh, tokens.isCurrent(credential) { return true }
        call.authorization.credential = nil
        guard let newer = tokens.freshCredential(for: call.authorization.owner) else { return false }
        try assign(newer, to: &call)
        return true
    }

    /// Refreshes the token if it has expired while the call was waiting, or would expire while the body is sent. The
    /// call keeps its request slot: if it queued again, the new token could expire during that wait.
    /// - Throws: ``SessionError`` if the token has expired and could not be refreshed, or if the session has ended.
    func refreshIfNeeded(_ call: inout CallState) async throws(SessionError) {
        guard let credential = call.authorization.credential, credential.prober == nil else { return }
        try await renewToken(of: &call)
    }

    /// Fails if the session that the call belongs to has ended.
    func checkSession(of authorization: Authorization) throws(SessionError) {
        if let error = tokens.endError(for: authorization.owner) { throw error }
    }

    /// Fails a call whose session has ended before its response arrived. A refresher still needs the response, to
    /// revoke the tokens in it.
    func checkSession(after call: CallState) throws(SessionError) {
        guard call.authorization.owner.session != nil, !tokens.isRefreshingHere else { return }
        try checkSession(of: call.authorization)
    }

    /// Takes a token for a call that a refresher makes during a refresh: the token of the session that it refreshes.
    /// Such a call must not wait for the result of that refresh.
    func takeTokenInsideRefresh(_ call: inout CallState) async throws(SessionError) {
        guard call.authorization.allowsRefresh else { return try await waitForToken(&call) }
        if let credential = tokens.freshCredential(for: call.authorization.owner) {
            return try assign(credential, to: &call)
        }
        try checkSession(of: call.authorization)
        // Once its refresh is due, a token no longer counts as fresh, but it is valid until it expires.
        switch await tokens.credential(for: call.authorization.owner) {
        case .success(let credential): try assign(credential, to: &call)
        case .failure(let error): if call.authorization.requirement == .required { throw error }
        }
    }

    /// Puts the call's token on the request of the next attempt.
    func attachToken(to request: inout HTTPRequest, for call: inout CallState) {
        guard let credential = call.authorization.credential else { return }
        call.authorization.credential = nil
        recordAttached(credential, for: &call)
        request.headerFields[tokens.scheme.header] = nil
        request.headerFields.append(field(with: credential.accessToken))
    }

    /// Records the credential that the request now carries.
    func recordAttached(_ credential: Credential, for call: inout CallState) {
        call.authorization.attached = credential
        call.context.stamp = credential.stamp
        call.authorization.awaitedAcceptance = awaitedAcceptance(of: credential, for: call)
    }

    /// The meaning that an acceptance of a token has for the manager; `nil` if it has none.
    private func awaitedAcceptance(of credential: Credential, for call: CallState) -> SessionStateMachine.Acceptance? {
        if let prober = credential.prober { return .probe(prober) }
        if let stamp = call.authorization.stampRejectedBeforeRefresh { return .replay(after: stamp) }
        return credential.isUnproven ? .first : nil
    }

    private func field(with token: Secret) -> HTTPField {
        lastField.withLock { last in
            if let last, last.token == token { return last.field }
            let field = tokens.scheme.field(with: token)
            last = (token, field)
            return field
        }
    }

    /// Whether a request needs another token, because the one that it carries has expired or was replaced while
    /// interceptors ran. A value that an interceptor has put in its place stays.
    /// - Parameter signed: The request as it was before the interceptors ran.
    @inline(never)
    func needsNewToken(_ request: HTTPRequest, signedAs signed: HTTPRequest, for call: CallState) -> Bool {
        guard let stamp = call.context.stamp, isOutdated(stamp, for: call.authorization),
            let token = tokens.scheme.token(in: signed.headerFields)?.reveal()
        else { return false }
        return request.headerFields.contains { Self.has(token, in: $0.value) }
    }

    /// Marks the token as sensitive wherever the app or its interceptors have put it, and what they have put in its
    /// place. Observers see these fields masked, and no redirect carries them to another origin.
    func markCredentials(in request: inout HTTPRequest, of call: CallState) {
        let token = (call.authorization.attached?.accessToken ?? tokens.currentAccessToken)?.reveal()
        for index in request.headerFields.indices {
            let field = request.headerFields[index]
            guard field.indexingStrategy != .disallow,
                field.name == tokens.scheme.header || token.map({ Self.has($0, in: field.value) }) == true
            else { continue }
            request.headerFields[index].indexingStrategy = .disallow
        }
    }

    /// Whether the value of a field contains a token, verbatim or within credentials of the Basic scheme (RFC 7617).
    @inline(never)
    private static func has(_ token: String, in value: String) -> Bool {
        guard value.utf8.count >= token.utf8.count else { return false }
        return value.contains(token)
            || value.split(separator: " ").contains { word in
                Data(base64Encoded: String(word)).map { String(decoding: $0, as: UTF8.self).contains(token) } ?? false
            }
    }

    /// Whether a request that has waited needs another token. If the call allows no refresh, only a replaced token
    /// counts.
    private func isOutdated(_ stamp: SessionStamp, for authorization: Authorization) -> Bool {
        authorization.allowsRefresh ? tokens.isOutdated(stamp) : tokens.isReplaced(stamp)
    }

    /// Gets a token to use in place of the call's token, which may be outdated.
    /// - Throws: ``SessionError`` if the token has expired and could not be refreshed, or if the session has ended.
    func renewToken(of call: inout CallState) async throws(SessionError) {
        switch await requestToken(for: call) {
        case .success(let newer): try assign(newer, to: &call)
        case .failure(let error): throw error
        }
    }

    /// Replaces an expired token on a request that is not adapted again.
    /// - Throws: ``SessionError/refreshFailed(_:)`` if an interceptor has written the token in another form.
    func replaceToken(
        on request: inout HTTPRequest, signedAs signed: HTTPRequest, for call: inout CallState
    ) throws(SessionError) {
        guard request.headerFields[tokens.scheme.header] == signed.headerFields[tokens.scheme.header] else {
            throw .refreshFailed(
                RefreshError(.timedOut, description: "the access token expired while the interceptors ran"))
        }
        attachToken(to: &request, for: &call)
    }

    /// Prepares a further request of the same attempt, for example after a redirect: since the previous one, the
    /// session of the call may have ended, and its token may have expired.
    /// - Parameter renewed: The credential that an earlier request of the attempt got. If this one gets another, it is
    ///   stored here.
    func prepareNextRequest(
        _ request: inout HTTPRequest, for authorization: Authorization, _ renewed: inout Credential?
    ) async throws(SessionError) {
        try checkSession(of: authorization)
        guard let attached = renewed ?? authorization.attached, isOutdated(attached.stamp, for: authorization),
            tokens.scheme.token(in: request.headerFields) == attached.accessToken
        else { return }
        let owner = authorization.owner
        let newer = try await
            (authorization.allowsRefresh ? tokens.credential(for: owner) : tokens.presentCredential(for: owner)).get()
        request.headerFields[tokens.scheme.header] = nil
        request.headerFields.append(field(with: newer.accessToken))
        renewed = newer
    }

    /// Whether a request still carries the token that was attached to it.
    func carriesToken(_ request: HTTPRequest, for call: CallState) -> Bool {
        guard call.context.stamp != nil, let attached = call.authorization.attached else { return false }
        return tokens.scheme.token(in: request.headerFields) == attached.accessToken
    }

    /// Detects whether an interceptor has put another credential in place of the token. If so, the response says
    /// nothing about the token. A token that an interceptor has moved elsewhere, or has put into another form within
    /// its field, still counts. So does one that is nowhere in the fields: it may be in the body or in a signature.
    /// With opaque tokens that live for seconds, the manager needs the rejections and acceptances of such calls.
    func noteReplacedToken(in request: HTTPRequest, for call: inout CallState) {
        guard call.context.stamp != nil, !carriesToken(request, for: call),
            let token = call.authorization.attached?.accessToken.reveal()
        else { return }
        let values = request.headerFields[fields: tokens.scheme.header].map(\.value)
        if !values.isEmpty, !values.contains(where: { Self.has(token, in: $0) }) { call.context.stamp = nil }
    }

    /// Whether a response says that the server does not accept the token.
    func isRejected(_ response: ServerResponse, to call: borrowing CallState) -> Bool {
        tokens.accessTokenRejection.isRejected(response, to: call.request)
    }

    /// Removes the token from a request that an interceptor has redirected to another origin, or turned into a TRACE.
    func removeToken(from request: inout HTTPRequest, for call: inout CallState) {
        guard call.context.stamp != nil else { return }
        request.headerFields[tokens.scheme.header] = nil
        call.context.stamp = nil
    }

    /// Fails the attempt if its response rejects its token and the call may be replayed. A call may be replayed if it
    /// has not been replayed yet, or if there is now a newer token. If the call allows no refresh, a rejection is a
    /// response like any other.
    ///
    /// At the first rejection, the request still holds its slot. The token is marked as rejected before the slot goes
    /// to the next call, which must not go out with the same token.
    ///
    /// Only a successful response counts as an acceptance of the token. An error such as 404 or 503 may come from a
    /// part of the server that does not check tokens.
    /// - Parameter mayReplay: `false` if the server has performed the request, so that a replay would repeat its
    ///   effect.
    func validate(
        _ response: ServerResponse, for call: inout CallState, mayReplay: Bool
    ) async throws(NetworkError) {
        guard isRejected(response, to: call) else {
            if let acceptance = call.authorization.awaitedAcceptance, StatusCodes.successful.contains(response.status),
                let stamp = call.context.stamp
            {
                tokens.reportAcceptance(of: stamp, acceptance)
            }
            return
        }
        guard let stamp = call.context.stamp else {
            if let reason = call.authorization.expiryReason {
                throw .sessionExpired(call.context.call, reason, response)
            }
            return
        }
        guard call.authorization.allowsRefresh else { return }
        guard mayReplay else {
            _ = tokens.reportRejection(of: stamp)
            return
        }
        if call.authorization.replays > 0 {
            guard call.authorization.replays < Authorization.maximumReplays, await tokens.hasSuccessor(of: stamp)
            else {
                if Task.isCancelled { throw .cancelled(call.context.call) }
                return
            }
        }
        call.authorization.isTokenRejected = true
        call.authorization.stampRejectedBeforeRefresh = tokens.reportRejection(of: stamp) ? stamp : nil
        throw .unauthorized(call.context.call, response)
    }

    /// Gets a token in place of the rejected one.
    /// - Returns: Whether the call must be sent again. `false` if the attempt failed for a reason other than its token.
    /// - Throws: ``NetworkError`` if there is no other token.
    func recover(_ call: inout CallState, from failure: NetworkError) async throws(NetworkError) -> Bool {
        guard call.authorization.isTokenRejected, let stamp = call.context.stamp, let response = failure.response
        else { return false }
        do {
            call.authorization.credential = try await tokens.credential(replacing: stamp).get()
            // Another caller may have refreshed the token while this body was sent, so it may not last for another
            // upload.
            if call.authorization.transferTime != nil { try await refreshIfNeeded(&call) }
            call.authorization.replays += 1
        } catch .refreshFailed where call.authorization.replays > 0 {
            // There is no newer token, so the caller gets the second rejection unchanged.
            return false
        } catch {
            throw NetworkError(error, for: call.context.call, response: response)
        }
        return true
    }

    private func assign(_ credential: Credential, to call: inout CallState) throws(SessionError) {
        let owner = call.authorization.owner
        if let session = owner.session {
            if session != credential.stamp.session { throw .sessionChanged }
        } else {
            // The store has been read since the call was made.
            call.authorization.owner = CallOwner(epoch: owner.epoch, signInState: .session(credential.stamp.session))
        }
        call.authorization.credential = credential
    }

    private func requestToken(for call: CallState) async -> Result<Credential, SessionError> {
        guard call.authorization.allowsRefresh else {
            return await tokens.presentCredential(for: call.authorization.owner)
        }
        let need = call.authorization.transferTime
        return await tokens.credential(lasting: need, for: call.authorization.owner, permission(of: call))
    }

    /// A probe tries a token that another endpoint has rejected, so it must be replayable. The response to a long
    /// upload would come too late for the waiting calls. An endpoint that needs no token may ignore a rejected one and
    /// perform the call without the user, so a write to it is never a probe.
    private func permission(of call: CallState) -> SessionStateMachine.ProbePermission {
        guard call.authorization.replays == 0, call.authorization.transferTime == nil, call.body?.isReplayable ?? true
        else { return .waits }
        if call.authorization.requirement == .required { return .mayProbe }
        return call.request.method.isGetOrHead ? .mayProbeLast : .waits
    }

    /// After the session has expired, a call that only reads may go out without a token. A call that writes must not:
    /// the user meant to write under their own account.
    private func mayGoWithoutToken(_ call: CallState) -> Bool {
        call.authorization.requirement == .ifSignedIn && call.authorization.owner.session == nil
            && call.request.method.isGetOrHead
    }
}

extension NetworkError {
    package init(_ error: SessionError, for call: CallDescription, response: ServerResponse? = nil) {
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
