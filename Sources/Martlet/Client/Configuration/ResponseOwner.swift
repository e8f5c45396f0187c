/// The owner of what a response leaves behind in a client: cookies, stored responses and results that calls share.
///
/// It is determined once, when the call is made. Each sign-in, sign-out and expiry starts a new owner, and so does
/// emptying the jar or the cache. Cookies and responses that arrive for an earlier owner are dropped.
struct ResponseOwner: Hashable, Sendable {
    /// The number of the manager; `nil` for a client without one. All such clients share what they leave in a jar or a
    /// cache.
    let manager: Int?
    /// The sign-in state; unbound without a manager.
    fileprivate(set) var state: CallOwner
    let timesJarEmptied: Int
    let timesCacheEmptied: Int
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
        let times = timesEmptied
        return ResponseOwner(
            manager: tokens?.number, state: owner.isBound ? owner : tokens?.currentOwner ?? owner,
            timesJarEmptied: times.jar, timesCacheEmptied: times.cache)
    }

    /// How often the app has emptied the cookie jar and the cache.
    var timesEmptied: (jar: Int, cache: Int) {
        (config.cookies?.timesEmptied ?? 0, config.cache?.timesEmptied ?? 0)
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

extension TokenManager {
    /// Whether the sign-in state of an owner is still current.
    func isCurrent(_ owner: ResponseOwner) -> Bool {
        epoch == owner.state.epoch && endError(for: owner.state) == nil
    }
}
