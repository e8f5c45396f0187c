/// The `torture` test: runs the modes one after another and prints the results.
struct Torture: Sendable {
    let settings: TortureSettings
    let modes: [TortureMode]
    let console: Console

    /// Runs all rounds of all modes, with a keyring if a store needs one.
    /// - Returns: Whether no rule was violated.
    func run() async -> Bool {
        guard settings.stores.contains(.secretService) else { return await runModes() }
        do {
            return try await Keyring.withRunning { await runModes() }
        } catch is CancellationError {
            console.line("Interrupted before the first round.")
        } catch {
            console.line(console.paint("✗ The keyring did not start: \(error)", .bad))
        }
        return false
    }

    private func runModes() async -> Bool {
        console.line(
            console.paint("Martlet: 2 to \(settings.processes) processes share one session", .title))
        console.line(
            "\(settings.rounds.grouped) rounds in each mode (\(modes.map(\.rawValue).joined(separator: ", "))),"
                + " seed \(settings.seed), lease \(settings.lease.readable),"
                + " over \(settings.stores.map(\.rawValue).joined(separator: ", "))")
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
        let progress = TortureProgress(
            mode, rounds: settings.rounds, limit: settings.limit.map { $0 / modes.count }, console: console)
        await withTaskGroup { group in
            for (index, store) in settings.stores.enumerated() {
                let rounds = Array(stride(from: index + 1, through: settings.rounds, by: settings.stores.count))
                group.addTask {
                    do {
                        try await SharedRecordTest.run(
                            rounds, mode: mode, over: store, settings: settings, progress: progress)
                    } catch is CancellationError {
                    } catch is TortureAborted {
                    } catch {
                        progress.violation(
                            \.otherViolations, "the test could not continue: \(error)", in: nil, over: store)
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
        let rounds = results.map(\.figures.rounds).reduce(0, +)
        let inconclusive = results.map(\.figures.inconclusive).reduce(0, +)
        // A run whose findings are all excused by a late machine proves nothing.
        if violations.isEmpty, inconclusive * 10 > max(rounds, 20) {
            console.line(
                console.paint(
                    "✗ \(inconclusive) inconclusive findings in \(rounds) rounds: the machine was too late. Run it again"
                        + " with a longer --lease, or beside less other work.", .bad))
            return false
        }
        if violations.isEmpty {
            console.line(console.paint("✓ No violations.", .good))
            return true
        }
        console.line(console.paint("✗ \(violations.count) violations. The first: \(violations[0])", .bad))
        let mode = modes.count == 1 ? modes[0].rawValue : "all"
        let store = settings.stores.count == 1 ? " --store \(settings.stores[0].rawValue)" : ""
        console.line(
            "Reproduce with: martlet torture --mode \(mode)\(store) --rounds \(settings.rounds)"
                + " --processes \(settings.processes) --seed \(settings.seed)\(settings.conditionOptions)")
        return false
    }
}
