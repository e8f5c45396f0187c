import ArgumentParser
import Dispatch
import Foundation

/// `martlet-bench-micro`: measures the steps of a call, each by itself.
@main
struct MicroCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "martlet-bench-micro",
        abstract: "Measures the steps of a call, each by itself.",
        discussion: """
            Prints the nanoseconds of a step, the median of all rounds, and its instructions, which do not depend on other \
            load. Valgrind counts them as the difference between two runs of different lengths.
            """)

    @Option(help: "The number of rounds.")
    var rounds = 15

    @Flag(help: "Run every step once, to see that it works.")
    var once = false

    @Option(help: .hidden)
    var only: String?

    @Option(help: .hidden)
    var repetitions = 1

    /// Not `AsyncParsableCommand`: it gives the main thread to Dispatch, which crashes valgrind.
    func run() {
        let measurement = Measurement(rounds: rounds)
        let (once, only, repetitions) = (once, only, repetitions)
        Task {
            do {
                if once {
                    try await measurement.once()
                } else if let only {
                    try await measurement.repeat(only, repetitions)
                } else {
                    try await measurement.all()
                }
                Self.exit()
            } catch {
                Self.exit(withError: error)
            }
        }
        // The task ends the process.
        DispatchSemaphore(value: 0).wait()
    }
}
