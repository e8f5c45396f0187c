/// What was said and checked so far. Every claim that the demo prints goes through here.
struct Report {
    private let console: Console
    private var steps = 0
    private var checks = 0
    private var failures: [String] = []

    /// An empty report.
    init(_ console: Console) {
        self.console = console
    }

    /// Whether every claim held.
    var isRight: Bool { failures.isEmpty }

    /// Opens a step.
    mutating func step(_ title: String) {
        steps += 1
        console.line()
        console.line(console.paint("\(steps). \(title)", .title))
    }

    /// Says something that needs no proof.
    func note(_ text: String) {
        console.line(console.paint("   \(text)", .note))
    }

    /// Says what happened, and whether it is what should have happened.
    /// - Parameters:
    ///   - isRight: Whether the claim holds.
    ///   - claim: What happened, with its figures.
    ///   - expectation: What should have been, for when it does not hold.
    mutating func check(_ isRight: Bool, _ claim: String, else expectation: String) {
        checks += 1
        if isRight {
            console.line("   \(console.paint("✓", .good)) \(claim)")
        } else {
            let failure = "\(claim) (should be: \(expectation))"
            failures.append("step \(steps): \(failure)")
            console.line("   \(console.paint("✗", .bad)) \(failure)")
        }
    }

    /// The step could not be played to its end.
    mutating func brokeOff(_ error: any Error) {
        checks += 1
        failures.append("step \(steps) broke off: \(error)")
        console.line("   \(console.paint("✗", .bad)) The step broke off: \(error)")
    }

    /// Says how it all went.
    func close() {
        console.line()
        if isRight {
            console.line(console.paint("✓ All \(checks) figures are what they should be.", .good))
        } else {
            console.line(console.paint("✗ \(failures.count) of \(checks) figures are wrong:", .bad))
            for failure in failures { console.line("  - \(failure)") }
        }
    }
}
