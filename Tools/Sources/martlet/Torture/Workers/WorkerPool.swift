internal import Foundation
internal import Martlet
internal import NIOConcurrencyHelpers

/// The worker processes that share one record.
struct WorkerPool {
    private(set) var workers: [WorkerProcess] = []
    private(set) var started = 0
    /// Workers that this pool has killed, which are not reported as ``dead``.
    private var killed: Set<WorkerName> = []
    private let configuration: @Sendable (WorkerName) -> WorkerConfiguration
    private let timeout: Duration
    private let onStart: (WorkerProcess) -> Void

    /// The result of one instruction.
    enum Outcome: Sendable {
        case report(WorkerReport)
        /// The worker died before it reported.
        case died
        /// The worker did not report within the time limit and was killed.
        case hung
    }

    init(
        timeout: Duration, onStart: @escaping (WorkerProcess) -> Void,
        configuration: @escaping @Sendable (WorkerName) -> WorkerConfiguration
    ) {
        self.timeout = timeout
        self.onStart = onStart
        self.configuration = configuration
    }

    /// Starts a worker in each slot without a living worker.
    /// - Returns: The names of new workers that did not report in time.
    mutating func fill(_ count: Int) async throws -> [WorkerName] {
        var fresh: [WorkerProcess] = []
        for slot in 0..<count {
            if slot < workers.count, workers[slot].isAlive { continue }
            let generation = slot < workers.count ? workers[slot].name.generation + 1 : 1
            let worker = try WorkerProcess(configuration(WorkerName(slot: slot, generation: generation)))
            if slot < workers.count { workers[slot] = worker } else { workers.append(worker) }
            onStart(worker)
            started += 1
            fresh.append(worker)
        }
        return await outcomes(of: fresh).filter { if case .hung = $0.outcome { true } else { false } }.map(\.name)
    }

    /// Sends an instruction to each worker and waits for all of them.
    func ask(
        _ workers: [WorkerProcess], _ instruction: (WorkerProcess) -> WorkerInstruction
    ) async -> [(name: WorkerName, outcome: Outcome)] {
        for worker in workers { worker.send(instruction(worker)) }
        return await outcomes(of: workers)
    }

    private func outcomes(of workers: [WorkerProcess]) async -> [(name: WorkerName, outcome: Outcome)] {
        let reports = NIOLockedValueBox<[WorkerName: WorkerReport]>([:])
        let hung = NIOLockedValueBox<Set<WorkerName>>([])
        let watchdog = Task { [timeout] in
            try await Task.sleep(for: timeout)
            for worker in workers where reports.withLockedValue({ $0[worker.name] == nil }) && worker.isAlive {
                hung.withLockedValue { _ = $0.insert(worker.name) }
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
            if hung.withLockedValue({ $0.contains(worker.name) }) { return (worker.name, .hung) }
            return (worker.name, reports.withLockedValue { $0[worker.name] }.map { .report($0) } ?? .died)
        }
    }

    /// The workers that died without being killed by this pool.
    var dead: [WorkerName] {
        workers.filter { !$0.isAlive }.map(\.name).filter { !killed.contains($0) }
    }

    /// Kills the remaining workers and waits until they have exited.
    mutating func killAll() async {
        killed.formUnion(workers.map(\.name))
        for worker in workers { worker.signal(SIGKILL) }
        // Use a detached task: a cancelled task would not wait, and the workers must not outlive this process.
        let workers = workers
        await Task.detached { for worker in workers { await worker.waitUntilExited() } }.value
    }
}
