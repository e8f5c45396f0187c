internal import Foundation
internal import Martlet
internal import MartletTesting
internal import NIOConcurrencyHelpers
internal import ReferenceBackend

/// Kills and stops workers, mostly at the moments at which it hurts: the server calls when a refresh has come, when it
/// has been dealt with and when its answer is on the wire.
final class Striker: Sendable {
    /// One strike to come.
    struct Plan: Sendable, Hashable {
        enum Blow: Sendable, Hashable {
            case kill
            case stop(Duration)
        }

        enum Moment: Sendable, Hashable {
            /// A refresh of the round has arrived, the first being 0.
            case arrival(refresh: Int)
            /// Its tokens are spent and nothing of the answer has been sent.
            case handled(refresh: Int)
            /// Its answer was sent so long ago.
            case answered(refresh: Int, after: Duration)
            /// The record says for the first time in the round that a refresh is about to be sent; all are struck but for
            /// whoever has the place in the crew.
            case noted(sparingSlot: Int)
            /// So long after the beginning of the round, whoever has the place in the crew.
            case clock(Duration, slot: Int)
        }

        var moment: Moment
        var blow: Blow
    }

    /// Strikes so far.
    struct Counts: Sendable {
        var kills = 0
        var stops = 0
        var inWindow = 0
    }

    private struct State {
        var crew: [Int: WorkerProcess] = [:]
        var spared: Set<WorkerName> = []
        var stopped: Set<WorkerName> = []
        var killed: Set<WorkerName> = []
        var plans: [Plan] = []
        /// Which refresh of the round a request is.
        var ordinals: [String: Int] = [:]
        var isArmed = false
        var hasSeenNote = false
        var tasks: [Task<Void, Never>] = []
        var ledger = RefreshLedger()
        var counts = Counts()
    }

    private let state = NIOLockedValueBox(State())
    private let start = ContinuousClock.now

    private var now: Duration { start.duration(to: .now) }

    var ledger: RefreshLedger { state.withLockedValue { $0.ledger } }
    var counts: Counts { state.withLockedValue { $0.counts } }

    func hasKilled(_ worker: WorkerName) -> Bool {
        state.withLockedValue { $0.killed.contains(worker) }
    }

    func joined(_ worker: WorkerProcess) {
        state.withLockedValue { $0.crew[worker.name.slot] = worker }
    }

    func sessionBegan() {
        state.withLockedValue { $0.ledger.sessionBegan() }
    }

    func stored(rotation: Int) {
        state.withLockedValue { $0.ledger.stored(rotation: rotation) }
    }

    /// Readies the strikes of a round. Nobody touches those who are spared.
    func arm(_ plans: [Plan], sparing spared: Set<WorkerName>) {
        state.withLockedValue { state in
            state.plans = plans
            state.spared = spared
            state.ordinals = [:]
            state.isArmed = true
            state.hasSeenNote = false
            for case .clock(let wait, let slot) in plans.map(\.moment) {
                schedule(after: wait, &state) { striker in
                    guard let plan = plans.first(where: { $0.moment == .clock(wait, slot: slot) }) else { return }
                    striker.state.withLockedValue { state in
                        guard let worker = state.crew[slot] else { return }
                        striker.strike(worker.name, plan.blow, &state)
                    }
                }
            }
        }
    }

    /// Strikes no more, and returns once all who were stopped go on.
    func settle() async {
        state.withLockedValue { $0.isArmed = false }
        while true {
            let tasks = state.withLockedValue { state in
                defer { state.tasks = [] }
                return state.tasks
            }
            if tasks.isEmpty { return }
            for task in tasks { await task.value }
        }
    }

    /// Called with each record that is seen on the disk.
    func recordChanged(_ record: StoredSession) {
        state.withLockedValue { state in
            state.ledger.stored(rotation: record.rotation)
            guard record.journal != nil, !state.hasSeenNote else { return }
            state.hasSeenNote = true
            for plan in state.plans {
                guard case .noted(let slot) = plan.moment else { continue }
                for worker in state.crew.values where worker.name.slot != slot {
                    strike(worker.name, plan.blow, &state)
                }
            }
        }
    }

