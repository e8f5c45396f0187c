internal import NIOConcurrencyHelpers

/// Collects the figures and violations of one mode from all its parallel tests, and prints the progress.
final class TortureProgress: Sendable {
    private let mode: TortureMode
    private let rounds: Int
    private let limit: Duration?
    private let console: Console
    private let start = ContinuousClock.now
    private let state = NIOLockedValueBox(TortureFigures())

    /// The number of violations after which the mode ends early.
    private static let limit = 20

    /// - Parameter limit: The time that the mode may take.
    init(_ mode: TortureMode, rounds: Int, limit: Duration?, console: Console) {
        self.mode = mode
        self.rounds = rounds
        self.limit = limit
        self.console = console
    }

    var figures: TortureFigures { state.withLockedValue { $0 } }

    var hasSeenEnough: Bool {
        if let limit, start.duration(to: .now) > limit { return true }
        return state.withLockedValue { $0.violations.count >= Self.limit || $0.deadlocks > 0 }
    }

    func add(_ change: (inout TortureFigures) -> Void) {
        state.withLockedValue { change(&$0) }
    }

    func violation(
        _ count: WritableKeyPath<TortureFigures, Int>, _ text: String, in round: Int?, over store: TortureStore?
    ) {
        let place = [mode.rawValue, store?.rawValue, round.map { "round \($0)" } ?? "at the end"]
        let line = "\(place.compactMap(\.self).joined(separator: ", ")): \(text)"
        state.withLockedValue { figures in
            figures[keyPath: count] += 1
            figures.violations.append(line)
        }
        console.line("\(console.paint("✗", .bad)) \(line)")
    }

    /// Counts and prints a finding that would be a violation on a machine that had time for the test.
    func inconclusive(_ text: String, in round: Int, over store: TortureStore) {
        add { $0.inconclusive += 1 }
        console.line(console.paint("? \(mode.rawValue), \(store.rawValue), round \(round): \(text)", .note))
    }

    func roundEnded(over store: TortureStore) {
        let figures = state.withLockedValue { figures in
            figures.rounds += 1
            figures.roundsOver[store, default: 0] += 1
            return figures
        }
        // Print after 10 rounds too, as an early sign of progress.
        guard figures.rounds == 10 || figures.rounds % min(100, max(1, rounds / 2)) == 0 else { return }
        console.line(
            console.paint(
                "  \(mode.rawValue): \(figures.rounds.grouped) of \(rounds.grouped) rounds,"
                    + " \(start.duration(to: .now).readable), \(figures.calls.grouped) calls,"
                    + " \(figures.rotationsLost.grouped) rotationLost, \(figures.violations.count) violations", .note))
    }
}
