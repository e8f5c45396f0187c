import Foundation

@testable import Martlet

/// One event in one world, and all that came of it.
struct SearchStep {
    /// What somebody was told, and by what kind of machine.
    struct Answer {
        let ask: World.Ask
        let answer: SessionStateMachine.Answer
        let machine: SessionStateMachine
    }

    let event: SearchEvent
    let before: World
    var after: World
    /// What the machine asked for.
    var actions: [SessionStateMachine.Action] = []
    /// Who was answered, and how; not those who are told to ask again.
    var answers: [Answer] = []
    /// Somebody was to be answered who did not wait.
    var wokeStranger = false
    /// The user signed out.
    var isSignOut = false
    /// The order whose refresh token went out.
    var sent: SessionStateMachine.RefreshOrder?
    /// Something is wrong with the machine, for a test of the rules.
    let fault: SearchFault?

    /// Takes the step.
    init(_ event: SearchEvent, in world: World, fault: SearchFault? = nil) {
        self.event = event
        self.before = world
        self.after = world
        self.fault = fault
        perform(event)
        if world.isPrompt { goOnPromptly() }
        endSession()
        if after.machine.epoch != 0 { markLooksAsStale() }
        after.normalize()
    }

    // MARK: - The machine

    private mutating func transition<Result>(_ body: (inout SessionStateMachine) -> Result) -> Result {
        let result = body(&after.machine)
        carryOut()
        return result
    }

    private mutating func ask(_ ask: World.Ask, _ body: (inout SessionStateMachine, Int) -> SessionStateMachine.Answer)
    {
        let id = after.machine.makeID()
        let answer = body(&after.machine, id)
        if answer == .wait { after.waiters.append(World.Waiter(id: id, ask: ask)) }
        carryOut()
        if answer != .wait { hear(answer, ask) }
    }

    private mutating func carryOut() {
        var actions = after.machine.takeActions()
        fault?.tamper(&after.machine, &actions)
        for action in actions { carryOut(action) }
        self.actions += actions
    }

    private mutating func carryOut(_ action: SessionStateMachine.Action) {
        switch action {
        case .load: after.lane.append(.load)
        case .refresh(let order): after.refreshes.append(World.Refresh(order: order, stage: .waitsForLock))
        case .save(let order): after.lane.append(.save(order))
        case .condemn(let order): after.lane.append(.condemn(order))
        case .delete(let deletion): after.lane.append(.delete(deletion))
        case .clearJournal(let record): after.lane.append(.clearJournal(record))
        case .retrySave: after.saveRetries += 1
        case .retryDelete(let id, _): after.deleteRetries.append(id)
        case .revoke(let bundle): after.sessions[Names.session(of: bundle) - 1].isAlive = false
        case .emit: break
        case .resume(let ids, let answer):
            for id in ids {
                guard let index = after.waiters.firstIndex(where: { $0.id == id }) else {
                    wokeStranger = true
                    continue
                }
                hear(answer, after.waiters.remove(at: index).ask)
            }
        }
    }

    /// Somebody has an answer: it ends the waiting, or has them ask again.
    private mutating func hear(_ answer: SessionStateMachine.Answer, _ ask: World.Ask) {
        switch (ask, answer) {
        case (.signOut, _): after.woken.append(.signOut)
        case (.signIn, _): answers.append(Answer(ask: ask, answer: answer, machine: after.machine))
        case (_, .askAgain): after.woken.append(ask)
        case (_, .renewed(let session)): after.woken.append(.tokenOf(session))
        case (_, .token), (_, .failure), (_, .wait):
            answers.append(Answer(ask: ask, answer: answer, machine: after.machine))
        }
    }

    private mutating func endSession() {
        if let left = before.current, left != after.current { after[left].isOver = true }
    }

    private mutating func markLooksAsStale() {
        after.lane = after.lane.map { task in
            if case .look = task { .look(isStale: true) } else { task }
        }
    }

    // MARK: - Events

