import MartletTesting

@testable import Martlet

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Processes that share a store. Their users sign in and out at random, and their callers force refreshes. An operation
/// of the store may fail before or after it has changed the record, take longer than its time limit, and end between
/// other steps. The lock, requests and responses may be lost, and the clocks may differ by a day. Afterwards everything
/// works, and the processes come to rest. Then no session that a user has ended may be stored or in use, and the server
/// must not accept its tokens. All processes that have read the store must agree with it. A session that nothing has
/// ended must be stored, with tokens that no process has revoked.
///
/// A world derives from its seed. The state machines run without the manager, so that many worlds run in a second: the
/// faults to find take three or four rare steps in a certain order.
final class OrderWorld {
    /// The conditions that stay the same in a world.
    struct Setting {
        let processes: Int
        /// Whether a sign-in may be written to a store that cannot be read.
        let writesUnread: Bool
        let refreshes: Bool

        static let all = [1, 2, 3].flatMap { processes in
            [false, true].flatMap { writesUnread in
                [false, true].map { Setting(processes: processes, writesUnread: writesUnread, refreshes: $0) }
            }
        }

        var words: String {
            "\(processes) process\(processes == 1 ? "" : "es")"
                + (refreshes ? " with refreshes" : "")
                + (writesUnread ? ", and a store that may be written although it cannot be read" : "")
        }
    }

    /// A rare step. The run prints in how many worlds it occurs.
    enum Feature: String, CaseIterable {
        case savedLater = "a write that is repeated"
        case lateAnswer = "an answer after its time limit"
        case failureAfterCommit = "a change that is reported as failed"
        case unreadWrite = "a write to an unread store"
        case adoption = "a session of another process"
        case endElsewhere = "a session that ends elsewhere"
        case refresh = "a refresh"
        case expiry = "a session that the server ends"
        case lostLock = "a lost lock"
    }

    private enum Fault: CaseIterable {
        case cannotReach, cannotRead, failsAfterCommit, cannotWrite
    }

    private static let failure = StorageError(.unreachable, "the store has failed")
    private static let signIns = 4

    private let setting: Setting
    private var generator: SeededGenerator
    private let requiresSavedTokens: Bool
    private var store = SharedStore()
    private var server = TokenServer()
    private var processes: [OrderProcess] = []
    /// The number of the lock that is held, and the number of locks so far.
    private var lock: Int?
    private var locks = 0
    private var uptime = Duration.zero
    private var clock = Date(timeIntervalSince1970: 1_790_000_000)
    private var hasFaults = true
    private var ended: Set<SessionID> = []
    private var hasSignedOut = false
    private var sessions: [SessionID] = []
    private(set) var features: Set<Feature> = []
    /// The events so far; `nil` if they are not told.
    private(set) var story: [String]?

    init(_ setting: Setting, seed: UInt64, isTold: Bool = false) {
        self.setting = setting
        generator = SeededGenerator(seed: seed)
        story = isTold ? [] : nil
        var policy = SessionPolicy()
        policy.refreshBudget = 100
        requiresSavedTokens = Int.random(in: 0..<4, using: &generator) == 0
        policy.requiresSavedTokens = requiresSavedTokens
        for _ in 0..<setting.processes {
            let skew = chance(of: 3) ? 86_400 : Double(random(3)) / 100
            processes.append(OrderProcess(policy, skew: skew))
        }
    }

    /// Plays the world to its end. If the store may be written without being read, only the clocks order two sign-ins,
    /// every sign-in may yield to another, and a process may not know whose tokens it replaces. The rules about tokens
    /// and lost sessions therefore apply only to other stores.
    /// - Returns: The rule that is violated at the end.
    func play() -> String? {
        for index in processes.indices where chance(of: 2) {
            _ = processes[index].machine.loadRequested(by: processes[index].machine.makeID())
            takeActions(of: index)
        }
        for _ in 0..<(setting.refreshes ? 200 : 40) {
            pass(Double(random(4)) / 1000)
            step(random(processes.count))
        }
        tell("from here on everything works")
        hasFaults = false
        for _ in 0..<400 {
            pass(1)
            for index in processes.indices {
                reachStore(index)
                answer(index)
                retry(index)
                refresh(index)
            }
        }
        return violation
    }

