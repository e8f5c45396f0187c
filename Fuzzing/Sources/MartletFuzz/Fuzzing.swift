import ArgumentParser
import MartletTesting

extension FuzzCommand {
    /// Runs one seed and tells its story.
    func replay(_ seed: UInt64) throws {
        Watch.begin(seed)
        let judgement = try Judgement(seed: seed)
        print(judgement.report())
        print("1 schedule, \(judgement.violations.count) violations")
        if !judgement.violations.isEmpty { throw ExitCode.failure }
    }

    func printDigests(_ count: Int, from first: UInt64) throws {
        for seed in first..<first + UInt64(count) {
            let judgement = try Judgement(seed: seed)
            print(seed, judgement.digest, judgement.world.history.entries.count)
        }
    }

    /// Runs seed after seed until the time is over, or enough has been found.
    func fuzz(from first: UInt64) throws {
        if !unchecked { try checkDeterminism(from: first) }
        print("Seeds from \(first), for \(seconds) s.")
        var tally = Tally()
        let start = ContinuousClock.now
        var seed = first
        while ContinuousClock.now - start < .seconds(seconds), tally.violations < max(stories, 1) {
            Watch.begin(seed)
            let judgement = try Judgement(seed: seed)
            tally.add(judgement)
            if !judgement.violations.isEmpty { print("\n\(judgement.report())\n\nReplay it with --seed \(seed).\n") }
            seed += 1
        }
        print(tally.report(after: ContinuousClock.now - start))
        if tally.violations > 0 { throw ExitCode.failure }
    }

    /// A schedule that cannot be repeated would be worth nothing.
    private func checkDeterminism(from first: UInt64) throws {
        for seed in first..<first + 20 {
            let (one, other) = (try Judgement(seed: seed), try Judgement(seed: seed))
            guard one.digest == other.digest, one.jobs == other.jobs,
                Story(world: one.world).lines == Story(world: other.world).lines
            else {
                print("Seed \(seed) gave two different schedules.")
                throw ExitCode(2)
            }
        }
    }
}
