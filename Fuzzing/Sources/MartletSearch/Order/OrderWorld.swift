import MartletTesting

@testable import Martlet

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Processes that share a store, whose users sign in and out at random. An operation of the store may fail before or
/// after it has changed the record, take longer than its time limit, and end in between; the clocks may differ by a day.
/// Afterwards everything works, and the processes come to rest. Then no session that a user has ended may be stored or in
/// use, and all processes that have read the store must agree with it.
///
/// A world derives from its seed. The machines run without the manager, so that many worlds fit into a second: what is
/// looked for here takes three or four rare steps in one order.
final class OrderWorld {
    /// The conditions that stay the same in a world.
    struct Setting {
        let processes: Int
        /// Whether a sign-in may be written to a store that cannot be read.
        let writesUnread: Bool

        static let all = [1, 2, 3].flatMap { processes in
            [false, true].map { Setting(processes: processes, writesUnread: $0) }
        }

        var words: String {
            "\(processes) process\(processes == 1 ? "" : "es")"
                + (writesUnread ? ", and a store that may be written although it cannot be read" : "")
        }
    }

    private enum Fault: CaseIterable {
        case cannotReach, cannotRead, failsAfterCommit, cannotWrite
    }

    private static let failure = StorageError(.unreachable, "the store has failed")
    private static let steps = 30
    private static let signIns = 4

    private let setting: Setting
    private var generator: SeededGenerator
    private var store = SharedStore()
    private var processes: [OrderProcess] = []
    private var clock = Date(timeIntervalSince1970: 1_790_000_000)
    private var hasFaults = true
    private var ended: Set<SessionID> = []
    private var sessions: [SessionID] = []
    /// The events so far; `nil` if they are not told.
    private(set) var story: [String]?

    init(_ setting: Setting, seed: UInt64, isTold: Bool = false) {
        self.setting = setting
        generator = SeededGenerator(seed: seed)
        story = isTold ? [] : nil
        var policy = SessionPolicy()
        policy.requiresSavedTokens = chance(of: 4)
        for _ in 0..<setting.processes {
            let skew = chance(of: 3) ? 86_400 : Double(random(3)) / 100
            processes.append(OrderProcess(policy, skew: skew))
        }
    }

    /// - Returns: The rule that is violated at the end.
    func play() -> String? {
        for index in processes.indices where chance(of: 2) {
            _ = processes[index].machine.loadRequested(by: processes[index].machine.makeID())
            takeActions(of: index)
        }
        for _ in 0..<Self.steps {
            clock.addTimeInterval(Double(random(4)) / 1000)
            step(random(processes.count))
        }
        tell("from here on everything works")
        hasFaults = false
        for _ in 0..<400 {
            clock.addTimeInterval(1)
            for index in processes.indices {
                reachStore(index)
                answer(index)
                retry(index)
            }
        }
        return violation
    }

    private func step(_ index: Int) {
        switch random(12) {
        case 0: signIn(index)
        case 1: if chance(of: 2) { signOut(index) }
        case 2: endTimeLimit(index)
        case 3: retry(index)
        case 4...7: reachStore(index)
        default: answer(index)
        }
    }

    private var violation: String? {
        let stored = store.session
        if let stored, ended.contains(stored) { return "\(name(stored)), which has ended, is stored" }
        for (index, process) in processes.enumerated() {
            let used = process.machine.session?.record.id
            if let used, ended.contains(used) { return "process \(index) uses \(name(used)), which has ended" }
            if !process.machine.isUnread, used != stored {
                return "process \(index) uses \(name(used)), and the store contains \(name(stored))"
            }
        }
        return nil
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
            tokens: Tokens(accessToken: Secret("access \(sessions.count)"), refreshToken: Secret("\(sessions.count)")))
        tell("\(index): a user signs in to \(name(id)) at \(place(record.order))")
        processes[index].machine.signedIn(record, deadlines: nil, by: processes[index].machine.makeID())
        takeActions(of: index)
    }

    private func signOut(_ index: Int) {
        guard !processes[index].machine.isUnread || chance(of: 3) else { return }
        tell("\(index): the user signs out of \(name(processes[index].machine.session?.record.id))")
        endSession(of: index)
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
            case .emit(let event): tell("\(index):     \(event)")
            case .resume, .refresh, .revoke, .awaitNetwork, .probe: break
            }
        }
    }

    /// The first operation reaches the store. Its answer is still to come.
    private func reachStore(_ index: Int) {
        guard let operation = processes[index].operations.first, operation.outcome == nil else { return }
        guard processes[index].machine.needs(operation.task, isLate: operation.isLate) else {
            processes[index].operations.removeFirst()
            return
        }
        let fault = hasFaults && chance(of: 2) ? Fault.allCases[random(Fault.allCases.count)] : nil
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
        let decision = machine.decide(task, over: reading, hasLostLock: false, at: wallClock(of: index))
        if fault == .cannotWrite, decision.update != .keep {
            return OrderProcess.Outcome(
                decision: decision, reading: reading, content: unavailable, failure: Self.failure)
        }
        store.carryOut(decision.update)
        if fault == .failsAfterCommit {
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
            processes[index].machine.storeAnsweredLate(
                operation.task, outcome.decision, .init(reading: outcome.content))
        } else {
            report(outcome, to: operation.task, index)
        }
        takeActions(of: index)
    }

    /// The time limit of the oldest operation that has one is over.
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
        takeActions(of: index)
    }

    private func report(_ outcome: OrderProcess.Outcome, to task: SessionStateMachine.StoreTask, _ index: Int) {
        processes[index].machine.storeAnswered(
            task,
            .init(decision: outcome.decision, snapshot: .init(reading: outcome.reading), failure: outcome.failure),
            at: .init(uptime: .zero, wallClock: wallClock(of: index), jitter: 0))
    }

    private func retry(_ index: Int) {
        guard processes[index].awaitsRetry else { return }
        processes[index].awaitsRetry = false
        processes[index].machine.storeRetryDue()
        takeActions(of: index)
    }
}

// MARK: - Chance and words

extension OrderWorld {
    private func random(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }

    private func chance(of count: Int) -> Bool { random(count) == 0 }

    private func wallClock(of index: Int) -> Date { clock.addingTimeInterval(processes[index].skew) }

    private func tell(_ line: @autoclosure () -> String) {
        if story != nil { story?.append(line()) }
    }

    private func name(_ session: SessionID?) -> String {
        guard let session else { return "no session" }
        return "session \((sessions.firstIndex(of: session) ?? -1) + 1)"
    }

    private func place(_ order: SessionOrder) -> String { "\(order.generation - 1_790_000_000_000)" }

    private func words(_ reading: StoreReading) -> String {
        switch reading {
        case .found(let record): "\(name(record.id)) at \(place(record.order))"
        case .ended(let mark): "the mark \(place(mark.order))"
        case .empty: "nothing"
        case .unavailable: "what cannot be read"
        }
    }

    private func words(_ task: SessionStateMachine.StoreTask) -> String {
        switch task {
        case .read: "a reading"
        case .write: "a write"
        case .end: "an ending"
        case .prepare, .clearJournal, .confirmExpiry: "\(task)"
        }
    }
}
