import ArgumentParser
import MartletTesting
import TrapReporting

extension FuzzCommand {
    /// Runs one seed and prints its transcript.
    func replay(_ seed: UInt64) throws {
        TrapReporter.begin { "seed \(seed)" }
        let verdict = try Verdict(seed: seed)
        print(verdict.report())
        print("1 schedule, \(verdict.violations.count) violations")
        if !verdict.violations.isEmpty { throw ExitCode.failure }
    }

    func printDigests(_ count: Int, from first: UInt64) throws {
        for seed in first..<first + UInt64(count) {
            let verdict = try Verdict(seed: seed)
            print(seed, verdict.digest, verdict.world.history.entries.count)
        }
    }

    /// Runs one seed after another until the time is up or enough violations have been found.
    func fuzz(from first: UInt64) throws {
        if !unchecked { try checkDeterminism(from: first) }
        print("Seeds from \(first), for \(seconds) s (repeat them with make fuzz FIRST=\(first) SECONDS=\(seconds)).")
        var tally = Tally()
        let start = ContinuousClock.now
        var seed = first
        while ContinuousClock.now - start < .seconds(seconds), tally.violations < max(violations, 1) {
            TrapReporter.begin { "seed \(seed)" }
            let verdict = try Verdict(seed: seed)
            tally.add(verdict)
            if !verdict.violations.isEmpty {
                print("\n\(verdict.report())\n\nRepeat it with: make fuzz SEED=\(seed)\n")
            }
            seed += 1
        }
        print(tally.report(after: ContinuousClock.now - start))
        if tally.violations > 0 { throw ExitCode.failure }
    }

    /// Runs some schedules twice, because a violation is only useful if it can be reproduced.
    private func checkDeterminism(from first: UInt64) throws {
        for seed in first..<first + 20 {
            let (one, other) = (try Verdict(seed: seed), try Verdict(seed: seed))
            guard one.digest == other.digest, one.jobs == other.jobs,
                Transcript(world: one.world).lines == Transcript(world: other.world).lines
            else {
                print("Seed \(seed) is not reproducible: two runs gave different schedules.")
                throw ExitCode(2)
            }
        }
    }
}
