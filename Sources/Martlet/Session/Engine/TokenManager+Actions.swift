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
        var unlocked: [@Sendable () -> Void] = []
        var endings: [@Sendable () -> Void] = []
        let outcome = core.withLock { core in
            let outcome = event(&core)
            for action in core.machine.takeActions() {
                switch action {
                case .resume(let waiters, let reply):
                    woken += waiters.compactMap { core.waiting.removeValue(forKey: $0) }.map { ($0, reply) }
                case .emit(let event): listeners += core.events.send(event)
                default:
                    if case .refresh = action { core.startingPriority = Task.currentPriority }
                    if let step = start(action, core.machine) { unlocked.append(step) }
                }
            }
            core.copyMachine()
            endings = core.endings.takeDue(core.machine)
            if let state = core.machine.visibleState(at: now), state != core.state {
                core.state = state
                listeners += core.states.send(state)
            }
            return outcome
        }
        for step in unlocked { step() }
        listeners.wake()
        for (continuation, reply) in woken { continuation.resume(returning: reply) }
        for perform in endings { perform() }
        return outcome
    }

    /// Starts an action without waiting for it. The lock is held, so that actions start in the order of the events.
    /// - Returns: The work that must be done without the lock, because it reads the clock, which may be the app's own
    ///   code.
    private func start(
        _ action: SessionStateMachine.Action, _ machine: borrowing SessionStateMachine
    ) -> (@Sendable () -> Void)? {
        switch action {
        case .store(.read):
            submit(.read)
        case .store(let task):
            submit(task, asked: machine.undecided(task))
        case .retryStore(let wait, let hasWork):
            // A session that is not stored yet must not be lost, even if the app has dropped the manager.
            let owner = hasWork ? self : nil
            Task { [weak self, time] in
                guard (try? await time.sleep(until: time.uptime + wait)) != nil else { return }
                (owner ?? self)?.transition { machine in machine.storeRetryDue() }
            }
        case .refresh(let job):
            return { self.startRefresh(job) }
        case .revoke(let bundle, let expiresAt):
            revocations.start(bundle, expiringAt: expiresAt) { event in self.publish(event) }
        case .awaitNetwork:
            // A monitor is the app's own code, too.
            return {
                self.networkReturn.callOnce { [weak self] in self?.transition { machine in machine.networkReturned() } }
            }
        case .probe(let deadline):
            Task { [weak self, time] in
                guard (try? await time.sleep(until: deadline)) != nil else { return }
                let now = time.uptime
                self?.transition { machine in machine.probeDue(at: now) }
            }
        case .emit, .resume: break
        }
        return nil
    }

    /// Starts a refresh in a detached task: no task-local of the caller that happens to start it may reach the refresher.
    func startRefresh(_ job: SessionStateMachine.RefreshJob) {
        let own = Task.currentPriority
        core.withLock { core in
            let priority = max(core.startingPriority ?? own, own)
            core.startingPriority = nil
            let task = Task.detached(priority: priority) { [previous = core.refresh?.task] in
                await self.performRefresh(job, after: previous)
            }
            core.refresh = RunningRefresh(task: task, priority: priority)
        }
    }

    /// Raises the priority of the refresh in progress and of the store's operations to that of a caller that waits.
    func lendPriority() {
        let priority = Task.currentPriority
        storePort.escalate(to: priority)
        let refresh = core.withLock { core -> RunningRefresh? in
            if let starting = core.startingPriority {
                core.startingPriority = max(starting, priority)
                return nil
            }
            guard let refresh = core.refresh, refresh.priority < priority else { return nil }
            core.refresh?.priority = priority
            return refresh
        }
        guard let refresh else { return }
        // A task that waits for another one lends it its priority.
        refresh.escalateStep?(priority)
        Task.detached(priority: priority) { await refresh.task.value }
    }

    /// Publishes an event that does not come from the machine.
    func publish(_ event: SessionEvent) {
        core.withLock { $0.events.send(event) }.wake()
    }
}
