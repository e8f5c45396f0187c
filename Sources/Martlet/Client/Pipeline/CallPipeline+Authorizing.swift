internal import HTTPTypes

/// The preconditions of an attempt: a token, a request slot and an origin.
extension CallPipeline {
    /// Waits for a token and then for a request slot, and returns when the request may be sent. With a fresh token and
    /// a free slot it checks the token once and does not suspend.
    ///
    /// If the server rejects a token that many calls use, only the calls that hold a slot are rejected. The calls that
    /// still wait for a slot go back and wait for the new token.
    /// - Returns: The slot that the call holds; `nil` if it holds none.
    func authorize(_ call: inout CallState) async throws -> ConcurrencyLimiter.Claim? {
        call.context.stamp = nil
        call.authorization.isTokenRejected = false
        let mayCarryToken = authorizer?.mayAuthorize(call) == true
        if let authorizer, authorizer.tokens.isRefreshingHere {
            if mayCarryToken { try await authorizer.takeTokenInsideRefresh(&call) }
            // A refresher's own call must not queue behind the calls that wait for the refresh.
            return nil
        }
        var slot: ConcurrencyLimiter.Claim? = ConcurrencyLimiter.Claim(
            origin: call.context.origin, isLasting: call.receiver != nil)
        guard let authorizer, mayCarryToken else {
            if !take(&slot) { try await slots.wait(for: slot) }
            return slot
        }
        while true {
            let isFresh = try authorizer.takeFreshToken(&call)
            if !isFresh { try await authorizer.waitForToken(&call) }
            let hasQueued = !take(&slot)
            if hasQueued { try await slots.wait(for: slot) } else if isFresh { return slot }
            do {
                if try authorizer.revalidateToken(for: &call) {
                    // The token may have expired while the call waited for it to be handed over, or for the slot.
                    try await authorizer.refreshIfNeeded(&call)
                    return slot
                }
            } catch {
                slot.map { slots.release($0) }
                throw error
            }
            slot.map { slots.release($0) }
        }
    }

    /// Takes a slot if one is free, or gives up the claim if the call must not wait for one.
    /// - Returns: `false` if the call must wait.
    private func take(_ slot: inout ConcurrencyLimiter.Claim?) -> Bool {
        if slots.take(slot) { return true }
        // A hook's own call must not wait for the slot that the hook's call holds. Nor must a sign-in that a hook may
        // be waiting for.
        guard slots.isHeldByHook || SignInGate.isSigningIn else { return false }
        slot = nil
        return true
    }

    /// The origin of an adapted request. If an interceptor has changed it, the token is removed.
    func origin(
        of request: inout HTTPRequest, adaptedFrom call: inout CallState, _ recipient: Recipient
    ) throws -> Origin {
        guard !request.hasSameOrigin(as: call.request) else { return call.context.origin }
        let target = try origin(of: request)
        guard target != call.context.origin else { return target }
        let fields = request.headerFields
        authorizer?.removeToken(from: &request, for: &call)
        // For a third party the token has been removed already. The fields that the interceptor has put in its place
        // stay.
        if case .thirdParty = recipient { request.headerFields = fields }
        return target
    }

    func origin(of request: HTTPRequest) throws -> Origin {
        let url = "\(request.scheme ?? "https")://\(request.authority ?? "")"
        let origin = try Location.parse(url).get().origin
        guard attemptRunner.allowsInsecureHTTP || !origin.isInsecure else {
            throw Redirect.Refusal.insecure(url: "\(origin)")
        }
        return origin
    }
}
