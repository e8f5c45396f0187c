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
            let lock = await acquireLock()
            let isToBeSent = await withCheckedContinuation { (answer: CheckedContinuation<Bool?, Never>) in
                inTurn { isLate in
                    if !isLate { await self.note(order, holding: lock, answer) }
                } orElse: { failure in
                    self.noteDelayed(order, holding: lock, failure, answer)
                }
            }
            if let isToBeSent { return (lock, isToBeSent) }
            lock?.release()
        }
    }

    private func acquireLock() async -> (any HeldStoreLock)? {
        do {
            return try await store.lock?.acquire(lease: policy.lockLease)
        } catch {
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
        _ first: SessionStateMachine.RefreshOrder, holding lock: (any HeldStoreLock)?, _ failure: StorageFailure,
        _ answer: CheckedContinuation<Bool?, Never>
    ) {
        guard let order = current(first, answer) else { return }
        prepared(order, holding: lock, .unavailable(failure), journal(of: order), failure, answer)
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
        // A process that was stopped in here may have lost the lock, and then what it has seen is old.
        if let lock, !lock.isHeld { return answer.resume(returning: nil) }
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
        let delivery = Locked(Delivery.awaited)
        let refreshing = Self.refreshing.union([ObjectIdentifier(self)])
        let result = await Self.$refreshing.withValue(refreshing) {
            await limits.run(within: policy.attemptTimeout) { [refresher, lane] in
                let tokens = try await refresher.refresh(order.record.bundle, over: lane)
                let isLate = delivery.withLock { delivery in
                    if case .givenUp = delivery { return true }
                    delivery = .arrived(tokens)
                    return false
                }
                if isLate { self.accept(tokens, lateFor: order) }
                return tokens
            }
        }
        guard case .failure(let error) = result, error is TimeLimitReached else { return result }
        return delivery.withLock { delivery in
            if case .arrived(let tokens) = delivery { return .success(tokens) }
            delivery = .givenUp
            return result
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

/// Settles which comes first, the refresher's tokens or the end of our patience.
private enum Delivery {
    case awaited
    case arrived(RefreshedTokens)
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
