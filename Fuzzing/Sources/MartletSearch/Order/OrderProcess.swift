@testable import Martlet

/// A process of an ``OrderWorld``: the state machine, the operations of the store that it waits for, and its refreshes.
struct OrderProcess {
    /// An operation of the store. The first one runs; the others wait for it.
    struct Operation {
        let task: SessionStateMachine.StoreTask
        /// The decision to report if the operation never reaches the store.
        let asked: SessionStateMachine.StoreDecision?
        /// Whether its time limit has passed, so that the process considers it failed.
        var isLate = false
        /// The outcome, once it has reached the store.
        var outcome: Outcome?
    }

    struct Outcome {
        let decision: SessionStateMachine.StoreDecision
        /// The content before the operation.
        var reading: StoreReading
        /// The content after it, as far as the process can learn it.
        var content: StoreReading
        var failure: StorageError?
    }

    /// A refresh, from acquiring the lock to the result in the store. Each one waits for the one before.
    struct Refresh {
        enum Step { case acquiresLock, prepares, sends, saves }

        var job: SessionStateMachine.RefreshJob
        var step = Step.acquiresLock
        /// The number of its lock; `nil` while it has none.
        var lock: Int?
        /// The number of times it has acquired the lock.
        var rounds = 0
    }

    var machine: SessionStateMachine
    var refreshes: [Refresh] = []
    var operations: [Operation] = []
    /// Whether the delay before the store is asked again is running.
    var awaitsRetry = false
    /// The difference of its clock from the others, in seconds.
    let skew: Double
    /// Whether the process waits for the results of operations.
    var isBusy: Bool { operations.contains { !$0.isLate } }

    init(_ policy: SessionPolicy, skew: Double) {
        machine = SessionStateMachine(policy: policy, sharesStore: true)
        self.skew = skew
    }
}
