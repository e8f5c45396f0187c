/// A request slot that is released with the last reference to it, for a response body that is read after its call.
final class RequestSlot: Sendable {
    private let release: @Sendable () -> Void

    init(_ release: @escaping @Sendable () -> Void) {
        self.release = release
    }

    deinit { release() }
}

extension CallPipeline {
    /// Releases the slot of an attempt.
    ///
    /// A quick success opens the reserve, unless the call carried no token while others do: it does not tell whether the
    /// server still accepts the token.
    /// - Parameter hasSucceeded: Whether the server's response was acceptable; `nil` if the server was not asked.
    func release(
        _ claim: ConcurrencyLimiter.Claim, heldSince started: Duration, by call: CallState, hasSucceeded: Bool?
    ) {
        guard let hasSucceeded else { return slots.release(claim) }
        guard hasSucceeded else { return slots.release(claim, opensReserve: false) }
        guard authorizer == nil || call.context.stamp != nil else { return slots.release(claim) }
        // Those in reserve then wait for about a second at most.
        slots.release(claim, opensReserve: time.uptime - started < .milliseconds(250))
    }
}
