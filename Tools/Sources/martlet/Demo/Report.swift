/// Prints the demo's steps and checks, and counts the failed checks.
struct Report {
    private let console: Console
    private var steps = 0
    private var checks = 0
    private var failures: [String] = []

    init(_ console: Console) {
        self.console = console
    }

    /// Whether every check passed so far.
    var passed: Bool { failures.isEmpty }

    /// Starts a step and prints its number and title.
    mutating func step(_ title: String) {
        steps += 1
        console.line()
        console.line(console.paint("\(steps). \(title)", .title))
    }

    /// Prints a remark without a check.
    func note(_ text: String) {
        console.line(console.paint("   \(text)", .note))
    }

    /// Prints a check and counts it.
    /// - Parameters:
    ///   - passed: Whether the expectation was met.
    ///   - claim: A sentence that says what happened, with its figures.
    ///   - expectation: A sentence that says what should have happened, printed if the check failed.
    mutating func check(_ passed: Bool, _ claim: String, else expectation: String) {
        checks += 1
        if passed {
            console.line("   \(console.paint("✓", .good)) \(claim)")
        } else {
            let failure = "\(claim) (expected: \(expectation))"
            failures.append("step \(steps): \(failure)")
            console.line("   \(console.paint("✗", .bad)) \(failure)")
        }
    }

    /// Records that a step threw an error, which ends the demo.
    mutating func abort(_ error: any Error) {
        checks += 1
        failures.append("step \(steps) failed: \(error)")
        console.line("   \(console.paint("✗", .bad)) The step failed: \(error)")
    }

    /// Prints the summary.
    func close() {
        console.line()
        if passed {
            console.line(console.paint("✓ All \(checks) checks passed.", .good))
        } else {
            console.line(console.paint("✗ \(failures.count) of \(checks) checks failed:", .bad))
            for failure in failures { console.line("  - \(failure)") }
        }
    }
}
