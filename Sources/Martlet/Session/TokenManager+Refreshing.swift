#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension TokenManager {
    /// One refresh from the lock to the durable record, in a task that nobody's cancellation reaches.
    func perform(_ first: SessionStateMachine.RefreshOrder) async {
        var next: SessionStateMachine.RefreshOrder? = first
        while let order = next {
            let (lock, isToBeSent) = await prepare(order)
            defer { lock?.release() }
            guard isToBeSent else { return }
            let result = await send(order)
            core.withLock { $0.refreshLock = lock }
            next = finish(order, result)
            // What becomes of the outcome is written with the lock held: whoever takes it next must find it.
            await storeLane.flush()
            core.withLock { $0.refreshLock = nil }
            if let lock, !lock.isHeld { await doubtSuccessor(of: order) }
        }
    }

    /// The lock was lost on the way, so the token may have been sent here and by another process, and the server may have
    /// taken the one that came later for a thief. Whoever is refused then must know that nobody is to blame.
    private func doubtSuccessor(of order: SessionStateMachine.RefreshOrder) async {
        let now = time.wallClock
        storeLane.enqueue {
            await self.change(SessionStateMachine.doubtSuccessor(of: order, since: now)) { _, _ in }
        }
        await storeLane.flush()
    }

    /// Takes the lock, looks into the store and notes there what is about to happen.
    /// - Returns: The lock, where there is one, and whether the refresh token is to be sent.
    private func prepare(
        _ order: SessionStateMachine.RefreshOrder
    ) async -> (lock: (any HeldStoreLock)?, isToBeSent: Bool) {
        while true {
            let lock: (any HeldStoreLock)?
            do throws(StorageFailure) {
                try await waitForRefreshBefore()
                lock = try await acquireLock()
            } catch {
                tell(.storeFailed(.lock, error))
                let isToBeSent = await withCheckedContinuation { noteDelayed(order, error, $0) }
                return (nil, isToBeSent ?? false)
            }
            let isToBeSent = await withCheckedContinuation { (answer: CheckedContinuation<Bool?, Never>) in
                let startTime = inTurn { isLate in
                    if !isLate { await self.note(order, holding: lock, answer) }
                } orElse: { failure in
                    self.noteDelayed(order, failure, answer)
                }
                startTime()
            }
            if let isToBeSent { return (lock, isToBeSent) }
            lock?.release()
        }
    }

    /// What the refresh before has brought may not be written yet, and its lock would be taken from this very process.
    private func waitForRefreshBefore() async throws(StorageFailure) {
        guard core.withLock({ $0.refreshLock != nil }) else { return }
        let failure = await withCheckedContinuation { (turn: CheckedContinuation<StorageFailure?, Never>) in
            let startTime = inTurn { isLate in
                if !isLate { turn.resume(returning: nil) }
            } orElse: { failure in
                turn.resume(returning: failure)
            }
            startTime()
        }
        if let failure { throw failure }
    }

    /// - Returns: The lock; `nil` where there is none, or there can be none.
    /// - Throws: Where it is not to be had in time. Somebody else may have it, so that nobody goes on without it.
    private func acquireLock() async throws(StorageFailure) -> (any HeldStoreLock)? {
        guard let lock = store.lock else { return nil }
        // Long enough for one holder that is stopped, and another one behind it.
        let limit = policy.lockLease * 2 + policy.storeTimeout
        let result = await storeLimits.deliver(within: limit) { [policy] in
            try await lock.acquire(lease: policy.lockLease)
        } late: { held in
            held.release()
        }
        switch result {
        case .success(let held): return held
        case .failure(let error as TimeLimitReached):
            throw StorageFailure(
                .unreachable, "its lock was not to be had within \(error.limit.inSeconds.shortText) s")
        case .failure(let error):
            tell(.storeFailed(.lock, StorageFailure(wrapping: error)))
            return nil
        }
    }

    private func note(
        _ first: SessionStateMachine.RefreshOrder, holding lock: (any HeldStoreLock)?,
        _ answer: CheckedContinuation<Bool?, Never>
    ) async {
        guard let order = current(first, answer) else { return }
        let journal = journal(of: order)
        let decide = SessionStateMachine.note(journal, for: order)
        let isWrite = Locked(false)
        let isDoneLate = await change { reading in
            let update = decide(reading)
            isWrite.withLock { $0 = if case .write = update { true } else { false } }
            return update
        } then: { seen, failure in
            self.prepared(order, holding: lock, seen, journal, failure, answer)
        }
        if isDoneLate, isWrite.withLock({ $0 }) { transition { machine in machine.writtenLate(order.record) } }
    }

    /// The turn for the note does not come, and by the time it does the note would be of no use.
    private func noteDelayed(
        _ first: SessionStateMachine.RefreshOrder, _ failure: StorageFailure,
        _ answer: CheckedContinuation<Bool?, Never>
    ) {
        guard let order = current(first, answer) else { return }
        prepared(order, holding: nil, .unavailable(failure), journal(of: order), failure, answer)
    }

    /// The order as it stands now. Where it is not wanted any more, that is the answer.
    private func current(
        _ first: SessionStateMachine.RefreshOrder, _ answer: CheckedContinuation<Bool?, Never>
    ) -> SessionStateMachine.RefreshOrder? {
        if let order = core.withLock({ $0.machine.current(first) }) { return order }
        transition { machine in machine.dropped(first) }
        answer.resume(returning: false)
        return nil
    }

    private func journal(of order: SessionStateMachine.RefreshOrder) -> RefreshJournal {
        let token = order.record.bundle.refreshToken ?? order.record.bundle.accessToken
        return RefreshJournal(startedAt: time.wallClock, fingerprint: RefreshJournal.fingerprint(of: token))
    }

    private func prepared(
        _ order: SessionStateMachine.RefreshOrder, holding lock: (any HeldStoreLock)?, _ seen: Sighting,
        _ journal: RefreshJournal, _ failure: StorageFailure?, _ answer: CheckedContinuation<Bool?, Never>
    ) {
        // A process that was stopped in here may have lost the lock, and then what it has seen is old. Who has seen nothing
        // does not ask: the lock may be on the disk that does not answer.
        if seen.reading.isTrusted, let lock, !lock.isHeld { return answer.resume(returning: nil) }
        let now = time.uptime
        let jitter = random(in: 0...1)
        transition { core in
            core.machine.prepared(order, over: seen, journal: journal, failure: failure, at: now, jitter: jitter)
        } then: { isToBeSent in
            answer.resume(returning: isToBeSent)
        }
    }

    /// Lets the refresher talk to the server, for as long as it may take.
    private func send(_ order: SessionStateMachine.RefreshOrder) async -> Result<RefreshedTokens, any Error> {
        let refreshing = Self.refreshing.union([ObjectIdentifier(self)])
        return await Self.$refreshing.withValue(refreshing) {
            await limits.deliver(within: policy.attemptTimeout) { [refresher, lane] in
                try await refresher.refresh(order.record.bundle, over: lane)
            } late: { tokens in
                self.accept(tokens, lateFor: order)
            }
        }
    }

    private func finish(
        _ order: SessionStateMachine.RefreshOrder, _ result: Result<RefreshedTokens, any Error>
    ) -> SessionStateMachine.RefreshOrder? {
        let outcome = SessionStateMachine.RefreshOutcome(result, wallClock: time.wallClock)
        let now = time.uptime
        let jitter = random(in: 0...1)
        var next: SessionStateMachine.RefreshOrder?
        transition { core in
            core.machine.refreshFinished(order, outcome, at: now, jitter: jitter)
        } then: {
            next = $0
        }
        return next
    }

    /// The token behind them is spent, so these are worth having, however late.
    private func accept(_ tokens: RefreshedTokens, lateFor order: SessionStateMachine.RefreshOrder) {
        let outcome = SessionStateMachine.RefreshOutcome(.success(tokens), wallClock: time.wallClock)
        let now = time.uptime
        let jitter = random(in: 0...1)
        transition { machine in machine.refreshedLate(order, outcome, at: now, jitter: jitter) }
    }
}

extension TimeLimits {
    /// Runs an operation whose result must not be lost, even if it comes at the moment at which the time is over, or later.
    /// - Parameters:
    ///   - limit: How long it is waited for.
    ///   - late: Takes a result that comes when nobody waits for it any more.
    fileprivate func deliver<Value: Sendable>(
        within limit: Duration, _ operation: @escaping @Sendable () async throws -> Value,
        late: @escaping @Sendable (Value) -> Void
    ) async -> Result<Value, any Error> {
        let delivery = Locked(Delivery<Value>.awaited)
        let result = await run(within: limit) {
            let value = try await operation()
            let isLate = delivery.withLock { delivery in
                if case .givenUp = delivery { return true }
                delivery = .arrived(value)
                return false
            }
            if isLate { late(value) }
            return value
        }
        guard case .failure(let error) = result, error is TimeLimitReached else { return result }
        return delivery.withLock { delivery in
            if case .arrived(let value) = delivery { return .success(value) }
            delivery = .givenUp
            return result
        }
    }
}

/// Settles which comes first, the result or the end of our patience.
private enum Delivery<Value: Sendable> {
    case awaited
    case arrived(Value)
    case givenUp
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
