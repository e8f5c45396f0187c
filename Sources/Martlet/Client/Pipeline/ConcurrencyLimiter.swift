/// Limits the number of requests under way to one origin. Further requests wait in a queue for a slot.
final class ConcurrencyLimiter: Sendable {
    /// A request's claim to a slot.
    struct Claim: Sendable {
        let origin: Origin
        /// Whether the request may last, such as a stream.
        let isLasting: Bool
    }

    /// The effect of a request's end on the reserve. The reserve is the number of requests beyond the limit
    /// that may wait for a connection inside the transport. Their time limits already run there, and their tokens can
    /// no longer be replaced.
    enum ReserveEffect {
        /// The request was quick and successful.
        case opens
        case closes
        /// The request says nothing about the server.
        case stays
    }

    /// A request that waits. The race ends with a slot, or with the cancellation of the request.
    private struct Waiter {
        let isLasting: Bool
        let race: Race<Void>
    }

    /// The requests to one origin: how many are under way, and which ones wait.
    private struct Queue {
        let reservePerConnection: Int
        var running = 0
        /// The number of running requests that may take long. No request waits in reserve behind them.
        var lasting = 0
        /// Whether the reserve is open. It opens after a short request that was quick and successful, and closes after
        /// one that was slow or failed.
        var isReserveOpen = false
        var waiting: ArraySlice<Waiter> = []

        func hasSlot(within limit: Int?, isLasting: Bool) -> Bool {
            guard let limit = limit.map({ min(max($0, 1), 1 << 30) }) else { return true }
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

        /// - Returns: The requests that got slots, and whether none is under way any more.
        mutating func end(isLasting: Bool, _ reserve: ReserveEffect, _ limit: Int?) -> (
            admitted: [Waiter], isIdle: Bool
        ) {
            running -= 1
            if isLasting { lasting -= 1 } else if reserve != .stays { isReserveOpen = reserve == .opens }
            // The conditions of the next burst are unknown.
            if running == 0 { isReserveOpen = false }
            return (admit(within: limit), running == 0)
        }

        /// Gives slots to as many waiting requests as the limit allows.
        mutating func admit(within limit: Int?) -> [Waiter] {
            var admitted: [Waiter] = []
            while let first = waiting.first, hasSlot(within: limit, isLasting: first.isLasting) {
                waiting.removeFirst()
                admitted.append(first)
                start(isLasting: first.isLasting)
            }
            return admitted
        }

        /// - Returns: `false` if the request does not wait, because it already has a slot.
        mutating func remove(_ race: Race<Void>) -> Bool {
            guard let index = waiting.firstIndex(where: { $0.race === race }) else { return false }
            waiting.remove(at: index)
            return true
        }
    }

    /// The interceptor hooks that the current task runs in. The call of each hook holds a slot.
    @TaskLocal private static var hooks: [RunningHook] = []

    /// The queues of a few origins are kept, so that consecutive calls need not create them again.
    private static let maximumIdleQueues = 8

    private let limit: @Sendable (Origin) -> Int?
    private let reservePerConnection: Int
    private let queues = Locked([Origin: Queue]())

    /// - Parameters:
    ///   - reservePerConnection: The number of short requests that may be under way beyond the limit, for each
    ///     connection that no lasting request occupies. The reserve starts closed, and closes again after a short
    ///     request that was slow or failed, and when no request is under way.
    ///   - limit: The current limit for an origin; `nil` for none. Values below 1 count as 1.
    init(reservePerConnection: Int = 0, limit: @escaping @Sendable (Origin) -> Int?) {
        self.reservePerConnection = reservePerConnection
        self.limit = limit
    }

    /// - Parameter appLimit: The app's own limit, which has no reserve.
    convenience init(of transport: any Transport, at appLimit: Int?) {
        let reserve = appLimit == nil ? (transport as? any DeadlineTransport)?.reservePerConnection : nil
        self.init(reservePerConnection: reserve ?? 0) { origin in
            guard let appLimit else { return transport.parallelRequests(to: origin) }
            return min(appLimit, transport.parallelRequests(to: origin) ?? appLimit)
        }
    }

