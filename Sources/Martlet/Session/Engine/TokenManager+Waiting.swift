extension TokenManager {
    /// A caller's request to the machine; takes the caller's ID and the current uptime.
    typealias MachineRequest = @Sendable (inout SessionStateMachine, Int, Duration) -> SessionStateMachine.WaiterReply

    /// Whether the current task is part of a refresh by this manager. Waiting for that refresh would be a deadlock.
    var isRefreshingHere: Bool { refreshOwner != nil }

    /// The session that the current task refreshes as a part of this manager's refresh.
    var refreshOwner: CallOwner? { Self.refreshing[ObjectIdentifier(self)] }

    /// Sends a request to the machine, and repeats it for as long as the machine asks for that.
    func resolve(_ ask: @escaping MachineRequest) async -> Result<Credential, SessionError> {
        guard !isRefreshingHere else {
            return .failure(
                .refreshFailed(
                    RefreshError(
                        .refresher,
                        description: "the refresher asked for the token that it is refreshing; send its requests with"
                            + " the client that it is given")))
        }
        var ask = ask
        while true {
            switch await wait(ask) {
            case .token(let credential): return .success(credential)
            case .failure(let error): return .failure(error)
            case .refreshedElsewhere(let session):
                ask = { machine, waiter, now in machine.tokenRequested(for: session, by: waiter, at: now) }
            case .askAgain, .wait: continue
            }
        }
    }

    /// Whether a token that the server has rejected for a replay is not the newest, or is being replaced. If other
    /// processes share the store, it is read first, because their report of a change may not have arrived yet.
    func hasSuccessor(of stamp: SessionStamp) async -> Bool {
        if core.withLock({ $0.machine.hasSuccessor(of: stamp) }) { return true }
        guard store.lock != nil, !isRefreshingHere else { return false }
        // A reading that is under way may have begun before the other process wrote.
        if lookups.waiting > 0 { _ = await lookups.run { [self] in await perform(.read) } }
        let reading = await lookups.run { [self] in await perform(.read) }
        if core.withLock({ $0.machine.hasSuccessor(of: stamp) }) { return true }
        // Another process has sent the refresh token, and the server may have replaced the access token already.
        guard case .found(let record)? = reading, record.stamp == stamp else { return false }
        return record.unresolvedJournal != nil
    }

    /// Sends an event to the machine and suspends until it replies. A cancelled task returns at once.
    func wait(_ ask: @escaping MachineRequest) async -> SessionStateMachine.WaiterReply {
        let waiter = core.withLock { $0.machine.makeID() }
        let reply = await withTaskCancellationHandler {
            await withCheckedContinuation {
                (continuation: CheckedContinuation<SessionStateMachine.WaiterReply, Never>) in
                let now = time.uptime
                let reply = transitionCore { core -> SessionStateMachine.WaiterReply in
                    guard !core.cancelledEarly.contains(waiter) else { return .failure(.cancelled) }
                    let reply = ask(&core.machine, waiter, now)
                    if reply == .wait { core.waiting[waiter] = continuation }
                    return reply
                }
                if reply == .wait { lendPriority() } else { continuation.resume(returning: reply) }
            }
        } onCancel: {
            let continuation = core.withLock { core -> CheckedContinuation<SessionStateMachine.WaiterReply, Never>? in
                core.cancelledEarly.insert(waiter)
                guard core.machine.waiterCancelled(waiter) else { return nil }
                return core.waiting.removeValue(forKey: waiter)
            }
            continuation?.resume(returning: .failure(.cancelled))
        }
        if Task.isCancelled { core.withLock { _ = $0.cancelledEarly.remove(waiter) } }
        return reply
    }
}
