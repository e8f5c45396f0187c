/// What is answered, in turn: each once, the last again and again.
final class AnswerList<Means, Answer: Sendable>: Sendable {
    /// What comes before an answer, by the means that whoever answers has.
    typealias Pause = @Sendable (Means) async throws -> Void

    struct Turn: Sendable {
        var pauses: [Pause]
        var answer: Answer
    }

    private struct State {
        var turns: [Turn] = []
        var pauses: [Pause] = []
        var next = 0
    }

    private let state = Guarded(State())

    /// Comes before the answer that is given next.
    func pause(_ pause: @escaping Pause) {
        state.withLock { $0.pauses.append(pause) }
    }

    func append(_ answer: Answer) {
        state.withLock { state in
            state.turns.append(Turn(pauses: state.pauses, answer: answer))
            state.pauses = []
        }
    }

    /// `nil` where no answer has been given.
    func next() -> Turn? {
        state.withLock { state in
            guard let last = state.turns.indices.last else { return nil }
            let index = min(state.next, last)
            state.next = index + 1
            return state.turns[index]
        }
    }
}
