extension TokenManager {
    func transition(_ event: (inout SessionStateMachine) -> Void) {
        transition({ event(&$0.machine) }, then: { _ in })
    }

    /// Runs an event under the lock, starts in order what the machine asks for, and wakes the waiters afterwards.
    func transition<Outcome: Sendable>(
        _ event: (inout Core) -> Outcome, then finish: (Outcome) -> Void
    ) {
        let now = time.uptime
        var woken: [(CheckedContinuation<SessionStateMachine.Answer, Never>, SessionStateMachine.Answer)] = []
        var listeners = Wakeups()
        var clocks: [@Sendable () -> Void] = []
        let outcome = core.withLock { core in
            let outcome = event(&core)
            for action in core.machine.takeActions() {
                switch action {
                case .resume(let waiters, let answer):
                    woken += waiters.compactMap { core.waiting.removeValue(forKey: $0) }.map { ($0, answer) }
                case .emit(let event): listeners += core.events.tell(event)
                default: if let clock = start(action) { clocks.append(clock) }
                }
            }
            core.hot = core.machine.hotCredential
            if let state = core.machine.visibleState(at: now), state != core.state {
                core.state = state
                listeners += core.states.tell(state)
            }
            return outcome
        }
        for start in clocks { start() }
        listeners.wake()
        for (continuation, answer) in woken { continuation.resume(returning: answer) }
        finish(outcome)
    }

    /// Starts an action without waiting for it; the lock is held, so that actions start in the order of events.
    /// - Returns: What starts the time in which its turn is to come, to be called without the lock.
    private func start(_ action: SessionStateMachine.Action) -> (@Sendable () -> Void)? {
        switch action {
        case .load:
            return inTurn { isLate in
                // Nobody waits for it any more, and whoever asks next has it read anew.
                if !isLate { await self.load() }
            } orElse: { failure in
                self.transition { machine in machine.loaded(.unavailable(failure)) }
            }
        case .save(let order):
            return inTurn { _ in
                await self.save(order)
            } orElse: { failure in
                self.transition { machine in machine.saveDelayed(order, failure) }
            }
        case .condemn(let order):
            return inTurn { isLate in
                // That the record is to go has been noted as a deletion by now.
                if !isLate { await self.condemn(order) }
            } orElse: { failure in
                self.transition { machine in machine.condemned(order, over: .unavailable(failure), failure: failure) }
            }
        case .delete(let deletion):
            return inTurn { _ in
                await self.delete(deletion)
            } orElse: { failure in
                self.transition { machine in machine.deletionDelayed(deletion.id, failure) }
            }
        case .clearJournal(let record):
            storeLane.enqueue { await self.change(SessionStateMachine.clearJournal(of: record)) { _, _ in } }
        case .refresh(let order): Task { await self.perform(order) }
        case .retrySave(let wait): after(wait) { $0.saveRetryDue() }
        case .retryDelete(let id, let wait): after(wait) { $0.deleteRetryDue(id) }
        case .revoke(let bundle): Task { await self.revoke(bundle) }
        case .emit, .resume: break
        }
        return nil
    }

    /// Tells a step that the machine has no part in.
    func tell(_ event: SessionEvent) {
        core.withLock { $0.events.tell(event) }.wake()
    }

    private func after(_ wait: Duration, _ event: @escaping @Sendable (inout SessionStateMachine) -> Void) {
        Task {
            guard (try? await self.time.sleep(until: self.time.uptime + wait)) != nil else { return }
            self.transition(event)
        }
    }

    /// Tries a few times, further and further apart: a user may well sign out while offline.
    private func revoke(_ bundle: TokenBundle) async {
        guard let revoker else { return }
        var wait = policy.firstCoolDown
        for attempt in 1...6 {
            let result = await limits.run(within: policy.refreshTimeout) { [lane] in
                try await revoker.revoke(bundle, over: lane)
            }
            switch result {
            case .success:
                tell(.revoked)
                return
            case .failure(let error):
                let why = Redaction.redact(String(describing: error))
                tell(.revocationFailed(why))
            }
            guard attempt < 6, (try? await time.sleep(until: time.uptime + wait)) != nil else { return }
            wait = min(wait * 4, policy.maximumRetryAfter)
        }
    }
}