    /// Called by the server, which goes on once this returns.
    func requestMoved(_ moment: RequestMoment) {
        guard moment.path == "/auth/refresh", let worker = moment.userAgent.flatMap(WorkerName.init(userAgent:)) else {
            return
        }
        state.withLockedValue { state in
            // With the lock held, so that what comes later has a later time.
            let now = now
            switch moment.stage {
            case .arrived:
                state.ledger.arrived(id: moment.id, from: worker, at: now)
                let ordinal = state.ordinals.count
                state.ordinals[moment.id] = ordinal
                act(on: worker, &state) { $0 == .arrival(refresh: ordinal) }
            case .handled(let status):
                state.ledger.handled(id: moment.id, status: status, at: now)
                guard let ordinal = state.ordinals[moment.id] else { return }
                act(on: worker, &state) { $0 == .handled(refresh: ordinal) }
            case .answered:
                guard let ordinal = state.ordinals[moment.id] else { return }
                for plan in state.plans {
                    guard case .answered(ordinal, let wait) = plan.moment else { continue }
                    schedule(after: wait, &state) { striker in
                        striker.state.withLockedValue { striker.strike(worker, plan.blow, &$0) }
                    }
                }
            }
        }
    }

    private func act(on worker: WorkerName, _ state: inout State, at isMoment: (Plan.Moment) -> Bool) {
        for plan in state.plans where isMoment(plan.moment) { strike(worker, plan.blow, &state) }
    }

    /// Strikes with the lock held, so that what is noted and what is done are one.
    private func strike(_ name: WorkerName, _ blow: Plan.Blow, _ state: inout State) {
        guard state.isArmed, !state.spared.contains(name), !state.stopped.contains(name),
            let worker = state.crew[name.slot], worker.name == name, worker.isAlive
        else { return }
        switch blow {
        case .kill:
            worker.signal(SIGKILL)
            state.killed.insert(name)
            state.counts.kills += 1
            if state.ledger.struck(name, .kill, at: now) { state.counts.inWindow += 1 }
        case .stop(let length):
            worker.signal(SIGSTOP)
            state.counts.stops += 1
            state.stopped.insert(name)
            if state.ledger.struck(name, .stop, at: now) { state.counts.inWindow += 1 }
            schedule(after: length, &state) { striker in
                striker.state.withLockedValue { state in
                    worker.signal(SIGCONT)
                    state.stopped.remove(name)
                    state.ledger.wentOn(name, at: striker.now)
                }
            }
        }
    }

    private func schedule(after wait: Duration, _ state: inout State, _ deed: @escaping @Sendable (Striker) -> Void) {
        state.tasks.append(
            Task {
                try? await Task.sleep(for: wait)
                deed(self)
            })
    }
}

extension Striker.Plan {
    /// The strikes of one round: often none, mostly one, at times more.
    static func some(of settings: TortureSettings, using random: inout SeededGenerator) -> [Striker.Plan] {
        guard random.chance(0.6) else { return [] }
        let count = random.chance(0.7) ? 1 : random.chance(0.8) ? 2 : 3
        return (0..<count).map { number in
            let isKill = random.chance(0.6)
            let length = settings.lease * Double.random(in: 1.1...1.6, using: &random)
            let moment: Moment =
                switch Int.random(in: 0..<10, using: &random) {
                case 0, 1: .arrival(refresh: number)
                case 2, 3, 4: .handled(refresh: number)
                case 5: .noted(sparingSlot: Int.random(in: 0..<settings.processes, using: &random))
                case 6, 7: .answered(refresh: number, after: .microseconds(Int.random(in: 0...4000, using: &random)))
                default:
                    .clock(
                        .microseconds(Int.random(in: 0...25_000, using: &random)),
                        slot: Int.random(in: 0..<settings.processes, using: &random))
                }
            return Striker.Plan(moment: moment, blow: isKill ? .kill : .stop(length))
        }
    }
}
