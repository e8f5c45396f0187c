import NIOConcurrencyHelpers

/// The gates that hold requests.
final class RequestGates: Sendable {
    private struct State {
        var gates: [RequestGate] = []
        var isClosed = false
    }

    private let state = NIOLockedValueBox(State())

    var gates: [RequestGate] { state.withLockedValue { $0.gates } }

    func add(_ pattern: RequestPattern, at stage: RequestGate.Stage) -> RequestGate {
        let gate = RequestGate(pattern: pattern, stage: stage) { [weak self] gate in self?.remove(gate) }
        let isClosed = state.withLockedValue { state -> Bool in
            if !state.isClosed { state.gates.append(gate) }
            return state.isClosed
        }
        if isClosed { gate.close() }
        return gate
    }

    /// Waits at every gate that matches the request.
    func pass(_ stage: RequestGate.Stage, method: String, path: String) async throws {
        for gate in gates where gate.stage == stage && gate.pattern.matches(method: method, path: path) {
            try await gate.hold(method: method, path: path)
        }
    }

    func releaseAll() {
        for gate in gates { gate.release() }
    }

    /// Drops all held requests, and every request that a gate would hold later.
    func close() {
        let gates = state.withLockedValue { state in
            defer { state.gates = [] }
            state.isClosed = true
            return state.gates
        }
        for gate in gates { gate.close() }
    }

    private func remove(_ gate: RequestGate) {
        state.withLockedValue { $0.gates.removeAll { $0 === gate } }
    }
}
