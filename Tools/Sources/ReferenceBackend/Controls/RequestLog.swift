import NIOConcurrencyHelpers

/// Counts requests by address and lets tasks wait for the n-th one.
final class RequestLog: Sendable {
    private struct Address: Hashable {
        var method: String
        var path: String
    }

    private struct Waiter {
        var pattern: RequestPattern
        var count: Int
        var lot: ParkingLot
    }

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
        for waiter in satisfied { waiter.lot.release() }
    }

    func count(_ pattern: RequestPattern) -> Int {
        state.withLockedValue { $0.count(pattern) }
    }

    func reset() {
        state.withLockedValue { $0.counts = [:] }
    }

    /// Returns as soon as `count` requests match; throws when cancelled.
    func wait(for pattern: RequestPattern, count: Int) async throws {
        let lot = ParkingLot()
        let space = lot.takeSpace()
        let waiter = Waiter(pattern: pattern, count: count, lot: lot)
        defer { state.withLockedValue { $0.waiters.removeAll { $0.lot === lot } } }
        try await lot.wait(in: space) {
            // Looked up only now: a request between the look and the wait would be missed.
            let isSatisfied = state.withLockedValue { state -> Bool in
                if state.count(pattern) >= count { return true }
                state.waiters.append(waiter)
                return false
            }
            if isSatisfied { lot.release() }
        }
    }

    private static func takeSatisfied(_ state: inout State) -> [Waiter] {
        if state.waiters.isEmpty { return [] }
        let satisfied = state.waiters.filter { state.count($0.pattern) >= $0.count }
        state.waiters.removeAll { waiter in satisfied.contains { $0.lot === waiter.lot } }
        return satisfied
    }
}
