import Foundation

@testable import Martlet

/// Plays the shell for a machine in a test.
extension SessionStateMachine {
    static let wallClock = Date(timeIntervalSince1970: 1_790_000_000)

    /// A machine that has read a record.
    static func restored(
        _ record: StoredSession, deadlines: TokenDeadlines? = nil, policy: SessionPolicy = SessionPolicy(),
        sharesStore: Bool = false
    ) -> SessionStateMachine {
        var machine = SessionStateMachine(policy: policy, sharesStore: sharesStore)
        _ = machine.loadRequested(by: 0)
        machine.answer(.read, .found(record), deadlines: deadlines)
        _ = machine.takeActions()
        return machine
    }

    /// Answers a task as a store with this content does.
    /// - Returns: The machine's decision.
    @discardableResult
    mutating func answer(
        _ task: StoreTask, _ reading: StoreReading, deadlines: TokenDeadlines? = nil, failure: StorageError? = nil
    ) -> StoreUpdate {
        let decision = decide(task, over: reading, hasLostLock: false, at: Self.wallClock)
        storeAnswered(
            task, .init(decision: decision, snapshot: .init(reading: reading, deadlines: deadlines), failure: failure),
            at: .test())
        return decision.update
    }

    /// Answers the preparation of a refresh as a store with this content does.
    mutating func answer(
        preparing job: RefreshJob, _ reading: StoreReading, failure: StorageError? = nil, at now: Duration = .zero
    ) -> Preparation {
        let decision = decide(.prepare(job), over: reading, hasLostLock: false, at: Self.wallClock)
        storeAnswered(
            .prepare(job), .init(decision: decision, snapshot: .init(reading: reading), failure: failure),
            at: .test(now))
        return preparation(of: job)
    }

    mutating func refreshFinished(
        _ job: RefreshJob, _ outcome: RefreshOutcome, at now: Duration, jitter: Double
    ) -> RefreshJob? {
        refreshFinished(job, outcome, at: .test(now, jitter: jitter))
    }

    /// A caller that begins now asks for a token.
    mutating func tokenRequested(
        _ permission: ProbePermission = .waits, by waiter: WaiterID, at now: Duration
    ) -> WaiterReply {
        tokenRequested(for: callOwner, permission, by: waiter, at: now)
    }

    /// A caller that begins now forces a refresh.
    mutating func refreshForced(by waiter: WaiterID, at now: Duration) -> WaiterReply {
        refreshForced(for: callOwner, by: waiter, at: now)
    }

    /// The refresh that the machine has started.
    mutating func takeRefresh() -> RefreshJob? {
        takeActions().compactMap { if case .refresh(let job) = $0 { job } else { nil } }.last
    }
}

extension SessionStateMachine.Moment {
    static func test(_ now: Duration = .zero, jitter: Double = 0) -> Self {
        Self(uptime: now, wallClock: SessionStateMachine.wallClock, jitter: jitter)
    }
}

extension StoreUpdate {
    /// Whether the record is deleted, and the mark raised.
    var ends: Bool {
        if case .end = self { true } else { false }
    }
}

extension StoreReading {
    /// Whether there is definitely no record that counts.
    var isEmpty: Bool {
        switch self {
        case .empty, .ended: true
        case .found, .unavailable: false
        }
    }
}

extension StoredSession {
    func renewed(rotation: Int, _ tokens: Tokens) -> StoredSession {
        var record = self
        record.rotation = rotation
        record.tokens = tokens
        return record
    }
}
