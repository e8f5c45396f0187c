internal import Foundation
internal import Martlet
internal import MartletTesting
internal import NIOConcurrencyHelpers
internal import ReferenceBackend

/// Kills and stops workers at planned moments of a round, mostly around a refresh.
///
/// The server calls it when a refresh has arrived, has been handled and has been responded to.
final class WorkerFaultInjector: Sendable {
    /// One planned fault: what to do to which worker, and when.
    struct Plan: Sendable, Hashable {
        /// The effect on the worker: SIGKILL, or SIGSTOP for a while.
        enum Effect: Sendable, Hashable {
            case kill
            case stop(Duration)
        }

        /// The moment of the fault, which also decides which worker it hits.
        enum Moment: Sendable, Hashable {
            /// A refresh of the round has arrived. The first one has number 0.
            case arrival(refresh: Int)
            /// The refresh has been handled: its token has been replaced, and nothing of the response has been sent.
            case handled(refresh: Int)
            /// The response was sent and this much time has passed.
            case responded(refresh: Int, after: Duration)
            /// The record's journal shows for the first time in the round that a refresh is about to be sent. The
            /// fault hits all workers except the one in this slot.
            case journaled(exceptSlot: Int)
            /// This much time has passed since the start of the round. The fault hits the worker in this slot.
            case clock(Duration, slot: Int)
        }

        var moment: Moment
        var effect: Effect
    }

    /// The number of faults so far. `duringRefresh` counts the faults between sending a refresh and storing its result.
    struct Counts: Sendable {
        var kills = 0
        var stops = 0
        var duringRefresh = 0
    }

    /// The workers, the plans of the current round, and what has happened so far.
    private struct State {
        var workers: [Int: WorkerProcess] = [:]
        /// Workers that get no fault in this round.
        var exempt: Set<WorkerName> = []
        var stopped: Set<WorkerName> = []
        var killed: Set<WorkerName> = []
        var plans: [Plan] = []
        /// The number of each refresh request within the round, by request id.
        var ordinals: [String: Int] = [:]
        /// Whether a round is in progress. Otherwise no fault is injected.
        var isArmed = false
        var hasSeenJournal = false
        var tasks: [Task<Void, Never>] = []
        var history = RefreshHistory()
        var counts = Counts()
    }

    private let state = NIOLockedValueBox(State())
    private let start = ContinuousClock.now

    private var now: Duration { start.duration(to: .now) }

    var history: RefreshHistory { state.withLockedValue { $0.history } }
    var counts: Counts { state.withLockedValue { $0.counts } }

    func hasKilled(_ worker: WorkerName) -> Bool {
        state.withLockedValue { $0.killed.contains(worker) }
    }

    func started(_ worker: WorkerProcess) {
        state.withLockedValue { $0.workers[worker.name.slot] = worker }
    }

    func sessionBegan(by worker: WorkerName) {
        state.withLockedValue { $0.history.sessionBegan(by: worker) }
    }

    /// Returns the history with the round that ends now, and begins the next round.
    func endRound() -> RefreshHistory {
        state.withLockedValue { state in
            defer { state.history.roundBegan() }
            return state.history
        }
    }

    func accessTokensExpire() {
        state.withLockedValue { $0.history.accessTokensExpire() }
    }

    func stored(rotation: Int) {
        state.withLockedValue { $0.history.stored(rotation: rotation) }
    }

    /// Starts a round with planned faults. Exempt workers get none.
    func startRound(_ plans: [Plan], exempting exempt: Set<WorkerName>) {
        state.withLockedValue { state in
            state.plans = plans
            state.exempt = exempt
            state.ordinals = [:]
            state.isArmed = true
            state.hasSeenJournal = false
            for case .clock(let wait, let slot) in plans.map(\.moment) {
                schedule(after: wait, &state) { injector in
                    guard let plan = plans.first(where: { $0.moment == .clock(wait, slot: slot) }) else { return }
                    injector.state.withLockedValue { state in
                        guard let worker = state.workers[slot] else { return }
                        injector.inject(worker.name, plan.effect, &state)
                    }
                }
            }
        }
    }