    private mutating func perform(_ event: SearchEvent) {
        switch event {
        case .asks(let ask): put(ask)
        case .asksAgain(let index): put(after.woken.remove(at: index))
        case .isCancelled(let index):
            let waiter = after.waiters.remove(at: index)
            wokeStranger = !transition { $0.waiterCancelled(waiter.id) }
            if waiter.ask == .signOut { after.woken.append(.signOut) }
        case .isRefused(let stamp): transition { $0.tokenRefused(stamp, at: .zero) }
        case .signsIn: signIn()
        case .signsOut: if after.isLoaded { signOut() } else { ask(.signOut) { machine, id in machine.load(for: id) } }
        case .storeAnswers(let outcome): answerOfStore(outcome)
        case .turnIsLate(let index): turnIsLate(index)
        case .takesLock(let index): takeLock(index)
        case .lockIsLate(let index): prepare(index, Sighting(reading: .unavailable(.trouble)), .trouble)
        case .serverAnswers(let index, let outcome): answerOfServer(outcome, toRefresh: index)
        case .lateAnswerCame:
            guard let late = after.late else { return }
            after.late = nil
            after[late.order.record.bundle].isKnownSpent = true
            // Another process may have sent the old token as well, once the lock was given back.
            if after.machine.sharesStore { after[late.bundle].isInDoubt = true }
            transition { machine in
                machine.refreshedLate(late.order, .success(late.bundle), at: .zero, jitter: 1)
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
        case .noticesChange: look()
        case .lookAgainIsDue:
            after.awaitsLook = false
            look()
        case .clockTicks: after.tick()
        case .clockJumps: for _ in 1...3 { after.tick() }
        }
    }

    private mutating func put(_ request: World.Ask) {
        switch request {
        case .token: ask(request) { machine, id in machine.tokenAsked(by: id, at: .zero) }
        case .lastingToken:
            ask(request) { machine, id in machine.tokenAsked(lasting: Time.lifetime, by: id, at: .zero) }
        case .tokenInPlaceOf(let stamp):
            ask(request) { machine, id in machine.tokenRejected(stamp, reportedBy: id, at: .zero) }
        case .tokenOf(let session):
            ask(request) { machine, id in machine.tokenAsked(for: session, by: id, at: .zero) }
        case .forcedRefresh: ask(request) { machine, id in machine.refreshForced(by: id, at: .zero) }
        case .signIn: break
        case .signOut: signOut()
        }
    }

    private mutating func signIn() {
        let record = after.newSession()
        let life = Time.life(lasting: Time.lifetime, policy: after.machine.policy)
        ask(.signIn(record.id)) { machine, id in machine.signedIn(record, life: life, by: id) }
    }

    private mutating func signOut() {
        // Whoever is in the store is meant as well, where it has not been looked into.
        if after.machine.currentRecord == nil, let stored = after.stored { after[stored.id].isOver = true }
        isSignOut = true
        transition { $0.signedOut() }
    }

    /// What comes at once where nobody dawdles.
    private mutating func goOnPromptly() {
        while true {
            if !after.woken.isEmpty {
                put(after.woken.removeFirst())
            } else if after.isLockFree, let index = after.refreshes.firstIndex(where: { $0.stage == .waitsForLock }) {
                takeLock(index)
            } else if after.hasNews, after.isLoaded {
                look()
            } else {
                return
            }
        }
    }

    private mutating func takeLock(_ index: Int) {
        after.refreshes[index].stage = .noting
        after.lane.append(.note(after.refreshes[index].order.id))
    }

    private mutating func look() {
        after.hasNews = false
        after.lane.append(.look(isStale: false))
    }
}

// MARK: - The server

extension SearchStep {
    private mutating func answerOfServer(_ outcome: SearchEvent.ServerOutcome, toRefresh index: Int) {
        let order = after.refreshes[index].order
        let token = order.record.bundle
        var result: SessionStateMachine.RefreshOutcome
        switch outcome {
        case .answers:
            if let bundle = after.rotate(token) {
                after[token].isKnownSpent = true
                // The one that was lost on the way may come to the server later.
                if before[token].mayHaveBeenSent, after.machine.policy.rotationGrace == .zero {
                    after[bundle].isInDoubt = true
                }
                result = .success(bundle)
            } else {
                after[order.record.id].isAlive = false
                result = .terminal(.refreshTokenRejected(code: nil))
            }
        case .isOffline: result = .transient(RefreshFailure(.offline, description: ""))
        case .isCutOffBefore:
            after[token].isInDoubt = true
            after[token].mayHaveBeenSent = true
            result = .transient(RefreshFailure(.connection, description: ""))
        case .isCutOffAfter:
            after[token].isInDoubt = true
            after[token].mayHaveBeenSent = true
            let bundle = after.rotate(token)
            if after.late == nil, let bundle { after.late = World.LateAnswer(order: order, bundle: bundle) }
            result = .transient(RefreshFailure(.connection, description: ""))
        case .refuses:
            after[order.record.id].isAlive = false
            result = .terminal(.refreshTokenRejected(code: nil))
        }
        let next = transition { machine in machine.refreshFinished(order, result, at: .zero, jitter: 1) }
        after.refreshes[index].stage = .finishing(next)
        after.lane.append(.flush(order.id))
        settleLane()
    }

