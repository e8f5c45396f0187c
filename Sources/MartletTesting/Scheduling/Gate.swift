internal import Martlet

/// Makes tasks wait until a test opens the gate, and tells the test how many tasks have arrived.
///
/// Use it to control the order of events in a test:
///
/// ```swift
/// let gate = Gate()
/// client.when(Profile()).hold(at: gate).respond(ada)
/// let loading = Task { await model.load() }
/// await gate.waitForArrivals()
/// #expect(model.isLoading)
/// gate.open()
/// ```
public final class Gate: Sendable {
    /// The tasks at the gate, and the tests that wait for arrivals.
    private struct State {
        var isOpen = false
        var arrived = 0
        var lastID = 0
        /// The tasks that wait at the gate, by their IDs.
        var held: [Int: CheckedContinuation<Bool, Never>] = [:]
        /// The IDs of tasks that were cancelled before they waited.
        var cancelledEarly: Set<Int> = []
        /// The tests that wait until `count` tasks have arrived.
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())

    /// Creates a closed gate.
    public init() {}

    /// The number of tasks that have arrived so far, including those that passed an open gate.
    public var arrivals: Int { state.withLock { $0.arrived } }

    /// Waits until the gate is opened. Cancellation does not end the wait, just as a server does not notice a cancelled
    /// client.
    public func pass() async {
        _ = await wait(makeID())
    }

    /// Waits until the gate is opened or the task is cancelled.
    /// - Throws: `CancellationError` if the task is cancelled.
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

    /// - Returns: `true` if the gate was opened, `false` if the wait was cancelled.
    private func wait(_ id: Int) async -> Bool {
        await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
            let (response, watchers) = state.withLock { state -> (Bool?, [CheckedContinuation<Void, Never>]) in
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
            if let response { continuation.resume(returning: response) }
        }
    }

    /// Waits until at least this number of tasks has arrived.
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

    /// Lets all waiting tasks pass, and all tasks that arrive later.
    public func open() {
        let held = state.withLock { state in
            state.isOpen = true
            defer { state.held = [:] }
            // Resume the tasks in the order of their arrival.
            return state.held.sorted { $0.key < $1.key }.map(\.value)
        }
        for continuation in held { continuation.resume(returning: true) }
    }
}
