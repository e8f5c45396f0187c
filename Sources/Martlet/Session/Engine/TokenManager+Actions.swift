extension TokenManager {
    /// Sends an event to the machine and starts the resulting actions in order. Waiters are resumed without the lock.
    /// - Returns: The machine's answer.
    @discardableResult
    func transition<Outcome: Sendable>(_ event: (inout SessionStateMachine) -> Outcome) -> Outcome {
        transitionCore { core in event(&core.machine) }
    }

    /// Runs an event that also concerns the manager's own state.
    @discardableResult
    func transitionCore<Outcome: Sendable>(_ event: (inout Core) -> Outcome) -> Outcome {
        let now = time.uptime
        var woken: [(CheckedContinuation<SessionStateMachine.WaiterReply, Never>, SessionStateMachine.WaiterReply)] = []
        var listeners = Wakeups()
        var clocks: [@Sendable () -> Void] = []
        var endings: [TokenManager.Ending] = []
        let outcome = core.withLock { core in
            let outcome = event(&core)
            for action in core.machine.takeActions() {
                switch action {
                case .resume(let waiters, let reply):
                    woken += waiters.compactMap { core.waiting.removeValue(forKey: $0) }.map { ($0, reply) }
                case .emit(let event): listeners += core.events.send(event)
                default: if let clock = start(action) { clocks.append(clock) }
                }
            }
            core.cached = core.machine.cachedCredential
            core.owner = core.machine.callOwner
            endings = core.takeEndings()
            if let state = core.machine.visibleState(at: now), state != core.state {
                core.state = state
                listeners += core.states.send(state)
            }
            return outcome
        }
        for start in clocks { start() }
        listeners.wake()
        for (continuation, reply) in woken { continuation.resume(returning: reply) }
        for ending in endings { ending.perform() }
        return outcome
    }

    /// Starts an action without waiting for it. The lock is held, so that actions start in the order of the events.
    /// - Returns: A closure that starts the clock of the action's delay, to be called without the lock.
    private func start(_ action: SessionStateMachine.Action) -> (@Sendable () -> Void)? {
        switch action {
        case .load:
            return enqueueOnStore { isLate in
                // The delay was reported as a failure, and the next caller triggers another read.
                if !isLate { await self.load() }
            } onDelay: { failure in
                self.transition { machine in machine.loaded(.unavailable(failure)) }
            }
        case .save(let job):
            return enqueueOnStore { _ in
                await self.save(job)
            } onDelay: { failure in
                self.transition { machine in machine.saveDelayed(job, failure) }
            }
        case .confirmExpiry(let job):
            return enqueueOnStore { isLate in
                // The delay was reported as a failure, and a deletion of the record is pending instead.
                if !isLate { await self.confirmExpiry(job) }
            } onDelay: { failure in
                self.transition { machine in
                    machine.expiryCheckFinished(job, over: .unavailable(failure), failure: failure)
                }
            }
        case .delete(let deletion):
            return enqueueOnStore { _ in
                await self.delete(deletion)
            } onDelay: { failure in
                self.transition { machine in machine.deletionDelayed(deletion.id, failure) }
            }
        case .clearJournal(let record):
            storeQueue.enqueue {
                await self.updateRecord(SessionStateMachine.journalClearingDecision(of: record)) { _, _ in }
            }
        case .refresh(let job): Task { await self.performRefresh(job) }
        case .retrySave(let wait): after(wait) { $0.saveRetryDue() }
        case .retryDelete(let id, let wait): after(wait) { $0.deleteRetryDue(id) }
        case .revoke(let bundle): Task { await self.revoke(bundle) }
        case .emit, .resume: break
        }
        return nil
    }

    /// Publishes an event that does not come from the machine.
    func publish(_ event: SessionEvent) {
        core.withLock { $0.events.send(event) }.wake()
    }

    /// Sends an event to the machine after a delay.
    private func after(_ wait: Duration, _ event: @escaping @Sendable (inout SessionStateMachine) -> Void) {
        Task {
            guard (try? await self.time.sleep(until: self.time.uptime + wait)) != nil else { return }
            self.transition(event)
        }
    }

    /// Revokes tokens, with a few retries at growing intervals: a user may sign out while offline.
    private func revoke(_ bundle: TokenBundle) async {
        guard let revoker else { return }
        var wait = policy.firstBackoff
        for attempt in 1...6 {
            let result = await limits.run(within: policy.refreshTimeout) { [tokenEndpoint] in
                try await revoker.revoke(bundle, over: tokenEndpoint)
            }
            switch result {
            case .success:
                publish(.revoked)
                return
            case .failure(let error):
                publish(.revocationFailed(Redaction.redact(String(describing: error))))
            }
            guard attempt < 6, (try? await time.sleep(until: time.uptime + wait)) != nil else { return }
            wait = min(wait * 4, policy.maximumRetryAfter)
        }
    }
}
