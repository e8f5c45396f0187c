/// Limits the number of requests under way to one origin. Further requests wait in a queue for a slot.
final class ConcurrencyLimiter: Sendable {
    /// A request's claim to a slot.
    struct Claim: Sendable {
        let origin: Origin
        /// Whether the request may last, such as a stream.
        let isLasting: Bool
    }

    /// A request that waits.
    private struct Waiter {
        let id: Int
        let isLasting: Bool
        let continuation: CheckedContinuation<Bool, Never>
    }

    /// The requests to one origin: how many are under way, and which ones wait.
    private struct Queue {
        let reservePerConnection: Int
        var running = 0
        /// The number of running requests that may take long. No request waits in reserve behind them.
        var lasting = 0
        /// Whether further requests may wait in reserve: the last short request that ended was quick and successful.
        var isReserveOpen = false
        var waiting: ArraySlice<Waiter> = []

        func hasSlot(within limit: Int?, isLasting: Bool) -> Bool {
            guard let limit = limit.map({ max($0, 1) }) else { return true }
            let reserve = isLasting || !isReserveOpen ? 0 : max(0, limit - lasting) * reservePerConnection
            return running < limit + reserve
        }

        mutating func start(isLasting: Bool) {
            running += 1
            if isLasting { lasting += 1 }
        }

        mutating func startAtOnce(isLasting: Bool, _ limit: Int?) -> Bool {
            guard waiting.isEmpty, hasSlot(within: limit, isLasting: isLasting) else { return false }
            start(isLasting: isLasting)
            return true
        }

        mutating func append(_ waiter: Waiter, within limit: Int?) -> [CheckedContinuation<Bool, Never>] {
            waiting.append(waiter)
            return admit(within: limit)
        }

        /// - Returns: The requests that got slots, and whether none is under way any more.
        mutating func end(isLasting: Bool, opensReserve: Bool?, _ limit: Int?) -> (
            admitted: [CheckedContinuation<Bool, Never>], isIdle: Bool
        ) {
            running -= 1
            if isLasting { lasting -= 1 } else { isReserveOpen = opensReserve ?? isReserveOpen }
            // The conditions of the next burst are unknown.
            if running == 0 { isReserveOpen = false }
            return (admit(within: limit), running == 0)
        }

        /// Gives slots to as many waiting requests as the limit allows.
        mutating func admit(within limit: Int?) -> [CheckedContinuation<Bool, Never>] {
            var admitted: [CheckedContinuation<Bool, Never>] = []
            while let first = waiting.first, hasSlot(within: limit, isLasting: first.isLasting) {
                waiting.removeFirst()
                admitted.append(first.continuation)
                start(isLasting: first.isLasting)
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

    /// The queues of a few origins are kept, so that consecutive calls need not create them again.
    private static let maximumIdleQueues = 8

    private let limit: @Sendable (Origin) -> Int?
    private let reservePerConnection: Int
    private let state = Locked(State())

    /// - Parameters:
    ///   - reservePerConnection: The number of short requests that may be under way beyond the limit, for each
    ///     connection that is left to short requests. There is no reserve at first, nor after a request that did not
    ///     open it.
    ///   - limit: The current limit for an origin; `nil` for none. Values below 1 count as 1.
    init(reservePerConnection: Int = 0, limit: @escaping @Sendable (Origin) -> Int?) {
        self.reservePerConnection = reservePerConnection
        self.limit = limit
    }

    /// - Parameter ours: The app's own limit, which has no reserve.
    convenience init(of transport: any Transport, at ours: Int?) {
        let reserve = ours == nil ? (transport as? any PunctualTransport)?.reservePerConnection : nil
        self.init(reservePerConnection: reserve ?? 0) { origin in
            guard let ours else { return transport.parallelRequests(to: origin) }
            return min(ours, transport.parallelRequests(to: origin) ?? ours)
        }
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

    /// Takes a slot if one is free and no other request waits for it.
    /// - Parameter claim: The request's claim; `nil` if it needs no slot.
    /// - Returns: `false` if the request must wait.
    func take(_ claim: Claim?) -> Bool {
        guard let claim else { return true }
        let limit = limit(claim.origin)
        return state.withLock { state in
            state.queues[claim.origin, default: Queue(reservePerConnection: reservePerConnection)]
                .startAtOnce(isLasting: claim.isLasting, limit)
        }
    }

    /// Waits for a slot in the queue.
    /// - Throws: `CancellationError` if the task is cancelled while it waits.
    func wait(for claim: Claim?) async throws {
        guard let claim else { return }
        let origin = claim.origin
        let limit = limit(origin)
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let hasSlot = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
                let admitted = state.withLock { state -> [CheckedContinuation<Bool, Never>]? in
                    if state.cancelledEarly.contains(id) { return nil }
                    let waiter = Waiter(id: id, isLasting: claim.isLasting, continuation: continuation)
                    // A slot may have become free, or the limit may have grown. The first in the queue gets it.
                    return state.queues[origin, default: Queue(reservePerConnection: reservePerConnection)]
                        .append(waiter, within: limit)
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
    /// - Parameter opensReserve: Whether further requests may wait for a connection within the transport, where their time
    ///   limits run and their tokens can no longer be replaced; `nil` if the request does not tell.
    func release(_ claim: Claim, opensReserve: Bool? = nil) {
        let origin = claim.origin
        let limit = limit(origin)
        let next = state.withLock { state -> [CheckedContinuation<Bool, Never>] in
            guard
                let (next, isIdle) = state.queues[origin]?.end(
                    isLasting: claim.isLasting, opensReserve: opensReserve, limit)
            else { return [] }
            if isIdle, state.queues.count > Self.maximumIdleQueues { state.queues[origin] = nil }
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
