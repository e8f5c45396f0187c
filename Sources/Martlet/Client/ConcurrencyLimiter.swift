/// Lets so many requests be under way at one origin, and the others wait in line.
final class ConcurrencyLimiter: Sendable {
    private struct Line {
        var running = 0
        var waiting: ArraySlice<(id: Int, continuation: CheckedContinuation<Bool, Never>)> = []

        func hasPlace(within limit: Int?) -> Bool {
            limit.map { running < max($0, 1) } ?? true
        }
    }

    private struct State {
        var lines: [Origin: Line] = [:]
        var lastID = 0
        var cancelledEarly: Set<Int> = []
    }

    private let limit: @Sendable (Origin) -> Int?
    private let state = Locked(State())

    /// - Parameter limit: How many there may be at an origin, as it is known now; `nil` for any number. Values below 1
    ///   count as 1.
    init(limit: @escaping @Sendable (Origin) -> Int?) {
        self.limit = limit
    }

    /// Waits for a place.
    /// - Returns: Whether it had to wait in line.
    /// - Throws: `CancellationError` when the task is cancelled while it waits.
    func acquire(_ origin: Origin) async throws -> Bool {
        let limit = limit(origin)
        let isIn = state.withLock { state in
            var line = state.lines[origin] ?? Line()
            guard line.waiting.isEmpty, line.hasPlace(within: limit) else { return false }
            line.running += 1
            state.lines[origin] = line
            return true
        }
        if isIn { return false }
        try await waitInLine(at: origin)
        return true
    }

    private func waitInLine(at origin: Origin) async throws {
        let limit = limit(origin)
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let hasPlace = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
                let answer = state.withLock { state -> Bool? in
                    if state.cancelledEarly.contains(id) { return false }
                    var line = state.lines[origin] ?? Line()
                    defer { state.lines[origin] = line }
                    guard !line.hasPlace(within: limit) else {
                        line.running += 1
                        return true
                    }
                    line.waiting.append((id, continuation))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let continuation = state.withLock { state -> CheckedContinuation<Bool, Never>? in
                state.cancelledEarly.insert(id)
                guard let index = state.lines[origin]?.waiting.firstIndex(where: { $0.id == id }) else { return nil }
                return state.lines[origin]?.waiting.remove(at: index).continuation
            }
            continuation?.resume(returning: false)
        }
        if Task.isCancelled { state.withLock { _ = $0.cancelledEarly.remove(id) } }
        guard hasPlace else { throw CancellationError() }
    }

    /// Gives the place to the next in line, and lets in as many more as there may be by now.
    func release(_ origin: Origin) {
        let limit = limit(origin)
        let next = state.withLock { state -> [CheckedContinuation<Bool, Never>] in
            guard var line = state.lines[origin] else { return [] }
            var next: [CheckedContinuation<Bool, Never>] = []
            line.running -= 1
            while line.hasPlace(within: limit), let first = line.waiting.popFirst() {
                next.append(first.continuation)
                line.running += 1
            }
            state.lines[origin] = line.running == 0 ? nil : line
            return next
        }
        for continuation in next { continuation.resume(returning: true) }
    }
}
