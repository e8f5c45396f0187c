@testable import Martlet

// Worlds that differ only in the IDs of jobs and waiters count as one world.
extension World {
    /// Renumbers all jobs, deletions and waiters by their position, and drops state that makes no difference.
    mutating func normalize() {
        machine.epoch = 0
        forgetCounts()
        forgetUnreferencedTokens()
        // Waiters with the same request are interchangeable.
        waiters.sort { ($0.ask.rank, $0.id) < ($1.ask.rank, $1.id) }
        woken.sort { $0.rank < $1.rank }
        var numbers = Numbering()
        for task in storeTasks { task.numbers(&numbers) }
        for refresh in refreshes {
            numbers.add(refresh.job.id)
            if case .finishing(let next?) = refresh.stage { numbers.add(next.id) }
        }
        if let late { numbers.add(late.job.id) }
        if case .signedIn(let session) = machine.state {
            switch session.phase {
            case .settled: break
            case .preparing(let job), .sending(let job, _), .confirmingExpiry(let job, _): numbers.add(job.id)
            case .saving(let job): numbers.add(job.id)
            }
            if let id = session.saveRetry { numbers.add(id) }
        }
        if let deletion = machine.deletion { numbers.add(deletion.id) }
        for id in deleteRetries { numbers.add(id) }
        for waiter in waiters { numbers.add(waiter.id) }
        // A waiter unknown to the world is an error that the rules must still see.
        for id in knownWaiters.sorted() { numbers.add(id) }
        machine.lastID = numbers.count
        guard !numbers.isInOrder else { return }
        rename(numbers)
    }

    /// Failure counts only lengthen delays, and all delays are alike here. An expired backoff has no effect.
    private mutating func forgetCounts() {
        if let failures = machine.deletion?.failures, failures > 0 { machine.deletion?.failures = 0 }
        if case .signedIn(var session) = machine.state {
            session.saveFailures = 0
            session.failures = 0
            if let backoff = session.backoff, backoff.until <= .zero { session.backoff = nil }
            machine.state = .signedIn(session)
        }
        // Several delays for deletions settled otherwise are equivalent to one.
        var stale = deleteRetries.filter { $0 != machine.deletion?.id }
        guard stale.count > 1 else { return }
        stale.removeFirst()
        deleteRetries.removeAll { stale.contains($0) }
    }

    /// Drops tokens and sessions that nothing refers to.
    private mutating func forgetUnreferencedTokens() {
        // One bit for each token still referenced.
        var inUse = [Int](repeating: 0, count: sessions.count)
        func add(_ bundle: TokenBundle) {
            inUse[Names.session(of: bundle) - 1] |= 1 << Names.serial(of: bundle)
        }
        if let stored { add(stored.bundle) }
        if let late {
            add(late.job.record.bundle)
            add(late.bundle)
        }
        for refresh in refreshes { add(refresh.job.record.bundle) }
        for task in storeTasks {
            switch task {
            case .load, .snapshot, .writeJournal, .flush: break
            case .delete(let deletion): if case .rejectedOrOlder(let record) = deletion.scope { add(record.bundle) }
            case .save(let job): add(job.record.bundle)
            case .confirmExpiry(let job): add(job.record.bundle)
            case .clearJournal(let record): add(record.bundle)
            }
        }
        if case .rejectedOrOlder(let record) = machine.deletion?.scope { add(record.bundle) }
        if case .signedIn(let session) = machine.state {
            add(session.record.bundle)
            if case .saving(let job) = session.phase { add(job.record.bundle) }
        }
        for index in sessions.indices {
            if inUse[index] == 0 {
                sessions[index] = Ledger(isAlive: false, isOver: sessions[index].isOver)
                continue
            }
            for serial in sessions[index].tokens.indices where inUse[index] & (1 << serial) == 0 {
                sessions[index].tokens[serial] = Token(fate: .spent)
            }
        }
        mergeAsks()
    }

    /// Every waiter of the current session waits for its next token, whatever it asked for.
    private mutating func mergeAsks() {
        guard case .signedIn(let session) = machine.state else { return }
        for index in waiters.indices {
            switch waiters[index].ask {
            case .token, .lastingToken, .signIn, .signOut: break
            case .forcedRefresh: waiters[index].ask = .token
            case .tokenOf(let other): if other == session.record.id { waiters[index].ask = .token }
            case .tokenInPlaceOf(let stamp):
                if stamp.session == session.record.id, stamp.rotation < session.record.rotation {
                    waiters[index].ask = .token
                }
            }
        }
    }