    private func step(_ index: Int) {
        if setting.refreshes { return stepWithRefreshes(index) }
        switch random(12) {
        case 0: signIn(index)
        case 1: if chance(of: 2) { signOut(index) }
        case 2: endTimeLimit(index)
        case 3: retry(index)
        case 4...7: reachStore(index)
        default: answer(index)
        }
    }

    private func stepWithRefreshes(_ index: Int) {
        switch random(48) {
        case 0: signIn(index)
        case 1: if chance(of: 2) { signOut(index) } else { disturbRefreshes() }
        case 2: endTimeLimit(index)
        case 3...5: retry(index)
        case 6...9: forceRefresh(index)
        case 10...19: refresh(index)
        case 20...33: reachStore(index)
        default: answer(index)
        }
    }

    private var violation: String? {
        let stored = store.session
        if let stored, ended.contains(stored) { return "\(name(stored)), which has ended, is stored" }
        for (number, session) in sessions.enumerated() where !setting.writesUnread {
            if session == stored, server.hasRevoked(number) { return "\(name(session)) is stored, and was revoked" }
            if ended.contains(session), server.accepts(number) {
                return "\(name(session)) has ended, and the server accepts its tokens"
            }
        }
        for (index, process) in processes.enumerated() {
            let used = process.machine.session?.record.id
            if let used, ended.contains(used) { return "process \(index) uses \(name(used)), which has ended" }
            if !process.machine.isUnread, used != stored {
                return "process \(index) uses \(name(used)), and the store contains \(name(stored))"
            }
        }
        // If the app requires saved tokens, an unsaved sign-in is withdrawn.
        let mayBeEmpty =
            hasSignedOut || server.hasEnded || requiresSavedTokens || setting.writesUnread || sessions.isEmpty
        return stored == nil && !mayBeEmpty ? "no session is left, and neither a user nor the server has ended it" : nil
    }
}

// MARK: - Users

extension OrderWorld {
    private func signIn(_ index: Int) {
        guard sessions.count < Self.signIns else { return }
        endSession(of: index)
        let id = SessionID()
        sessions.append(id)
        let record = StoredSession(
            id: id, generation: processes[index].machine.makeGeneration(at: wallClock(of: index)),
            tokens: server.signIn())
        tell("\(index): a user signs in to \(name(id)) at \(place(record.position))")
        processes[index].machine.signedIn(record, deadlines: nil, by: processes[index].machine.makeID())
        takeActions(of: index)
    }

    private func signOut(_ index: Int) {
        guard !processes[index].machine.isUnread || chance(of: 3) else { return }
        tell("\(index): the user signs out of \(name(processes[index].machine.session?.record.id))")
        endSession(of: index)
        hasSignedOut = true
        processes[index].machine.signedOut(at: wallClock(of: index))
        takeActions(of: index)
    }

    private func endSession(of index: Int) {
        if let former = processes[index].machine.session?.record.id { ended.insert(former) }
    }
}

// MARK: - The store

extension OrderWorld {
    private func takeActions(of index: Int) {
        for action in processes[index].machine.takeActions() {
            switch action {
            case .store(let task):
                let asked = task == .read ? nil : processes[index].machine.undecided(task)
                processes[index].operations.append(OrderProcess.Operation(task: task, asked: asked))
            case .retryStore: processes[index].awaitsRetry = true
            case .refresh(let job): processes[index].refreshes.append(OrderProcess.Refresh(job: job))
            case .revoke(let tokens, _): server.revoke(tokens)
            case .emit(let event):
                note(event)
                tell("\(index):     \(event)")
            case .resume, .awaitNetwork, .probe: break
            }
        }
    }

