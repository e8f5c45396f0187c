import Foundation

@testable import Martlet

/// One event in one world, with all of its effects.
struct SearchStep {
    /// A reply to a caller, and the machine at that moment.
    struct Reply {
        let ask: World.Ask
        let reply: SessionStateMachine.WaiterReply
        let machine: SessionStateMachine
    }

    let event: SearchEvent
    let before: World
    var after: World
    /// The actions of the machine.
    var actions: [SessionStateMachine.Action] = []
    /// The final replies to callers, without those that are told to ask again.
    var replies: [Reply] = []
    /// Whether a waiter was resumed that did not exist.
    var resumedUnknownWaiter = false
    /// Whether the user signed out.
    var isSignOut = false
    /// The job whose refresh token was sent.
    var sent: SessionStateMachine.RefreshJob?
    /// A fault to inject, for tests of the rules.
    let fault: SearchFault?

    /// Takes the step.
    init(_ event: SearchEvent, in world: World, fault: SearchFault? = nil) {
        self.event = event
        self.before = world
        self.after = world
        self.fault = fault
        perform(event)
        if world.isPrompt { proceedPromptly() }
        endSession()
        if after.machine.epoch != 0 { markSnapshotsAsOutdated() }
        after.normalize()
    }

    // MARK: - The machine

    mutating func transition<Result>(_ body: (inout SessionStateMachine) -> Result) -> Result {
        let result = body(&after.machine)
        carryOut()
        return result
    }

    mutating func ask(
        _ ask: World.Ask, _ body: (inout SessionStateMachine, Int) -> SessionStateMachine.WaiterReply
    ) {
        let id = after.machine.makeID()
        let reply = body(&after.machine, id)
        if reply == .wait { after.waiters.append(World.Waiter(id: id, ask: ask)) }
        carryOut()
        if reply != .wait { deliver(reply, ask) }
    }

    mutating func carryOut() {
        var actions = after.machine.takeActions()
        fault?.tamper(&after.machine, &actions)
        for action in actions { carryOut(action) }
        self.actions += actions
    }

    mutating func carryOut(_ action: SessionStateMachine.Action) {
        switch action {
        case .load: after.storeTasks.append(.load)
        case .refresh(let job): after.refreshes.append(World.Refresh(job: job, stage: .waitsForLock))
        case .save(let job): after.storeTasks.append(.save(job))
        case .confirmExpiry(let job): after.storeTasks.append(.confirmExpiry(job))
        case .delete(let deletion): after.storeTasks.append(.delete(deletion))
        case .clearJournal(let record): after.storeTasks.append(.clearJournal(record))
        case .retrySave: after.saveRetries += 1
        // Machines in a search read only for a caller.
        case .retryRead: break
        case .retryDelete(let id, _): after.deleteRetries.append(id)
        case .revoke(let bundle, _): after.sessions[Names.session(of: bundle) - 1].isAlive = false
        case .emit: break
        case .resume(let ids, let reply):
            for id in ids {
                guard let index = after.waiters.firstIndex(where: { $0.id == id }) else {
                    resumedUnknownWaiter = true
                    continue
                }
                deliver(reply, after.waiters.remove(at: index).ask)
            }
        }
    }

    /// Delivers a reply, which ends the wait or makes the caller ask again.
    mutating func deliver(_ reply: SessionStateMachine.WaiterReply, _ ask: World.Ask) {
        switch (ask, reply) {
        case (.signOut, _): after.woken.append(.signOut)
        case (.signIn, _): replies.append(Reply(ask: ask, reply: reply, machine: after.machine))
        case (_, .askAgain): after.woken.append(ask)
        case (_, .refreshedElsewhere(let session)): after.woken.append(.tokenOf(session))
        case (_, .token), (_, .failure), (_, .wait):
            replies.append(Reply(ask: ask, reply: reply, machine: after.machine))
        }
    }

    /// Remembers that the session has ended if this process has left it.
    mutating func endSession() {
        if let left = before.current, left != after.current { after[left].isOver = true }
    }

    mutating func markSnapshotsAsOutdated() {
        after.storeTasks = after.storeTasks.map { task in
            if case .snapshot = task { .snapshot(isOutdated: true) } else { task }
        }
    }
}
