/// All of it: the modes one after the other, and what came of them.
struct Torture: Sendable {
    let settings: TortureSettings
    let modes: [TortureMode]
    let console: Console

    /// Plays all rounds.
    /// - Returns: Whether nothing was wrong.
    func run() async -> Bool {
        console.line(
            console.paint("Martlet: 2 to \(settings.processes) processes share one session", .title))
        console.line(
            "\(settings.rounds.grouped) rounds in each mode (\(modes.map(\.rawValue).joined(separator: ", "))),"
                + " seed \(settings.seed), lease \(settings.lease.forPeople)")
        var results: [(mode: TortureMode, figures: TortureFigures)] = []
        for mode in modes where !Task.isCancelled {
            results.append((mode, await run(mode)))
        }
        console.line()
        for line in TortureFigures.table(results) { console.line(line) }
        let reasons = results.flatMap { mode, figures in
            figures.reasons.sorted { $0.value > $1.value }.prefix(8)
                .map { "  \(mode.rawValue): \($0.value.grouped) × \($0.key)" }
        }
        if !reasons.isEmpty {
            console.line()
            console.line(console.paint("What calls and stores had to suffer, which is no fault in itself:", .note))
            for reason in reasons { console.line(console.paint(reason, .note)) }
        }
        console.line()
        return close(results)
    }

    private func run(_ mode: TortureMode) async -> TortureFigures {
        let board = TortureBoard(mode, rounds: settings.rounds, console: console)
        await withTaskGroup { group in
            for lane in 0..<settings.lanes {
                let rounds = Array(stride(from: lane + 1, through: settings.rounds, by: settings.lanes))
                group.addTask {
                    do {
                        try await TortureLane.play(rounds, mode: mode, settings: settings, board: board)
                    } catch is CancellationError {
                    } catch is TortureBroken {
                    } catch {
                        board.violation(\.others, "the torture broke off: \(error)", in: nil)
                    }
                }
            }
        }
        return board.figures
    }

    private func close(_ results: [(mode: TortureMode, figures: TortureFigures)]) -> Bool {
        if Task.isCancelled {
            console.line("Stopped before the end.")
            return false
        }
        let violations = results.flatMap(\.figures.violations)
        if violations.isEmpty {
            console.line(console.paint("✓ Nothing was wrong.", .good))
            return true
        }
        console.line(console.paint("✗ \(violations.count) violations; the first: \(violations[0])", .bad))
        let mode = modes.count == 1 ? modes[0].rawValue : "all"
        console.line(
            "Once more: martlet torture --mode \(mode) --rounds \(settings.rounds) --processes \(settings.processes)"
                + " --seed \(settings.seed)")
        return false
    }
}