    private func note(_ event: SessionEvent) {
        switch event {
        case .storeRecovered: features.insert(.savedLater)
        case .replacedUnreadableRecord: features.insert(.unreadWrite)
        case .adopted: features.insert(.adoption)
        case .signedOutElsewhere: features.insert(.endElsewhere)
        case .refreshSucceeded: features.insert(.refresh)
        case .expired: features.insert(.expiry)
        default: break
        }
    }

    /// The first operation reaches the store. The process does not have its result yet.
    private func reachStore(_ index: Int) {
        guard let operation = processes[index].operations.first, operation.outcome == nil else { return }
        guard processes[index].machine.needs(operation.task, isLate: operation.isLate) else {
            processes[index].operations.removeFirst()
            return
        }
        let isFaulty = hasFaults && chance(of: setting.refreshes ? 4 : 2)
        let fault = isFaulty ? Fault.allCases[random(Fault.allCases.count)] : nil
        let before = store.content
        let outcome = outcome(of: operation.task, fault, index)
        processes[index].operations[0].outcome = outcome
        tell(
            "\(index): the store runs \(words(operation.task)) over \(words(before))"
                + (fault.map { ", but \($0)" } ?? "") + "; it contains \(words(store.content))")
        guard store.content != before else { return }
        for other in processes.indices where other != index {
            processes[other].operations.append(OrderProcess.Operation(task: .read, asked: nil))
        }
    }

    private func outcome(
        of task: SessionStateMachine.StoreTask, _ fault: Fault?, _ index: Int
    ) -> OrderProcess.Outcome {
        let machine = processes[index].machine
        let unavailable = StoreReading.unavailable(Self.failure)
        let mayRead = fault != .cannotReach && fault != .cannotRead
        let reading = mayRead ? store.content : unavailable
        if case .read = task {
            return OrderProcess.Outcome(decision: machine.undecided(task), reading: reading, content: reading)
        }
        guard mayRead || fault == .cannotRead && setting.writesUnread else {
            return OrderProcess.Outcome(
                decision: machine.undecided(task), reading: reading, content: reading, failure: Self.failure)
        }
        let decision = machine.decide(
            task, over: reading, hasLostLock: hasLostLock(index, for: task), at: wallClock(of: index))
        if fault == .cannotWrite, decision.update != .keep {
            return OrderProcess.Outcome(
                decision: decision, reading: reading, content: unavailable, failure: Self.failure)
        }
        store.carryOut(decision.update)
        if fault == .failsAfterCommit {
            features.insert(.failureAfterCommit)
            return OrderProcess.Outcome(
                decision: decision, reading: reading, content: unavailable, failure: Self.failure)
        }
        return OrderProcess.Outcome(decision: decision, reading: reading, content: content(reading, decision.update))
    }

    /// The content that a process knows after its operation.
    private func content(_ reading: StoreReading, _ update: StoreUpdate) -> StoreReading {
        switch update {
        case .keep, .mark: reading
        case .write(let record): .found(record)
        case .delete: .empty
        case .end(let mark): .ended(mark)
        }
    }

    /// The process learns the outcome of its first operation.
    private func answer(_ index: Int) {
        guard let operation = processes[index].operations.first, let outcome = operation.outcome else { return }
        processes[index].operations.removeFirst()
        tell("\(index): the store answers \(words(operation.task))\(operation.isLate ? ", late" : "")")
        if operation.isLate {
            features.insert(.lateAnswer)
            processes[index].machine.storeAnsweredLate(
                operation.task, outcome.decision, .init(reading: outcome.content))
            takeActions(of: index)
        } else {
            report(outcome, to: operation.task, index)
        }
    }

