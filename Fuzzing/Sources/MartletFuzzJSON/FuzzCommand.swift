import ArgumentParser
import Foundation
import TrapReporting

/// `martlet-fuzz-json`: decodes random documents with both decoders and compares the results.
@main
struct FuzzCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "martlet-fuzz-json",
        abstract: "Compares MartletJSONDecoder with Foundation's JSONDecoder on random documents.",
        discussion: """
            A plan of container calls and a document for it derive from a seed. Both decoders must give the same values, \
            the same errors and the same coding paths. An independent parser decides which documents break RFC 8259: \
            MartletJSONDecoder must refuse exactly those.
            """)

    @Option(help: "The number of documents.")
    var documents = 1_000_000

    @Option(help: "The first seed. Random by default.")
    var firstSeed: UInt64?

    @Option(help: "Try only the document of this seed and print it.")
    var seed: UInt64?

    func run() throws {
        if let seed {
            let trial = Trial(seed: seed)
            print(String(decoding: trial.document, as: UTF8.self), trial.plan, separator: "\n")
            guard report(trial, seed) else { throw ExitCode.failure }
            return
        }
        let first = firstSeed ?? UInt64.random(in: 1...1_000_000_000_000)
        print("\(documents) documents from seed \(first) on.")
        var counts = (same: 0, strict: 0, largeFraction: 0, zeroWithExponent: 0)
        for seed in first..<first + UInt64(documents) {
            TrapReporter.begin { "seed \(seed)" }
            let trial = Trial(seed: seed)
            switch trial.judge() {
            case .same: counts.same += 1
            case .strict: counts.strict += 1
            case .largeFraction: counts.largeFraction += 1
            case .zeroWithExponent: counts.zeroWithExponent += 1
            case .different(let foundation, let martlet):
                // A difference that cannot be reproduced depends on the order of a dictionary.
                if report(trial, seed) { print("DIFFERENCE, once  --seed \(seed)\n\(foundation)\n---\n\(martlet)") }
                throw ExitCode.failure
            }
        }
        print(
            """
            \(documents) documents, no difference that the documentation does not name.
              the same outcome                        \(counts.same)
              breaks RFC 8259, only Martlet refuses   \(counts.strict)
              a large integer with a fraction         \(counts.largeFraction)
              a zero with an exponent                 \(counts.zeroWithExponent)
            """)
    }

    /// Prints a difference. Returns whether there is none.
    private func report(_ trial: Trial, _ seed: UInt64) -> Bool {
        guard case .different = trial.judge() else { return true }
        let smallest = trial.shrunk()
        guard case .different(let foundation, let martlet) = smallest.judge() else { return true }
        print("DIFFERENCE  --seed \(seed)\n\(smallest.plan)\n\(String(decoding: smallest.document, as: UTF8.self))")
        print("JSONDecoder:\n\(foundation)\nMartletJSONDecoder:\n\(martlet)")
        return false
    }
}
