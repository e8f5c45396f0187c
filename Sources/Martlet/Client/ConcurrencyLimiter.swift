/// Lets so many requests be under way at one origin, and the others wait in line.
final class ConcurrencyLimiter: Sendable {
    private struct Line {
        var running = 0
        var waiting: [(id: Int, continuation: CheckedContinuation<Bool, Never>)] = []
    }

    private struct State {
        var lines: [Origin: Line] = [:]
        var lastID = 0
        var cancelledEarly: Set<Int> = []
    }

    private let limit: Int
    private let state = Locked(State())

    /// - Parameter limit: Values below 1 count as 1.
    init(limit: Int) {
        self.limit = max(limit, 1)
    }

    /// Waits for a place.
    /// - Throws: `CancellationError` when the task is cancelled while it waits.
    func acquire(_ origin: Origin) async throws {
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
                    guard line.running >= limit else {
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

    /// Gives the place to the next in line.
    func release(_ origin: Origin) {
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard var line = state.lines[origin] else { return nil }
            defer { state.lines[origin] = line.running == 0 ? nil : line }
            guard line.waiting.isEmpty else { return line.waiting.removeFirst().continuation }
            line.running -= 1
            return nil
        }
        next?.resume(returning: true)
    }
}