    /// The time limit of the oldest operation that has one passes.
    private func endTimeLimit(_ index: Int) {
        guard let position = processes[index].operations.firstIndex(where: { !$0.isLate }) else { return }
        processes[index].operations[position].isLate = true
        let operation = processes[index].operations[position]
        tell("\(index): the time limit of \(words(operation.task)) is over")
        let decision =
            operation.outcome?.decision ?? operation.asked ?? processes[index].machine.undecided(operation.task)
        let unavailable = StoreReading.unavailable(Self.failure)
        report(
            OrderProcess.Outcome(
                decision: decision, reading: unavailable, content: unavailable, failure: Self.failure),
            to: operation.task, index)
    }

    private func report(_ outcome: OrderProcess.Outcome, to task: SessionStateMachine.StoreTask, _ index: Int) {
        processes[index].machine.storeAnswered(
            task,
            .init(decision: outcome.decision, snapshot: .init(reading: outcome.reading), failure: outcome.failure),
            at: moment(of: index))
        takeActions(of: index)
        if case .prepare = task { prepared(index) }
    }

    private func retry(_ index: Int) {
        guard processes[index].awaitsRetry else { return }
        processes[index].awaitsRetry = false
        processes[index].machine.storeRetryDue()
        takeActions(of: index)
    }
}

// MARK: - Refreshes

extension OrderWorld {
    private func forceRefresh(_ index: Int) {
        // A failure is followed by a backoff.
        if chance(of: 2) { pass(120) }
        let machine = processes[index].machine
        let reply = processes[index].machine.refreshForced(
            for: machine.callOwner, by: processes[index].machine.makeID(), at: uptime)
        tell("\(index): a caller forces a refresh: \(reply)")
        takeActions(of: index)
    }

    /// The oldest refresh takes its next step.
    private func refresh(_ index: Int) {
        guard let refresh = processes[index].refreshes.first else { return }
        switch refresh.step {
        case .acquiresLock: acquireLock(index, refresh.job)
        case .prepares: break
        case .sends: respond(index, to: refresh.job)
        case .saves: if !processes[index].isBusy { endRound(index, refresh.job) }
        }
    }

    private func acquireLock(_ index: Int, _ job: SessionStateMachine.RefreshJob) {
        guard lock == nil else { return }
        locks += 1
        lock = locks
        let isConfirming = processes[index].machine.isConfirmingExpiry(of: job)
        processes[index].refreshes[0].lock = locks
        processes[index].refreshes[0].rounds += 1
        processes[index].refreshes[0].step = isConfirming ? .saves : .prepares
        let task: SessionStateMachine.StoreTask = isConfirming ? .confirmExpiry : .prepare(job)
        processes[index].operations.append(
            OrderProcess.Operation(task: task, asked: processes[index].machine.undecided(task)))
    }

    /// The store has completed the preparation, or its time limit has passed.
    private func prepared(_ index: Int) {
        guard let refresh = processes[index].refreshes.first, refresh.step == .prepares else { return }
        if processes[index].machine.preparation(of: refresh.job) == .send {
            processes[index].machine.lockChecked(refresh.job, isHeld: refresh.lock == lock)
            takeActions(of: index)
        }
        switch processes[index].machine.preparation(of: refresh.job) {
        case .send: processes[index].refreshes[0].step = .sends
        case .startOver: startRound(index, refresh.job)
        case .stop: processes[index].refreshes[0].step = .saves
        }
    }

    private func respond(_ index: Int, to job: SessionStateMachine.RefreshJob) {
        let fault = hasFaults ? random(4) : 3
        var outcome = SessionStateMachine.RefreshOutcome.transient(
            RefreshError(.connection, description: "the connection was lost"))
        // The response is lost, or arrives.
        if fault > 0 {
            let tokens = server.refresh(job.record.tokens, isLost: fault == 1)
            if fault > 1 {
                outcome =
                    tokens.map { .success($0, nil, estimatedExpiry: nil) }
                    ?? .terminal(.refreshTokenRejected(code: nil))
            }
        }
        tell("\(index): the server responds to the refresh of \(name(job.record.id)): \(outcome)")
        processes[index].refreshes[0].step = .saves
        let next = processes[index].machine.refreshFinished(job, outcome, at: moment(of: index))
        takeActions(of: index)
        if let next { startRound(index, next) }
    }

