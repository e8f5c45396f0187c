internal import Foundation
internal import Martlet
internal import NIOConcurrencyHelpers

/// The workers that share one record.
struct Crew {
    private(set) var workers: [WorkerProcess] = []
    /// How many processes were started.
    private(set) var started = 0
    /// Who was sent home.
    private var dismissed: Set<WorkerName> = []
    private let brief: @Sendable (WorkerName) -> WorkerBrief
    private let patience: Duration
    private let onStart: (WorkerProcess) -> Void

    /// What came of an order.
    enum Outcome: Sendable {
        case report(WorkerReport)
        /// The worker is dead, as it should be after a kill.
        case gone
        /// It had not reported within the patience, and was killed.
        case hangs
    }

    init(
        patience: Duration, onStart: @escaping (WorkerProcess) -> Void,
        brief: @escaping @Sendable (WorkerName) -> WorkerBrief
    ) {
        self.patience = patience
        self.onStart = onStart
        self.brief = brief
    }

    /// Starts workers for all places that have none alive.
    /// - Returns: The names of those that hung at once.
    mutating func fill(_ count: Int) async throws -> [WorkerName] {
        var fresh: [WorkerProcess] = []
        for slot in 0..<count {
            if slot < workers.count, workers[slot].isAlive { continue }
            let generation = slot < workers.count ? workers[slot].name.generation + 1 : 1
            let worker = try WorkerProcess(brief(WorkerName(slot: slot, generation: generation)))
            if slot < workers.count { workers[slot] = worker } else { workers.append(worker) }
            onStart(worker)
            started += 1
            fresh.append(worker)
        }
        return await outcomes(of: fresh).filter { if case .hangs = $0.outcome { true } else { false } }.map(\.name)
    }

    /// Gives an order to each, and waits for all of them.
    func ask(
        _ workers: [WorkerProcess], _ order: (WorkerProcess) -> WorkerOrder
    ) async -> [(name: WorkerName, outcome: Outcome)] {
        for worker in workers { worker.send(order(worker)) }
        return await outcomes(of: workers)
    }

    private func outcomes(of workers: [WorkerProcess]) async -> [(name: WorkerName, outcome: Outcome)] {
        let reports = NIOLockedValueBox<[WorkerName: WorkerReport]>([:])
        let hanging = NIOLockedValueBox<Set<WorkerName>>([])
        let watchdog = Task { [patience] in
            try await Task.sleep(for: patience)
            for worker in workers where reports.withLockedValue({ $0[worker.name] == nil }) && worker.isAlive {
                hanging.withLockedValue { _ = $0.insert(worker.name) }
                worker.signal(SIGKILL)
            }
        }
        defer { watchdog.cancel() }
        await withTaskGroup { group in
            for worker in workers {
                group.addTask {
                    guard let report = await worker.report() else { return }
                    reports.withLockedValue { $0[worker.name] = report }
                }
            }
        }
        return workers.map { worker in
            if hanging.withLockedValue({ $0.contains(worker.name) }) { return (worker.name, .hangs) }
            return (worker.name, reports.withLockedValue { $0[worker.name] }.map { .report($0) } ?? .gone)
        }
    }

    /// Those who have died meanwhile.
    var dead: [WorkerName] {
        workers.filter { !$0.isAlive }.map(\.name).filter { !dismissed.contains($0) }
    }

    /// Kills all that are left and waits for the system to have seen them off.
    mutating func end() async {
        dismissed.formUnion(workers.map(\.name))
        for worker in workers { worker.signal(SIGKILL) }
        // A cancelled task would not wait, and they must not outlive this process.
        let workers = workers
        await Task.detached { for worker in workers { await worker.waitUntilGone() } }.value
    }
}
