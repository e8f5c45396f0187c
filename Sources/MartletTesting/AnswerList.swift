/// What is answered, in turn: each once, the last again and again.
final class AnswerList<Answer: Sendable>: Sendable {
    /// What comes before an answer.
    enum Pause: Sendable {
        case gate(Gate)
        case delay(Duration)
        case report(sent: Int64, total: Int64)
    }

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
    func pause(_ pause: Pause) {
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