    private func endRound(_ index: Int, _ job: SessionStateMachine.RefreshJob) {
        if processes[index].machine.isConfirmingExpiry(of: job) { return startRound(index, job) }
        releaseLock(index)
        processes[index].refreshes.removeFirst()
    }

    private func startRound(_ index: Int, _ job: SessionStateMachine.RefreshJob) {
        releaseLock(index)
        guard processes[index].refreshes[0].rounds < 4 else {
            processes[index].refreshes.removeFirst()
            return giveUp(index, job)
        }
        processes[index].refreshes[0].job = job
        processes[index].refreshes[0].step = .acquiresLock
    }

    /// The lock was lost again and again.
    private func giveUp(_ index: Int, _ job: SessionStateMachine.RefreshJob) {
        if processes[index].machine.isConfirmingExpiry(of: job) {
            processes[index].machine.confirmationFailed(job, RefreshError(Self.failure), at: moment(of: index))
            return takeActions(of: index)
        }
        let unavailable = StoreReading.unavailable(Self.failure)
        let decision = processes[index].machine.undecided(.prepare(job))
        report(
            OrderProcess.Outcome(
                decision: decision, reading: unavailable, content: unavailable, failure: Self.failure),
            to: .prepare(job), index)
    }

    private func releaseLock(_ index: Int) {
        if let held = processes[index].refreshes[0].lock, held == lock { lock = nil }
        processes[index].refreshes[0].lock = nil
    }

    /// The server ends a session. Or a process was stopped for longer than its lease, so that another may take over its
    /// lock.
    private func disturbRefreshes() {
        if chance(of: 3) { server.endSession() }
        guard lock != nil else { return }
        features.insert(.lostLock)
        tell("the lock is lost")
        lock = nil
    }

    private func hasLostLock(_ index: Int, for task: SessionStateMachine.StoreTask) -> Bool {
        guard let held = processes[index].refreshes.first?.lock else { return task.needsLock }
        return held != lock
    }
}

// MARK: - Chance and words

extension OrderWorld {
    private func random(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }

    private func chance(of count: Int) -> Bool { random(count) == 0 }

    private func pass(_ seconds: Double) {
        uptime += .seconds(seconds)
        clock.addTimeInterval(seconds)
    }

    private func wallClock(of index: Int) -> Date {
        clock.addingTimeInterval(processes[index].skew)
    }

    private func moment(of index: Int) -> SessionStateMachine.Moment {
        .init(uptime: uptime, wallClock: wallClock(of: index), jitter: 0)
    }

    private func tell(_ line: @autoclosure () -> String) {
        if story != nil { story?.append(line()) }
    }

    private func name(_ session: SessionID?) -> String {
        guard let session else { return "no session" }
        return "session \((sessions.firstIndex(of: session) ?? -1) + 1)"
    }

    private func place(_ position: SessionPosition) -> String { "\(position.generation - 1_790_000_000_000)" }

    private func words(_ reading: StoreReading) -> String {
        switch reading {
        case .found(let record): "\(name(record.id)) at \(place(record.position))"
        case .ended(let mark): "the mark \(place(mark.position))"
        case .empty: "nothing"
        case .unavailable: "what cannot be read"
        }
    }

    private func words(_ task: SessionStateMachine.StoreTask) -> String {
        switch task {
        case .read: "a reading"
        case .write: "a write"
        case .end: "an ending"
        case .prepare: "a preparation"
        case .clearJournal: "the removal of a journal"
        case .confirmExpiry: "the confirmation of a refusal"
        }
    }
}
