/// Holds whoever comes until it is opened, and tells who has come: for tests that need an order of events.
///
/// ```swift
/// let gate = Gate()
/// client.when(Profile()).hold(at: gate).answer(ada)
/// let loading = Task { await model.load() }
/// await gate.waitForArrivals()
/// #expect(model.isLoading)
/// gate.open()
/// ```
public final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var arrived = 0
        var lastID = 0
        var held: [Int: CheckedContinuation<Bool, Never>] = [:]
        var cancelledEarly: Set<Int> = []
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Guarded(State())

    /// A closed gate.
    public init() {}

    /// How many have come so far.
    public var arrivals: Int { state.withLock { $0.arrived } }

    /// Waits until the gate is opened. A cancelled task goes on waiting, as a server does that nobody listens to.
    public func pass() async {
        _ = await wait(makeID())
    }

    /// Waits until the gate is opened, or the task is cancelled.
    /// - Throws: `CancellationError`.
    public func passUnlessCancelled() async throws {
        let id = makeID()
        let hasPassed = await withTaskCancellationHandler {
            await wait(id)
        } onCancel: {
            let held = state.withLock { state -> CheckedContinuation<Bool, Never>? in
                let held = state.held.removeValue(forKey: id)
                if held == nil { state.cancelledEarly.insert(id) }
                return held
            }
            held?.resume(returning: false)
        }
        state.withLock { _ = $0.cancelledEarly.remove(id) }
        guard hasPassed else { throw CancellationError() }
    }

    private func makeID() -> Int {
        state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
    }

    /// - Returns: Whether the gate was opened, and not the waiting cancelled.
    private func wait(_ id: Int) async -> Bool {
        await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
            let (answer, watchers) = state.withLock { state -> (Bool?, [CheckedContinuation<Void, Never>]) in
                state.arrived += 1
                let arrived = state.arrived
                let satisfied = state.watchers.filter { $0.count <= arrived }.map(\.continuation)
                state.watchers.removeAll { $0.count <= arrived }
                if state.isOpen { return (true, satisfied) }
                if state.cancelledEarly.contains(id) { return (false, satisfied) }
                state.held[id] = continuation
                return (nil, satisfied)
            }
            for watcher in watchers { watcher.resume() }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    /// Returns once so many have come.
    public func waitForArrivals(_ count: Int = 1) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let isSatisfied = state.withLock { state in
                if state.arrived >= count { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isSatisfied { continuation.resume() }
        }
    }

    /// Lets everybody through, now and from now on.
    public func open() {
        let held = state.withLock { state in
            state.isOpen = true
            defer { state.held = [:] }
            // In the order in which they came.
            return state.held.sorted { $0.key < $1.key }.map(\.value)
        }
        for continuation in held { continuation.resume(returning: true) }
    }
}