    /// Whether the current task runs in a hook whose call holds a slot. The hook may wait for a call that it makes
    /// itself. That call must not wait for this slot, or for slots that the calls of other hooks hold.
    var isHeldByHook: Bool {
        Self.hooks.contains { $0.limiter === self && $0.isRunning.withLock { $0 } }
    }

    /// Runs a hook of an interceptor while its call holds a slot.
    func runHook<Value>(_ hook: () async throws -> Value) async rethrows -> Value {
        let running = RunningHook(limiter: self)
        // A task that outlives the hook inherits the task-local value, but must wait for slots again.
        defer { running.isRunning.withLock { $0 = false } }
        return try await Self.$hooks.withValue(Self.hooks + [running]) { try await hook() }
    }

    /// The number of requests that wait for a slot.
    func waitingCount(for origin: Origin) -> Int {
        queues.withLock { $0[origin]?.waiting.count ?? 0 }
    }

    /// Takes a slot if one is free and no other request waits for it.
    /// - Returns: `false` if the request must wait.
    func take(_ claim: Claim) -> Bool {
        let limit = limit(claim.origin)
        return queues.withLock { queues in
            queues[claim.origin, default: Queue(reservePerConnection: reservePerConnection)]
                .startAtOnce(isLasting: claim.isLasting, limit)
        }
    }

    /// Waits for a slot in the queue.
    /// - Throws: `CancellationError` if the task is cancelled while it waits.
    func wait(for claim: Claim) async throws {
        try Task.checkCancellation()
        let waiter = Waiter(isLasting: claim.isLasting, race: Race())
        let limit = limit(claim.origin)
        let admitted = queues.withLock { queues in
            queues[claim.origin, default: Queue(reservePerConnection: reservePerConnection)].waiting.append(waiter)
            // A slot may have become free, or the limit may have grown. The first in the queue gets it.
            return queues[claim.origin]?.admit(within: limit) ?? []
        }
        for waiter in admitted { waiter.race.finish(.success(())) }
        try await withTaskCancellationHandler {
            await withCheckedContinuation { waiter.race.wait($0) }
        } onCancel: {
            // A request that has got its slot already keeps it until it is released.
            let isRemoved = queues.withLock { $0[claim.origin]?.remove(waiter.race) ?? false }
            if isRemoved { waiter.race.finish(.failure(CancellationError())) }
        }.get()
    }

    /// Admits as many queued requests as the limit allows now. Call it when the limit may have grown: the requests that
    /// have slots may keep them for long.
    func admitQueued(at origin: Origin) {
        let limit = limit(origin)
        let admitted = queues.withLock { $0[origin]?.admit(within: limit) ?? [] }
        for waiter in admitted { waiter.race.finish(.success(())) }
    }

    /// Releases a slot, and admits as many queued requests as the limit allows now.
    func release(_ claim: Claim, reserve: ReserveEffect = .stays) {
        let origin = claim.origin
        let limit = limit(origin)
        let admitted = queues.withLock { queues -> [Waiter] in
            guard let (admitted, isIdle) = queues[origin]?.end(isLasting: claim.isLasting, reserve, limit) else {
                return []
            }
            if isIdle, queues.count > Self.maximumIdleQueues { queues[origin] = nil }
            return admitted
        }
        for waiter in admitted { waiter.race.finish(.success(())) }
    }
}

/// A slot that is released with the last reference to it, for a response body that is read after its call.
final class RequestSlot: Sendable {
    private let claim: ConcurrencyLimiter.Claim
    private let limiter: ConcurrencyLimiter

    init(_ claim: ConcurrencyLimiter.Claim, of limiter: ConcurrencyLimiter) {
        self.claim = claim
        self.limiter = limiter
    }

    deinit { limiter.release(claim) }
}

/// A hook of an interceptor whose call holds a slot of a limiter.
private struct RunningHook: Sendable {
    let limiter: ConcurrencyLimiter
    let isRunning = Locked(true)
}