    /// Ends the round. There are no further faults. Returns when all stopped workers have been resumed.
    func finishRound() async {
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

    /// Called with each new record on the disk.
    func recordChanged(_ record: StoredSession) {
        state.withLockedValue { state in
            state.history.stored(rotation: record.stamp.rotation)
            guard record.hasRefreshJournal, !state.hasSeenJournal else { return }
            state.hasSeenJournal = true
            for plan in state.plans {
                guard case .journaled(let slot) = plan.moment else { continue }
                for worker in state.workers.values where worker.name.slot != slot {
                    inject(worker.name, plan.effect, &state)
                }
            }
        }
    }

    /// Called by the server at each stage of a request. The request waits until this returns.
    func requestReached(_ moment: RequestMoment) {
        guard moment.path == "/auth/refresh", let worker = moment.userAgent.flatMap(WorkerName.init(userAgent:)) else {
            return
        }
        state.withLockedValue { state in
            // Read the time with the lock held, so that times increase in the order of the events.
            let now = now
            switch moment.stage {
            case .arrived:
                state.history.arrived(id: moment.id, from: worker, at: now)
                let ordinal = state.ordinals.count
                state.ordinals[moment.id] = ordinal
                inject(worker, &state) { $0 == .arrival(refresh: ordinal) }
            case .grantRepeated:
                state.history.grantRepeated(id: moment.id)
            case .reuseDetected:
                state.history.reuseDetected(id: moment.id)
            case .handled(let status):
                state.history.handled(id: moment.id, status: status, at: now)
                guard let ordinal = state.ordinals[moment.id] else { return }
                inject(worker, &state) { $0 == .handled(refresh: ordinal) }
            case .responded:
                guard let ordinal = state.ordinals[moment.id] else { return }
                for plan in state.plans {
                    guard case .responded(ordinal, let wait) = plan.moment else { continue }
                    schedule(after: wait, &state) { injector in
                        injector.state.withLockedValue { injector.inject(worker, plan.effect, &$0) }
                    }
                }
            }
        }
    }

    private func inject(_ worker: WorkerName, _ state: inout State, ifPlannedAt isMoment: (Plan.Moment) -> Bool) {
        for plan in state.plans where isMoment(plan.moment) { inject(worker, plan.effect, &state) }
    }

    /// Sends the signal with the lock held, so that the history and the signals have the same order.
    private func inject(_ name: WorkerName, _ effect: Plan.Effect, _ state: inout State) {
        guard state.isArmed, !state.exempt.contains(name), !state.stopped.contains(name),
            let worker = state.workers[name.slot], worker.name == name, worker.isAlive
        else { return }
        switch effect {
        case .kill:
            worker.signal(SIGKILL)
            state.killed.insert(name)
            state.counts.kills += 1
            if state.history.faultInjected(name, .kill, at: now) { state.counts.duringRefresh += 1 }
        case .stop(let length):
            worker.signal(SIGSTOP)
            state.counts.stops += 1
            state.stopped.insert(name)
            if state.history.faultInjected(name, .stop, at: now) { state.counts.duringRefresh += 1 }
            schedule(after: length, &state) { injector in
                injector.state.withLockedValue { state in
                    worker.signal(SIGCONT)
                    state.stopped.remove(name)
                    state.history.resumed(name, at: injector.now)
                }
            }
        }
    }

    private func schedule(
        after wait: Duration, _ state: inout State, _ action: @escaping @Sendable (WorkerFaultInjector) -> Void
    ) {
        state.tasks.append(
            Task {
                try? await Task.sleep(for: wait)
                action(self)
            })
    }
}

extension WorkerFaultInjector.Plan {
    /// The faults of one round: none in 40 % of the rounds, otherwise usually one and at most three.
    static func random(for settings: TortureSettings, using random: inout SeededGenerator) -> [WorkerFaultInjector.Plan]
    {
        guard random.chance(0.6) else { return [] }
        let count = random.chance(0.7) ? 1 : random.chance(0.8) ? 2 : 3
        return (0..<count).map { number in
            let isKill = random.chance(0.6)
            let length = settings.lease * Double.random(in: 1.1...1.6, using: &random)
            let moment: Moment =
                switch Int.random(in: 0..<10, using: &random) {
                case 0, 1: .arrival(refresh: number)
                case 2, 3, 4: .handled(refresh: number)
                case 5: .journaled(exceptSlot: Int.random(in: 0..<settings.processes, using: &random))
                case 6, 7: .responded(refresh: number, after: .microseconds(Int.random(in: 0...4000, using: &random)))
                default:
                    .clock(
                        .microseconds(Int.random(in: 0...25_000, using: &random)),
                        slot: Int.random(in: 0..<settings.processes, using: &random))
                }
            return WorkerFaultInjector.Plan(moment: moment, effect: isKill ? .kill : .stop(length))
        }
    }
}
