@testable import Martlet

// MARK: - The store

extension SearchStep {
    mutating func storeResponded(_ outcome: SearchEvent.StoreOutcome) {
        let first = after.storeTasks.removeFirst()
        guard let task = after.pending(first) else { return forget(first) }
        let isReadable = outcome != .isUnavailable && outcome != .isUnreadable
        let reading: StoreReading = isReadable ? after.reading : .unavailable(.trouble)
        var failure: StorageError?
        if let change = after.change(for: task) {
            switch (change(reading), outcome) {
            case (.keep, _): break
            case (_, .cannotWrite), (_, .isUnavailable): failure = .trouble
            case (.write(let record), _): after.stored = record
            case (.delete, _): after.stored = nil
            }
            if outcome == .isSlow { failure = .trouble }
        }
        report(task, StoreSnapshot(reading: reading, policy: after.machine.policy), failure)
        if case .save(let job) = task, outcome == .isSlow { transition { $0.savedLate(job.record) } }
        continueFinishedRefreshes()
    }

    /// Drops a task that became obsolete before it started.
    mutating func forget(_ task: World.StoreTask) {
        if case .writeJournal(let id) = task, let index = after.refreshes.firstIndex(where: { $0.job.id == id }) {
            let job = after.refreshes.remove(at: index).job
            transition { $0.refreshAbandoned(job) }
        }
        continueFinishedRefreshes()
    }

    typealias StoreSnapshot = SessionStateMachine.StoreSnapshot

    mutating func report(_ task: World.StoreTask, _ snapshot: StoreSnapshot, _ failure: StorageError?) {
        learn(from: snapshot)
        switch task {
        case .load:
            after.hasNews = false
            transition { $0.loaded(snapshot) }
        case .snapshot(let isOutdated):
            switch transition({ $0.snapshotTaken(snapshot, since: isOutdated ? -1 : $0.epoch) }) {
            case .reconciled: break
            case .outdated: after.hasNews = true
            case .unavailable: after.awaitsSnapshot = true
            }
        case .writeJournal(let id):
            guard let index = after.refreshes.firstIndex(where: { $0.job.id == id }) else { return }
            prepare(index, snapshot, failure)
        case .save(let job): transition { $0.saveFinished(job, over: snapshot, failure: failure) }
        case .confirmExpiry(let job): transition { $0.expiryCheckFinished(job, over: snapshot, failure: failure) }
        case .delete(let deletion):
            var failure = failure
            if deletion.sparesUnreadable, case .unavailable(let error) = snapshot.reading { failure = failure ?? error }
            transition { [failure] in $0.deletionFinished(deletion.id, over: snapshot, failure: failure) }
        case .clearJournal, .flush: break
        }
    }

    /// Reports that a refresh has written its journal, could not write it, or was abandoned.
    mutating func prepare(_ index: Int, _ snapshot: StoreSnapshot, _ failure: StorageError?) {
        let first = after.refreshes[index].job
        guard let job = after.machine.pending(first) else {
            after.refreshes.remove(at: index)
            return transition { $0.refreshAbandoned(first) }
        }
        after.refreshes[index].job = job
        let isToBeSent = transition { machine in
            machine.refreshPrepared(
                job, over: snapshot, journal: World.journal(for: job.record), failure: failure, at: .zero, jitter: 1)
        }
        guard isToBeSent else {
            after.refreshes.remove(at: index)
            return
        }
        after.refreshes[index].stage = .sending
        sent = job
        if case .found(let found) = snapshot.reading, let doubt = found.unresolvedJournal {
            after[found.bundle].isInDoubt = true
            if !doubt.isInherited { after[found.bundle].mayHaveBeenSentBefore = true }
        }
    }

    /// A task waits too long behind one that does not end. Its waiters get an error.
    mutating func storeTaskIsDelayed(_ index: Int) {
        let task = after.storeTasks[index]
        let unseen = StoreSnapshot(reading: .unavailable(.trouble))
        if case .save(let job) = task {
            // The record is still written later.
            return transition { $0.saveDelayed(job, .trouble) }
        }
        after.storeTasks.remove(at: index)
        if case .writeJournal = task { return report(task, unseen, .trouble) }
        if case .load = task { return transition { $0.loaded(unseen) } }
        if case .confirmExpiry = task { return report(task, unseen, .trouble) }
    }

    /// A newer rotation in the store proves that the previous token has been spent.
    mutating func learn(from snapshot: StoreSnapshot) {
        guard case .found(let found) = snapshot.reading, case .signedIn(let session) = after.machine.state,
            found.id == session.record.id, found.rotation > session.record.rotation
        else { return }
        after[session.record.bundle].isKnownSpent = true
    }
}

extension SessionStateMachine.StoreSnapshot {
    fileprivate init(reading: StoreReading, policy: SessionPolicy) {
        self.init(reading: reading)
        guard case .found(let record) = reading else { return }
        deadlines = Time.deadlines(remaining: Time.left(of: record), policy: policy)
    }
}

extension StorageError {
    static let trouble = StorageError(.unreachable, "")
}
