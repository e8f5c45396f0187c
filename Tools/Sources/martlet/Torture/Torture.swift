/// The `torture` test: runs the modes one after the other and prints the results.
struct Torture: Sendable {
    let settings: TortureSettings
    let modes: [TortureMode]
    let console: Console

    /// Runs all rounds of all modes.
    /// - Returns: Whether no rule was violated.
    func run() async -> Bool {
        console.line(
            console.paint("Martlet: 2 to \(settings.processes) processes share one session", .title))
        console.line(
            "\(settings.rounds.grouped) rounds in each mode (\(modes.map(\.rawValue).joined(separator: ", "))),"
                + " seed \(settings.seed), lease \(settings.lease.readable)")
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
            console.line(console.paint("Failed calls and store operations, which are no violations:", .note))
            for reason in reasons { console.line(console.paint(reason, .note)) }
        }
        console.line()
        return close(results)
    }

    private func run(_ mode: TortureMode) async -> TortureFigures {
        let progress = TortureProgress(mode, rounds: settings.rounds, console: console)
        await withTaskGroup { group in
            for number in 1...settings.parallelTests {
                let rounds = Array(stride(from: number, through: settings.rounds, by: settings.parallelTests))
                group.addTask {
                    do {
                        try await SharedRecordTest.run(rounds, mode: mode, settings: settings, progress: progress)
                    } catch is CancellationError {
                    } catch is TortureAborted {
                    } catch {
                        progress.violation(\.otherViolations, "the test could not continue: \(error)", in: nil)
                    }
                }
            }
        }
        return progress.figures
    }

    private func close(_ results: [(mode: TortureMode, figures: TortureFigures)]) -> Bool {
        if Task.isCancelled {
            console.line("Interrupted before the last round.")
            return false
        }
        let violations = results.flatMap(\.figures.violations)
        if violations.isEmpty {
            console.line(console.paint("✓ No violations.", .good))
            return true
        }
        console.line(console.paint("✗ \(violations.count) violations. The first: \(violations[0])", .bad))
        let mode = modes.count == 1 ? modes[0].rawValue : "all"
        console.line(
            "Reproduce with: martlet torture --mode \(mode) --rounds \(settings.rounds)"
                + " --processes \(settings.processes) --seed \(settings.seed)")
        return false
    }
}