    private mutating func rename(_ numbers: Numbering) {
        switch machine.state {
        case .notLoaded, .unavailable, .signedOut, .expired: break
        case .loading(let waiters): machine.state = .loading(waiters: Set(waiters.map { numbers[$0] }))
        case .signedIn(var session):
            session.waiters = Set(session.waiters.map { numbers[$0] })
            session.saveRetry = session.saveRetry.map { numbers[$0] }
            session.phase = session.phase.renamed(numbers)
            machine.state = .signedIn(session)
        }
        machine.deletion = machine.deletion?.renamed(numbers)
        storeTasks = storeTasks.map { $0.renamed(numbers) }
        for index in refreshes.indices {
            refreshes[index].job = refreshes[index].job.renamed(numbers)
            if case .finishing(let next?) = refreshes[index].stage {
                refreshes[index].stage = .finishing(next.renamed(numbers))
            }
        }
        if let job = late?.job { late?.job = job.renamed(numbers) }
        deleteRetries = deleteRetries.map { numbers[$0] }
        for index in waiters.indices { waiters[index].id = numbers[waiters[index].id] }
    }
}

/// Old IDs, in the sequence of their first use. The new ID is the position.
struct Numbering {
    private var met: [Int] = []

    var count: Int { met.count }
    var isInOrder: Bool {
        for (index, number) in met.enumerated() where number != index + 1 { return false }
        return true
    }

    mutating func add(_ number: Int) {
        if !met.contains(number) { met.append(number) }
    }

    subscript(number: Int) -> Int {
        (met.firstIndex(of: number) ?? -1) + 1
    }
}

extension World.Ask {
    fileprivate var rank: Int {
        switch self {
        case .token: 0
        case .tokenInPlaceOf(let stamp): 10 + Names.number(of: stamp.session) * 10 + stamp.rotation
        case .tokenOf(let session): 500 + Names.number(of: session)
        case .forcedRefresh: 1
        case .lastingToken: 3
        case .signIn(let session): 1000 + Names.number(of: session)
        case .signOut: 2
        }
    }
}

extension SessionStateMachine.RefreshJob {
    fileprivate func renamed(_ numbers: Numbering) -> Self {
        Self(
            id: numbers[id], record: record, hasBeenStored: hasBeenStored, replaceable: replaceable,
            firstSentAt: firstSentAt, replays: replays)
    }
}

extension SessionStateMachine.SaveJob {
    fileprivate func renamed(_ numbers: Numbering) -> Self {
        Self(
            id: numbers[id], record: record, deadlines: deadlines, hasBeenStored: hasBeenStored,
            replaceable: replaceable)
    }
}

extension SessionStateMachine.Deletion {
    fileprivate func renamed(_ numbers: Numbering) -> Self {
        Self(id: numbers[id], scope: scope, sparesUnreadable: sparesUnreadable, failures: failures)
    }
}

extension SessionStateMachine.Phase {
    fileprivate func renamed(_ numbers: Numbering) -> Self {
        switch self {
        case .settled: .settled
        case .preparing(let job): .preparing(job.renamed(numbers))
        case .sending(let job, let isInDoubt): .sending(job.renamed(numbers), isInDoubt: isInDoubt)
        case .saving(let job): .saving(job.renamed(numbers))
        case .confirmingExpiry(let job, let reason): .confirmingExpiry(job.renamed(numbers), reason)
        }
    }
}

extension World.StoreTask {
    fileprivate func numbers(_ numbers: inout Numbering) {
        switch self {
        case .load, .snapshot, .clearJournal: break
        case .writeJournal(let id), .flush(let id): numbers.add(id)
        case .save(let job): numbers.add(job.id)
        case .confirmExpiry(let job): numbers.add(job.id)
        case .delete(let deletion): numbers.add(deletion.id)
        }
    }

    fileprivate func renamed(_ numbers: Numbering) -> Self {
        switch self {
        case .load, .snapshot, .clearJournal: self
        case .writeJournal(let id): .writeJournal(numbers[id])
        case .flush(let id): .flush(numbers[id])
        case .save(let job): .save(job.renamed(numbers))
        case .confirmExpiry(let job): .confirmExpiry(job.renamed(numbers))
        case .delete(let deletion): .delete(deletion.renamed(numbers))
        }
    }
}
