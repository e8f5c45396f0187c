/// The owner of what a response leaves behind in a client: cookies, stored responses and results that calls share.
///
/// It is determined once, when the call is made. Each sign-in, sign-out and expiry starts a new owner, and so does
/// emptying the jar or the cache. Cookies and responses that arrive for an earlier owner are dropped. The session that
/// a sign-in starts takes over the cookies that were set before it.
struct ResponseOwner: Hashable, Sendable {
    /// The number of the manager; `nil` for a client without one. All such clients share what they leave in a jar or a
    /// cache.
    let manager: Int?
    /// The sign-in state; unbound without a manager.
    fileprivate(set) var state: CallOwner
    let timesEmptied: TimesEmptied
}

/// How often the app has emptied the jar and the cache of a client.
struct TimesEmptied: Hashable, Sendable {
    var jar = 0
    var cache = 0
}

/// The objects in which the responses of a client leave something behind, and the manager whose sign-in states limit
/// how long it is kept.
struct ResponseStorage: Sendable {
    let tokens: TokenManager?
    let jar: CookieJar?
    let cache: HTTPCache?

    var timesEmptied: TimesEmptied {
        TimesEmptied(jar: jar?.timesEmptied ?? 0, cache: cache?.timesEmptied ?? 0)
    }

    /// Whether an owner is still current: its sign-in state lasts, and the app has emptied neither the jar nor the
    /// cache since the call was made. May be called while the jar or the cache is locked.
    func isCurrent(_ owner: ResponseOwner) -> Bool {
        owner.timesEmptied == timesEmptied && tokens?.isOver(owner.state) != true
    }
}

extension ResponseOwner {
    /// The same owner with the session that was found for the call. The counts stay: the jar or the cache may have been
    /// emptied since the call was made.
    func continued(by state: CallOwner) -> ResponseOwner {
        guard state.isBound else { return self }
        var owner = self
        owner.state = state
        return owner
    }
}

extension CallPipeline {
    /// Whether responses leave something behind in this client.
    var keepsResponses: Bool { config.cookies != nil || config.cache != nil || joined != nil }

    /// The owner of what the response leaves behind, for a call that is made now; `nil` if this client keeps nothing.
    /// - Parameter owner: The owner of the call. If the call needs no session, the current sign-in state counts.
    func responseOwner(for owner: CallOwner) -> ResponseOwner? {
        guard keepsResponses else { return nil }
        return ResponseOwner(
            manager: tokens?.number, state: owner.isBound ? owner : tokens?.currentOwner ?? owner,
            timesEmptied: responseStorage.timesEmptied)
    }

    var responseStorage: ResponseStorage {
        ResponseStorage(tokens: tokens, jar: config.cookies, cache: config.cache)
    }

    /// The owner with the session, if the store has been read since the call was made.
    func resolved(_ owner: ResponseOwner, for call: CallState) -> ResponseOwner {
        guard owner.state.signInState == .unknown else { return owner }
        let known = call.authorization.owner
        let state = known.isBound ? known : tokens?.currentOwner ?? known
        guard state.epoch == owner.state.epoch else { return owner }
        var resolved = owner
        resolved.state = state
        return resolved
    }
}

extension NetworkClient {
    /// The stored form of a call's owner. The owner of a client without a manager has no session, and its generation
    /// ends with the process.
    /// - Throws: An error if the owner has ended.
    package func storedOwner(of owner: CallOwner) async throws(SessionError) -> StoredOwner {
        guard let tokens else { return .noUser }
        return try await tokens.storedOwner(of: owner)
    }
}
