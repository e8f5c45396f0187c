#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

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
        let outcome = core.withLock { core in
            let outcome = event(&core)
            for action in core.machine.takeActions() {
                if case .resume(let waiters, let answer) = action {
                    woken += waiters.compactMap { core.waiting.removeValue(forKey: $0) }.map { ($0, answer) }
                } else {
                    start(action, &core)
                }
            }
            core.hot = core.machine.hotCredential
            if let state = core.machine.visibleState(at: now), state != core.state {
                core.state = state
                core.states.send(state)
            }
            return outcome
        }
        for (continuation, answer) in woken { continuation.resume(returning: answer) }
        finish(outcome)
    }

    /// Starts an action without waiting for it; the lock is held, so that actions start in the order of events.
    private func start(_ action: SessionStateMachine.Action, _ core: inout Core) {
        switch action {
        case .load: storeLane.enqueue { await self.load() }
        case .save(let order, let record): storeLane.enqueue { await self.save(order, record) }
        case .delete: storeLane.enqueue { await self.delete(failures: 0) }
        case .refresh(let order): Task { await self.perform(order) }
        case .retrySave(let wait):
            Task {
                guard (try? await self.time.sleep(until: self.time.uptime + wait)) != nil else { return }
                self.transition { machine in machine.saveRetryDue() }
            }
        case .revoke(let bundle): Task { await self.revoke(bundle) }
        case .emit(let event): core.events.send(event)
        case .resume: break
        }
    }

    private func load() async {
        let reading = await store.read()
        var life: TokenLife?
        if case .found(let record) = reading, let lifetime = record.lifetime, TokenLifetime.isSensible(lifetime),
            let left = record.freshUntil.flatMap({ Duration(untrusted: $0.timeIntervalSince(time.wallClock)) })
        {
            let remaining = min(max(left, .zero), lifetime)
            life = TokenLife(
                obtainedAt: time.uptime - (lifetime - remaining), lasting: lifetime, lifetime: lifetime, policy: policy,
                jitter: random(in: 0...1))
        }
        let found = life
        transition { machine in machine.loaded(reading, life: found) }
    }

    private func save(_ order: Int, _ record: StoredSession) async {
        var failure: StorageFailure?
        do {
            try await store.write(record)
        } catch {
            failure = StorageFailure(wrapping: error)
        }
        let outcome = failure
        transition { machine in machine.saved(order, failure: outcome) }
    }

    private func delete(failures: Int) async {
        do {
            try await store.delete()
            core.withLock { core in
                if core.isDeleteFailing { core.events.send(.storeRecovered(nil)) }
                core.isDeleteFailing = false
            }
        } catch {
            core.withLock { core in
                core.isDeleteFailing = true
                core.events.send(.storeFailed(.delete, StorageFailure(wrapping: error)))
            }
            let wait = min(policy.firstSaveRetry * (1 << min(failures, 20)), policy.maximumCoolDown)
            Task {
                guard (try? await self.time.sleep(until: self.time.uptime + wait)) != nil else { return }
                self.storeLane.enqueue {
                    // A new session's record takes the old one's place by itself.
                    guard self.core.withLock({ $0.machine.currentRecord == nil && $0.isDeleteFailing }) else { return }
                    await self.delete(failures: failures + 1)
                }
            }
        }
    }

    private func perform(_ order: SessionStateMachine.RefreshOrder) async {
        let refreshing = Self.refreshing.union([ObjectIdentifier(self)])
        let result = await Self.$refreshing.withValue(refreshing) {
            await limits.run(within: policy.refreshTimeout) { [refresher, lane] in
                try await refresher.refresh(order.bundle, over: lane)
            }
        }
        let outcome = SessionStateMachine.RefreshOutcome(result, wallClock: time.wallClock)
        let now = time.uptime
        let jitter = random(in: 0...1)
        transition { machine in machine.refreshFinished(order, outcome, at: now, jitter: jitter) }
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
                core.withLock { $0.events.send(.revoked) }
                return
            case .failure(let error):
                let why = Redaction.redact(String(describing: error))
                core.withLock { $0.events.send(.revocationFailed(why)) }
            }
            guard attempt < 6, (try? await time.sleep(until: time.uptime + wait)) != nil else { return }
            wait = min(wait * 4, policy.maximumRetryAfter)
        }
    }
}

extension SessionStateMachine.RefreshOutcome {
    /// Sorts what a refresher returned or threw: only a rejection is final.
    init(_ result: Result<RefreshedTokens, any Error>, wallClock: Date) {
        switch result {
        case .success(let tokens):
            let known = TokenLifetime(of: tokens.bundle, serverDate: tokens.serverDate, wallClock: wallClock)
            self = .success(
                tokens.bundle, known,
                freshUntil: known.map { wallClock.addingTimeInterval($0.remaining.inSeconds) })
        case .failure(let rejection as RefreshRejection):
            self = .terminal(.refreshTokenRejected(code: rejection.code.map(Redaction.redact)))
        case .failure(let failure as RefreshFailure):
            self = .transient(failure)
        case .failure(let error as TimeLimitReached):
            self = .transient(
                RefreshFailure(
                    .timedOut,
                    description: "the token endpoint did not answer within \(error.limit.inSeconds.shortText) s"))
        case .failure(let error):
            self = .transient(RefreshFailure(.refresher, description: Redaction.redact(String(describing: error))))
        }
    }
}

extension StorageFailure {
    init(wrapping error: any Error) {
        self = error as? StorageFailure ?? StorageFailure(.unreachable, Redaction.redact(String(describing: error)))
    }
}
