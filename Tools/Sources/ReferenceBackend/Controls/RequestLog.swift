import NIOConcurrencyHelpers

/// Counts requests by method and path, and lets tasks wait for a count.
final class RequestLog: Sendable {
    /// The method and path that requests are counted by.
    private struct Address: Hashable {
        var method: String
        var path: String
    }

    /// A task that waits for a number of matching requests.
    private struct Waiter {
        var pattern: RequestPattern
        var count: Int
        var task: WaitingTasks
    }

    /// The counts so far, and the tasks that wait for one.
    private struct State {
        var counts: [Address: Int] = [:]
        var waiters: [Waiter] = []

        func count(_ pattern: RequestPattern) -> Int {
            counts.reduce(0) { sum, entry in
                pattern.matches(method: entry.key.method, path: entry.key.path) ? sum + entry.value : sum
            }
        }
    }

    private let state = NIOLockedValueBox(State())

    func record(method: String, path: String) {
        let satisfied = state.withLockedValue { state -> [Waiter] in
            state.counts[Address(method: method, path: path), default: 0] += 1
            return Self.takeSatisfied(&state)
        }
        for waiter in satisfied { waiter.task.release() }
    }

    func count(_ pattern: RequestPattern) -> Int {
        state.withLockedValue { $0.count(pattern) }
    }

    func reset() {
        state.withLockedValue { $0.counts = [:] }
    }

    /// Waits until `count` requests match. Throws `CancellationError` if cancelled.
    func wait(for pattern: RequestPattern, count: Int) async throws {
        let task = WaitingTasks()
        let waiter = Waiter(pattern: pattern, count: count, task: task)
        defer { state.withLockedValue { $0.waiters.removeAll { $0.task === task } } }
        try await task.wait(with: task.makeTicket()) {
            // Checked after the wait has started: a request between an earlier check and the wait would be missed.
            let isSatisfied = state.withLockedValue { state -> Bool in
                if state.count(pattern) >= count { return true }
                state.waiters.append(waiter)
                return false
            }
            if isSatisfied { task.release() }
        }
    }

    private static func takeSatisfied(_ state: inout State) -> [Waiter] {
        if state.waiters.isEmpty { return [] }
        let satisfied = state.waiters.filter { state.count($0.pattern) >= $0.count }
        state.waiters.removeAll { waiter in satisfied.contains { $0.task === waiter.task } }
        return satisfied
    }
}