    /// Who only waits for the store to be done goes on as soon as it is.
    mutating func settleLane() {
        while case .flush(let id) = after.lane.first {
            after.lane.removeFirst()
            guard let index = after.refreshes.firstIndex(where: { $0.order.id == id }) else { continue }
            if case .finishing(let next?) = after.refreshes[index].stage {
                after.refreshes[index] = World.Refresh(order: next, stage: .waitsForLock)
            } else {
                after.refreshes.remove(at: index)
            }
        }
    }
}

extension SessionStateMachine.RefreshOutcome {
    fileprivate static func success(_ bundle: TokenBundle) -> Self {
        .success(bundle, Time.known, freshUntil: Time.freshUntil(Time.lifetime))
    }
}

// MARK: - The store

extension SearchStep {
    private mutating func answerOfStore(_ outcome: SearchEvent.StoreOutcome) {
        let first = after.lane.removeFirst()
        guard let task = after.current(first) else { return forget(first) }
        let isReadable = outcome != .isUnavailable && outcome != .isUnreadable
        let reading: StoreReading = isReadable ? after.reading : .unavailable(.trouble)
        var failure: StorageFailure?
        if let change = after.change(for: task) {
            switch (change(reading), outcome) {
            case (.keep, _): break
            case (_, .cannotWrite), (_, .isUnavailable): failure = .trouble
            case (.write(let record), _): after.stored = record
            case (.delete, _): after.stored = nil
            }
            if outcome == .isSlow { failure = .trouble }
        }
        report(task, Sighting(reading: reading, policy: after.machine.policy), failure)
        if case .save(let order) = task, outcome == .isSlow { transition { $0.writtenLate(order.record) } }
        settleLane()
    }

    /// What came too late to be done.
    private mutating func forget(_ task: World.StoreTask) {
        if case .note(let id) = task, let index = after.refreshes.firstIndex(where: { $0.order.id == id }) {
            let order = after.refreshes.remove(at: index).order
            transition { $0.dropped(order) }
        }
        settleLane()
    }

    private typealias Sighting = SessionStateMachine.Sighting

    private mutating func report(_ task: World.StoreTask, _ seen: Sighting, _ failure: StorageFailure?) {
        learn(from: seen)
        switch task {
        case .load:
            after.hasNews = false
            transition { $0.loaded(seen) }
        case .look(let isStale):
            switch transition({ $0.looked(seen, since: isStale ? -1 : $0.epoch) }) {
            case .heeded: break
            case .outdated: after.hasNews = true
            case .notNow: after.awaitsLook = true
            }
        case .note(let id):
            guard let index = after.refreshes.firstIndex(where: { $0.order.id == id }) else { return }
            prepare(index, seen, failure)
        case .save(let order): transition { $0.saved(order, over: seen, failure: failure) }
        case .condemn(let order): transition { $0.condemned(order, over: seen, failure: failure) }
        case .delete(let deletion):
            var failure = failure
            if deletion.sparesUnreadable, case .unavailable(let why) = seen.reading { failure = failure ?? why }
            transition { [failure] in $0.deleted(deletion.id, over: seen, failure: failure) }
        case .clearJournal, .flush: break
        }
    }

    /// A refresh has noted what it is about to send, or could not, or has given up.
    private mutating func prepare(_ index: Int, _ seen: Sighting, _ failure: StorageFailure?) {
        let first = after.refreshes[index].order
        guard let order = after.machine.current(first) else {
            after.refreshes.remove(at: index)
            return transition { $0.dropped(first) }
        }
        after.refreshes[index].order = order
        let isToBeSent = transition { machine in
            machine.prepared(
                order, over: seen, journal: World.journal(for: order.record), failure: failure, at: .zero, jitter: 1)
        }
        guard isToBeSent else {
            after.refreshes.remove(at: index)
            return
        }
        after.refreshes[index].stage = .sending
        sent = order
        if case .found(let found) = seen.reading, let doubt = found.doubt {
            after[found.bundle].isInDoubt = true
            if !doubt.isInherited { after[found.bundle].mayHaveBeenSent = true }
        }
    }

    /// A task waits behind one that does not end: whoever waits for it is told.
    private mutating func turnIsLate(_ index: Int) {
        let task = after.lane[index]
        let unseen = Sighting(reading: .unavailable(.trouble))
        if case .save(let order) = task {
            // It is still written when its turn comes.
            return transition { $0.saveDelayed(order, .trouble) }
        }
        after.lane.remove(at: index)
        if case .note = task { return report(task, unseen, .trouble) }
        if case .load = task { return transition { $0.loaded(unseen) } }
        if case .condemn = task { return report(task, unseen, .trouble) }
    }

    /// Whoever sees a rotation knows that the token of the one before has been spent.
    private mutating func learn(from seen: Sighting) {
        guard case .found(let found) = seen.reading, case .signedIn(let session) = after.machine.state,
            found.id == session.record.id, found.rotation > session.record.rotation
        else { return }
        after[session.record.bundle].isKnownSpent = true
    }
}

extension SessionStateMachine.Sighting {
    fileprivate init(reading: StoreReading, policy: SessionPolicy) {
        self.init(reading: reading)
        if case .found(let record) = reading { life = Time.life(lasting: Time.left(of: record), policy: policy) }
    }
}

extension StorageFailure {
    static let trouble = StorageFailure(.unreachable, "")
}
