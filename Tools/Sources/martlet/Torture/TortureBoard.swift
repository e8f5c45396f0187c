internal import NIOConcurrencyHelpers

/// Where the lanes of one mode write what came of their rounds, and what tells how it gets on.
final class TortureBoard: Sendable {
    private let mode: TortureMode
    private let rounds: Int
    private let console: Console
    private let start = ContinuousClock.now
    private let state = NIOLockedValueBox(TortureFigures())

    /// So much is wrong then that more of it tells nothing new.
    private static let most = 20

    init(_ mode: TortureMode, rounds: Int, console: Console) {
        self.mode = mode
        self.rounds = rounds
        self.console = console
    }

    var figures: TortureFigures { state.withLockedValue { $0 } }

    var hasSeenEnough: Bool {
        state.withLockedValue { $0.violations.count >= Self.most || $0.deadlocks > 0 }
    }

    func add(_ change: (inout TortureFigures) -> Void) {
        state.withLockedValue { change(&$0) }
    }

    /// Notes what must not be.
    func violation(_ count: WritableKeyPath<TortureFigures, Int>, _ text: String, in round: Int?) {
        let line = "\(mode.rawValue), \(round.map { "round \($0)" } ?? "at the end"): \(text)"
        state.withLockedValue { figures in
            figures[keyPath: count] += 1
            figures.violations.append(line)
        }
        console.line("\(console.paint("✗", .bad)) \(line)")
    }

    func roundEnded() {
        let figures = state.withLockedValue { figures in
            figures.rounds += 1
            return figures
        }
        // The first sign of life comes early.
        guard figures.rounds == 10 || figures.rounds % min(100, max(1, rounds / 2)) == 0 else { return }
        console.line(
            console.paint(
                "  \(mode.rawValue): \(figures.rounds.grouped) of \(rounds.grouped) rounds,"
                    + " \(start.duration(to: .now).forPeople), \(figures.calls.grouped) calls,"
                    + " \(figures.rotationsLost.grouped) rotationLost, \(figures.violations.count) violations", .note))
    }
}
