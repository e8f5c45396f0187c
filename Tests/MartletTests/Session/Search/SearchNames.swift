@testable import Martlet

// Worlds that differ in nothing but the numbers that orders and waiters happen to have are one world.
extension World {
    /// Gives every order and waiter the number that its place in the world gives it, and forgets what makes no difference.
    mutating func normalize() {
        machine.epoch = 0
        forgetCounts()
        forgetTheDead()
        // Those who want the same are alike.
        waiters.sort { ($0.ask.rank, $0.id) < ($1.ask.rank, $1.id) }
        woken.sort { $0.rank < $1.rank }
        var numbers = Numbering()
        for task in lane { task.numbers(&numbers) }
        for refresh in refreshes {
            numbers.add(refresh.order.id)
            if case .finishing(let next?) = refresh.stage { numbers.add(next.id) }
        }
        if let late { numbers.add(late.order.id) }
        if case .signedIn(let session) = machine.state {
            switch session.phase {
            case .settled: break
            case .preparing(let order), .sending(let order, _), .condemning(let order, _): numbers.add(order.id)
            case .saving(let order): numbers.add(order.id)
            }
            if let id = session.saveRetry { numbers.add(id) }
        }
        if let deletion = machine.deletion { numbers.add(deletion.id) }
        for id in deleteRetries { numbers.add(id) }
        for waiter in waiters { numbers.add(waiter.id) }
        // A waiter that nobody knows of any more is a mistake that the rules must still see.
        for id in knownWaiters.sorted() { numbers.add(id) }
        machine.lastID = numbers.count
        guard !numbers.isInOrder else { return }
        rename(numbers)
    }

    /// What is only counted to wait longer makes no difference where all waits are alike, nor does a wait that is over.
    private mutating func forgetCounts() {
        if let failures = machine.deletion?.failures, failures > 0 { machine.deletion?.failures = 0 }
        if case .signedIn(var session) = machine.state {
            session.saveFailures = 0
            session.failures = 0
            if let coolDown = session.coolDown, coolDown.until <= .zero { session.coolDown = nil }
            machine.state = .signedIn(session)
        }
        // One wait for what has been settled otherwise is as good as many.
        var stale = deleteRetries.filter { $0 != machine.deletion?.id }
        guard stale.count > 1 else { return }
        stale.removeFirst()
        deleteRetries.removeAll { stale.contains($0) }
    }

    /// What nothing refers to any more makes no difference.
    private mutating func forgetTheDead() {
        // A bit for each token that somebody still has.
        var inUse = [Int](repeating: 0, count: sessions.count)
        func add(_ bundle: TokenBundle) {
            inUse[Names.session(of: bundle) - 1] |= 1 << Names.serial(of: bundle)
        }
        if let stored { add(stored.bundle) }
        if let late {
            add(late.order.record.bundle)
            add(late.bundle)
        }
        for refresh in refreshes { add(refresh.order.record.bundle) }
        for task in lane {
            switch task {
            case .load, .look, .note, .flush: break
            case .delete(let deletion): if case .refused(let record) = deletion.scope { add(record.bundle) }
            case .save(let order): add(order.record.bundle)
            case .condemn(let order): add(order.record.bundle)
            case .clearJournal(let record): add(record.bundle)
            }
        }
        if case .refused(let record) = machine.deletion?.scope { add(record.bundle) }
        if case .signedIn(let session) = machine.state {
            add(session.record.bundle)
            if case .saving(let order) = session.phase { add(order.record.bundle) }
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

    /// Whoever waits for a token of this session waits for the next one, however it came to that.
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
        lane = lane.map { $0.renamed(numbers) }
        for index in refreshes.indices {
            refreshes[index].order = refreshes[index].order.renamed(numbers)
            if case .finishing(let next?) = refreshes[index].stage {
                refreshes[index].stage = .finishing(next.renamed(numbers))
            }
        }
        if let order = late?.order { late?.order = order.renamed(numbers) }
        deleteRetries = deleteRetries.map { numbers[$0] }
        for index in waiters.indices { waiters[index].id = numbers[waiters[index].id] }
    }
}

/// Old numbers in the order in which they were met.
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

extension SessionStateMachine.RefreshOrder {
    fileprivate func renamed(_ numbers: Numbering) -> Self {
        Self(id: numbers[id], record: record, isStored: isStored, firstSentAt: firstSentAt, replays: replays)
    }
}

extension SessionStateMachine.SaveOrder {
    fileprivate func renamed(_ numbers: Numbering) -> Self {
        Self(id: numbers[id], record: record, life: life, isStored: isStored)
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
        case .preparing(let order): .preparing(order.renamed(numbers))
        case .sending(let order, let isDoubtful): .sending(order.renamed(numbers), isDoubtful: isDoubtful)
        case .saving(let order): .saving(order.renamed(numbers))
        case .condemning(let order, let reason): .condemning(order.renamed(numbers), reason)
        }
    }
}

extension World.StoreTask {
    fileprivate func numbers(_ numbers: inout Numbering) {
        switch self {
        case .load, .look, .clearJournal: break
        case .note(let id), .flush(let id): numbers.add(id)
        case .save(let order): numbers.add(order.id)
        case .condemn(let order): numbers.add(order.id)
        case .delete(let deletion): numbers.add(deletion.id)
        }
    }

    fileprivate func renamed(_ numbers: Numbering) -> Self {
        switch self {
        case .load, .look, .clearJournal: self
        case .note(let id): .note(numbers[id])
        case .flush(let id): .flush(numbers[id])
        case .save(let order): .save(order.renamed(numbers))
        case .condemn(let order): .condemn(order.renamed(numbers))
        case .delete(let deletion): .delete(deletion.renamed(numbers))
        }
    }
}
