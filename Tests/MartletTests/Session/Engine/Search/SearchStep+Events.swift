@testable import Martlet

// MARK: - Events

extension SearchStep {
    mutating func perform(_ event: SearchEvent) {
        switch event {
        case .asks(let ask): submit(ask)
        case .asksAgain(let index): submit(after.woken.remove(at: index))
        case .isCancelled(let index):
            let waiter = after.waiters.remove(at: index)
            resumedUnknownWaiter = !transition { $0.waiterCancelled(waiter.id) }
            if waiter.ask == .signOut { after.woken.append(.signOut) }
        case .requestIsRejected(let stamp): transition { $0.tokenRejected(stamp, at: .zero) }
        case .signsIn: signIn()
        case .signsOut:
            if after.isLoaded { signOut() } else { ask(.signOut) { machine, id in machine.loadRequested(by: id) } }
        case .storeResponds(let outcome): storeResponded(outcome)
        case .storeTaskIsDelayed(let index): storeTaskIsDelayed(index)
        case .takesLock(let index): takeLock(index)
        case .lockIsLate(let index): prepare(index, StoreSnapshot(reading: .unavailable(.trouble)), .trouble)
        case .serverResponds(let index, let outcome): serverResponded(outcome, toRefresh: index)
        case .lateResponseArrives:
            guard let late = after.late else { return }
            after.late = nil
            after[late.job.record.bundle].isKnownSpent = true
            // Another process may have sent the old token as well after the lock was released.
            if after.machine.sharesStore { after[late.bundle].isInDoubt = true }
            transition { machine in
                machine.refreshFinishedLate(late.job, .success(late.bundle), at: .zero, jitter: 1)
            }
        case .saveRetryIsDue:
            after.saveRetries -= 1
            transition { $0.saveRetryDue() }
        case .deleteRetryIsDue(let index):
            let id = after.deleteRetries.remove(at: index)
            transition { $0.deleteRetryDue(id) }
        case .anotherProcessRotates: after.rotateElsewhere()
        case .anotherProcessSignsOut: after.signOutElsewhere()
        case .anotherProcessSignsIn: after.signInElsewhere()
        case .noticesChange: takeSnapshot()
        case .snapshotRetryIsDue:
            after.awaitsSnapshot = false
            takeSnapshot()
        case .clockTicks: after.tick()
        case .clockJumps: for _ in 1...3 { after.tick() }
        }
    }

    mutating func submit(_ request: World.Ask) {
        switch request {
        case .token: ask(request) { machine, id in machine.tokenRequested(by: id, at: .zero) }
        case .lastingToken:
            ask(request) { machine, id in machine.tokenRequested(lasting: Time.lifetime, by: id, at: .zero) }
        case .tokenInPlaceOf(let stamp):
            ask(request) { machine, id in machine.tokenRejected(stamp, reportedBy: id, at: .zero) }
        case .tokenOf(let session):
            ask(request) { machine, id in machine.tokenRequested(for: session, by: id, at: .zero) }
        case .forcedRefresh: ask(request) { machine, id in machine.refreshForced(by: id, at: .zero) }
        case .signIn: break
        case .signOut: signOut()
        }
    }

    mutating func signIn() {
        let record = after.newSession()
        let deadlines = Time.deadlines(remaining: Time.lifetime, policy: after.machine.policy)
        ask(.signIn(record.id)) { machine, id in machine.signedIn(record, deadlines: deadlines, by: id) }
    }

    mutating func signOut() {
        // A stored session is meant as well, even if it was never read.
        if after.machine.currentRecord == nil, let stored = after.stored { after[stored.id].isOver = true }
        isSignOut = true
        transition { $0.signedOut() }
    }

    /// Performs the events that happen without delay in a prompt world.
    mutating func proceedPromptly() {
        while true {
            if !after.woken.isEmpty {
                submit(after.woken.removeFirst())
            } else if after.isLockFree, let index = after.refreshes.firstIndex(where: { $0.stage == .waitsForLock }) {
                takeLock(index)
            } else if after.hasNews, after.isLoaded {
                takeSnapshot()
            } else {
                return
            }
        }
    }

    mutating func takeLock(_ index: Int) {
        after.refreshes[index].stage = .writingJournal
        after.storeTasks.append(.writeJournal(after.refreshes[index].job.id))
    }

    mutating func takeSnapshot() {
        after.hasNews = false
        after.storeTasks.append(.snapshot(isOutdated: false))
    }
}
