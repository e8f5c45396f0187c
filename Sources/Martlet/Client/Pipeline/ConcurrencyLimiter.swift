/// Limits how many requests are under way to one origin. Further requests wait in a queue for a slot.
final class ConcurrencyLimiter: Sendable {
    /// The requests to one origin: how many are under way, and which ones wait.
    private struct Queue {
        var running = 0
        var waiting: ArraySlice<(id: Int, continuation: CheckedContinuation<Bool, Never>)> = []

        func hasSlot(within limit: Int?) -> Bool {
            limit.map { running < max($0, 1) } ?? true
        }

        /// Gives slots to as many waiting requests as the limit allows.
        mutating func admit(within limit: Int?) -> [CheckedContinuation<Bool, Never>] {
            var admitted: [CheckedContinuation<Bool, Never>] = []
            while hasSlot(within: limit), let first = waiting.popFirst() {
                admitted.append(first.continuation)
                running += 1
            }
            return admitted
        }
    }

    /// The queues of all origins.
    private struct State {
        var queues: [Origin: Queue] = [:]
        var lastID = 0
        /// Cancelled requests that have not returned yet. One that is cancelled before it is queued must not be queued.
        var cancelledEarly: Set<Int> = []
    }

    /// The hooks of interceptors that the current task is part of, each while its call holds a slot.
    @TaskLocal private static var hooks: [RunningHook] = []

    private let limit: @Sendable (Origin) -> Int?
    private let state = Locked(State())

    /// - Parameter limit: The current limit for an origin; `nil` for none. Values below 1 count as 1.
    init(limit: @escaping @Sendable (Origin) -> Int?) {
        self.limit = limit
    }

    /// Whether the current task is part of a hook whose call holds a slot. Such a hook may wait for a call of its own,
    /// which must not wait for that slot, nor for slots that other calls hold in the same way.
    var isHeldByHook: Bool {
        Self.hooks.contains { $0.limiter === self && $0.isRunning.withLock { $0 } }
    }

    /// Runs a hook of an interceptor while its call holds a slot.
    func runHook<Value>(_ hook: () async throws -> Value) async rethrows -> Value {
        let running = RunningHook(limiter: self)
        // A task that the hook starts and does not wait for inherits the task-local value, but needs slots again.
        defer { running.isRunning.withLock { $0 = false } }
        return try await Self.$hooks.withValue(Self.hooks + [running]) { try await hook() }
    }

    /// The number of requests that wait for a slot.
    func waitingCount(for origin: Origin) -> Int {
        state.withLock { $0.queues[origin]?.waiting.count ?? 0 }
    }

    /// Waits for a slot.
    /// - Parameter origin: The origin of the request; `nil` if the request needs no slot.
    /// - Returns: Whether the request had to queue.
    /// - Throws: `CancellationError` if the task is cancelled while it waits.
    func acquire(_ origin: Origin?) async throws -> Bool {
        guard let origin else { return false }
        let limit = limit(origin)
        let hasAcquired = state.withLock { state in
            var queue = state.queues[origin] ?? Queue()
            guard queue.waiting.isEmpty, queue.hasSlot(within: limit) else { return false }
            queue.running += 1
            state.queues[origin] = queue
            return true
        }
        if hasAcquired { return false }
        try await waitInQueue(for: origin)
        return true
    }

    private func waitInQueue(for origin: Origin) async throws {
        let limit = limit(origin)
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let hasSlot = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
                let admitted = state.withLock { state -> [CheckedContinuation<Bool, Never>]? in
                    if state.cancelledEarly.contains(id) { return nil }
                    // In place: a copy of the queue would be as long as the queue, for each call that joins it.
                    state.queues[origin, default: Queue()].waiting.append((id, continuation))
                    // A slot may have become free, or the limit may have grown. The first in the queue gets it.
                    return state.queues[origin]?.admit(within: limit)
                }
                guard let admitted else { return continuation.resume(returning: false) }
                for continuation in admitted { continuation.resume(returning: true) }
            }
        } onCancel: {
            let continuation = state.withLock { state -> CheckedContinuation<Bool, Never>? in
                state.cancelledEarly.insert(id)
                guard let index = state.queues[origin]?.waiting.firstIndex(where: { $0.id == id }) else { return nil }
                return state.queues[origin]?.waiting.remove(at: index).continuation
            }
            continuation?.resume(returning: false)
        }
        if Task.isCancelled { state.withLock { _ = $0.cancelledEarly.remove(id) } }
        guard hasSlot else { throw CancellationError() }
    }

    /// Releases a slot, and admits as many queued requests as the limit allows by now.
    func release(_ origin: Origin) {
        let limit = limit(origin)
        let next = state.withLock { state -> [CheckedContinuation<Bool, Never>] in
            state.queues[origin]?.running -= 1
            let next = state.queues[origin]?.admit(within: limit) ?? []
            if state.queues[origin]?.running == 0 { state.queues[origin] = nil }
            return next
        }
        for continuation in next { continuation.resume(returning: true) }
    }
}

/// A hook of an interceptor whose call holds a slot of a limiter.
private struct RunningHook: Sendable {
    let limiter: ConcurrencyLimiter
    let isRunning = Locked(true)
}
