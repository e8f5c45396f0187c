internal import Martlet

/// A sequence of stubbed responses: each is used once, the last one repeatedly.
final class ResponseSequence<Context, Response: Sendable>: Sendable {
    /// A step before a response, such as a delay. The context provides what it needs, such as a clock.
    typealias Pause = @Sendable (Context) async throws -> Void

    /// A response, and the steps before it.
    struct Entry: Sendable {
        var pauses: [Pause]
        var response: Response
    }

    private struct State {
        var entries: [Entry] = []
        /// The steps before the next appended response.
        var pauses: [Pause] = []
        /// The index of the next entry to return.
        var next = 0
    }

    private let state = Locked(State())

    /// Adds a step before the next appended response.
    func pause(_ pause: @escaping Pause) {
        state.withLock { $0.pauses.append(pause) }
    }

    func append(_ response: Response) {
        state.withLock { state in
            state.entries.append(Entry(pauses: state.pauses, response: response))
            state.pauses = []
        }
    }

    /// The next response, with the steps before it.
    /// - Returns: `nil` if there are no responses.
    func next() -> Entry? {
        state.withLock { state in
            guard let last = state.entries.indices.last else { return nil }
            let index = min(state.next, last)
            state.next = index + 1
            return state.entries[index]
        }
    }
}
