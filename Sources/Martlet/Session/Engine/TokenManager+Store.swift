#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension TokenManager {
    typealias StoreTask = SessionStateMachine.StoreTask
    typealias StoreDecision = SessionStateMachine.StoreDecision

    /// Asks the store and reports its answer to the machine. It never blocks, so it may be called with the lock held.
    /// - Parameters:
    ///   - asked: The subject of the task now: when its time limit expires before its turn, there may be another
    ///     session. `nil` if the session at that time is its subject.
    ///   - done: Called after that with the content that the store had, unless the task was not needed any more.
    func submit(
        _ task: StoreTask, asked: StoreDecision? = nil, done: @escaping @Sendable (StoreReading) -> Void = { _ in }
    ) {
        let last = Locked<StoreDecision?>(nil)
        storePort.submit { isLate in
            let undecided = self.core.withLock { core in
                if task == .read { core.hasQueuedRead = false }
                return core.machine.needs(task, isLate: isLate) ? core.machine.undecided(task) : nil
            }
            guard let undecided else { return nil }
            // Watch before an update too: an app may sign in before anything reads the store.
            self.watch()
            if task == .read {
                last.withLock { $0 = undecided }
                return .read
            }
            return .update { reading in
                let decision = self.decide(task, over: reading)
                last.withLock { $0 = decision }
                return decision.update
            }
        } answer: { answer in
            self.report(answer, to: task, last.withLock { $0 } ?? asked)
            done(answer.reading)
        } late: { answer in
            guard let decision = last.withLock({ $0 }) else { return }
            let snapshot = self.snapshot(of: answer.content)
            self.transition { machine in machine.storeAnsweredLate(task, decision, snapshot) }
        }
    }

    /// Asks the store, waits until the machine has the answer, and returns the content that the store had. The wait
    /// ends with the store's time limit at the latest. Only for a task that is needed until then.
    @discardableResult
    func perform(_ task: StoreTask) async -> StoreReading {
        await withCheckedContinuation { continuation in
            submit(task) { continuation.resume(returning: $0) }
        }
    }

    /// Reports an answer of the store to the machine.
    func report(_ answer: StorePort.Answer, to task: StoreTask, _ decision: StoreDecision? = nil) {
        let (snapshot, moment) = (snapshot(of: answer.reading), moment)
        transition { machine in
            machine.storeAnswered(
                task, decision ?? machine.undecided(task), over: snapshot, failure: answer.failure, at: moment)
        }
    }

    /// The present moment: the clocks and a random number.
    var moment: SessionStateMachine.Moment {
        SessionStateMachine.Moment(uptime: time.uptime, wallClock: time.wallClock, jitter: random(in: 0...1))
    }

    /// The machine's decision about the record. It is made within the store's transaction, where the lock between
    /// processes can be checked: the thread of the store may block, and no other process can change the record.
    private func decide(_ task: StoreTask, over reading: StoreReading) -> StoreDecision {
        let lock = core.withLock { $0.refreshLock }
        // A refresh whose lock cannot be acquired continues without one.
        let hasLostLock = lock.map { !$0.isHeld } ?? (store.lock != nil && task.needsLock)
        let now = time.wallClock
        return core.withLock { $0.machine.decide(task, over: reading, hasLostLock: hasLostLock, at: now) }
    }

    /// A record with the deadlines of its token, estimated from the wall clock: the uptime at which another process or an
    /// earlier launch received the token is unknown.
    func snapshot(of reading: StoreReading) -> SessionStateMachine.StoreSnapshot {
        guard case .found(let record) = reading, let lifetime = record.lifetime, TokenLifetime.isPlausible(lifetime),
            let left = record.estimatedExpiry.flatMap({ Duration(untrusted: $0.timeIntervalSince(time.wallClock)) })
        else { return SessionStateMachine.StoreSnapshot(reading: reading, deadlines: nil) }
        let remaining = min(max(left, .zero), lifetime)
        return SessionStateMachine.StoreSnapshot(
            reading: reading,
            deadlines: TokenDeadlines(
                obtainedAt: time.uptime - (lifetime - remaining), remaining: lifetime, lifetime: lifetime,
                policy: policy, jitter: random(in: 0...1)))
    }

    /// Starts watching the store for changes by other processes, once.
    private func watch() {
        // Only the store port calls this, one operation at a time. The lock is not held, because the store is code of
        // the app.
        guard core.withLock({ $0.watch == nil }), let changes = store.changes() else { return }
        (store as? any FileWatching)?.watchedFile?.onFailure { [weak self] failure in
            self?.publish(.storeWatchFailed(failure))
        }
        let watch = Task { [weak self] in
            for await _ in changes {
                guard let self else { return }
                // One reading that has not begun covers all changes so far, however long the store hangs.
                let isFirst = self.core.withLock { core in
                    defer { core.hasQueuedRead = true }
                    return !core.hasQueuedRead
                }
                if isFirst { self.submit(.read) }
            }
        }
        core.withLock { $0.watch = watch }
    }
}
