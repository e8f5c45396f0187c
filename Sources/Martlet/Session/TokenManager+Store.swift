#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

// What follows runs in the store lane, one at a time.
extension TokenManager {
    typealias Sighting = SessionStateMachine.Sighting

    func load() async {
        await reading { seen in
            self.transition { machine in machine.loaded(seen) }
        }
    }

    func save(_ first: SessionStateMachine.SaveOrder) async {
        let (current, lock) = core.withLock { ($0.machine.current(first), $0.refreshLock) }
        guard let order = current else { return }
        let now = time.wallClock
        // Asked once nobody else can change the record: whoever has taken the lock away by then has seen the old one.
        let doubt: @Sendable () -> Date? = { lock.map { $0.isHeld } ?? true ? nil : now }
        let isDoneLate = await change(SessionStateMachine.write(order, doubtfulSince: doubt)) { seen, failure in
            self.transition { machine in machine.saved(order, over: seen, failure: failure) }
        }
        if isDoneLate { transition { machine in machine.writtenLate(order.record) } }
    }

    func condemn(_ order: SessionStateMachine.RefreshOrder) async {
        await change(SessionStateMachine.condemn(order)) { seen, failure in
            self.transition { machine in machine.condemned(order, over: seen, failure: failure) }
        }
    }

    func delete(_ deletion: SessionStateMachine.Deletion) async {
        if core.withLock({ $0.machine.isObsolete(deletion) }) { return }
        await change(SessionStateMachine.delete(deletion)) { seen, failure in
            var failure = failure
            if deletion.sparesUnreadable, case .unavailable(let why) = seen.reading { failure = failure ?? why }
            self.transition { [failure] machine in machine.deleted(deletion.id, over: seen, failure: failure) }
        }
    }

    /// Has something done in its turn that somebody waits for. Where the turn does not come, because the store does not come
    /// back from what it was asked before, that is told as a failure.
    /// - Returns: What starts the time for that, to be called with no lock held.
    func inTurn(
        _ operation: @escaping @Sendable (_ isLate: Bool) async -> Void,
        orElse report: @escaping @Sendable (StorageFailure) -> Void
    ) -> @Sendable () -> Void {
        storeLane.enqueue(within: policy.storeTimeout, by: storeLimits, operation) { [tooSlow] in report(tooSlow) }
    }

    /// Changes the record and tells what was there before, and why it could not be done.
    ///
    /// A store that takes too long is reported as one that failed, so that nobody waits for it for ever; but nobody else
    /// is let in before it is done, or an old record could come in after a new one.
    /// - Returns: Whether it was done after it had been reported as failed.
    @discardableResult
    func change(
        _ decide: @escaping @Sendable (StoreReading) -> StoreUpdate,
        then report: @escaping @Sendable (Sighting, StorageFailure?) -> Void
    ) async -> Bool {
        let seen = Locked<StoreReading?>(nil)
        let work = Task { [store] () -> StorageFailure? in
            // An app may sign in without having asked for a token before.
            watch()
            do {
                _ = try await store.update { reading in
                    seen.withLock { $0 = reading }
                    return decide(reading)
                }
                return nil
            } catch {
                return StorageFailure(wrapping: error)
            }
        }
        let result = await storeLimits.run(within: policy.storeTimeout) { await work.value }
        let failure: StorageFailure? =
            switch result {
            case .success(let failure): failure
            case .failure: tooSlow
            }
        let reading = seen.withLock { $0 } ?? .unavailable(failure ?? tooSlow)
        report(Sighting(reading: reading, life: life(in: reading)), failure)
        return await work.value == nil && failure != nil
    }

    private func reading(
        then report: @escaping @Sendable (Sighting) -> Void
    ) async {
        let work = Task { [store] in
            watch()
            return await store.read()
        }
        let result = await storeLimits.run(within: policy.storeTimeout) { await work.value }
        let reading = (try? result.get()) ?? .unavailable(tooSlow)
        let epoch = core.withLock { $0.machine.epoch }
        report(Sighting(reading: reading, life: life(in: reading)))
        let late = await work.value
        // A person takes longer to type a passcode than a store should take to answer.
        if case .failure = result {
            let seen = Sighting(reading: late, life: life(in: late))
            transition { core in
                core.machine.looked(seen, since: epoch)
            } then: { _ in
            }
        }
    }

    private var tooSlow: StorageFailure {
        StorageFailure(.unreachable, "it did not answer within \(policy.storeTimeout.inSeconds.shortText) s")
    }

    /// How long the token of a stored record is still good, which after a restart only the wall clock can tell.
    func life(in reading: StoreReading) -> TokenLife? {
        guard case .found(let record) = reading, let lifetime = record.lifetime, TokenLifetime.isSensible(lifetime),
            let left = record.freshUntil.flatMap({ Duration(untrusted: $0.timeIntervalSince(time.wallClock)) })
        else { return nil }
        let remaining = min(max(left, .zero), lifetime)
        return TokenLife(
            obtainedAt: time.uptime - (lifetime - remaining), lasting: lifetime, lifetime: lifetime, policy: policy,
            jitter: random(in: 0...1))
    }
}

// MARK: - What other processes do

extension TokenManager {
    /// Looks at the record whenever somebody may have changed it.
    private func watch() {
        // Nobody else does it meanwhile, as in the lane one thing is done at a time; and not under the lock, for a store may
        // do what it likes.
        guard core.withLock({ $0.watch == nil }), let changes = store.changes() else { return }
        let watch = Task { [weak self] in
            for await _ in changes {
                guard let self else { return }
                self.look()
            }
        }
        core.withLock { $0.watch = watch }
    }

    /// - Parameter failures: How often in a row there was nothing to be had from it.
    private func look(afterFailures failures: Int = 0) {
        storeLane.enqueue { await self.lookNow(afterFailures: failures) }
    }

    private func lookNow(afterFailures failures: Int) async {
        let epoch = core.withLock { $0.machine.epoch }
        await reading { seen in
            self.transition { core in
                core.machine.looked(seen, since: epoch)
            } then: { outcome in
                // Nobody says a second time that there is something to see.
                switch outcome {
                case .heeded: break
                case .outdated: self.look()
                case .notNow: self.lookAgain(afterFailures: failures + 1)
                }
            }
        }
    }

    /// One wait is enough for all who had nothing of their look.
    private func lookAgain(afterFailures failures: Int) {
        let isFirst = core.withLock { core in
            defer { core.awaitsLook = true }
            return !core.awaitsLook
        }
        guard isFirst else { return }
        let wait = policy.saveRetry(afterFailures: failures)
        Task { [weak self, time] in
            guard (try? await time.sleep(until: time.uptime + wait)) != nil else { return }
            self?.core.withLock { $0.awaitsLook = false }
            self?.look(afterFailures: failures)
        }
    }
}

extension StorageFailure {
    init(wrapping error: any Error) {
        self = error as? StorageFailure ?? StorageFailure(.unreachable, Redaction.redact(String(describing: error)))
    }
}
