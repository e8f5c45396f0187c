import MartletTesting

/// What became of one schedule.
struct Judgement {
    struct Violation {
        let rule: String
        let detail: String
    }

    let world: World
    let jobs: Int
    let digest: UInt64
    let violations: [Violation]

    /// Runs the schedule of a seed and judges it.
    init(seed: UInt64) throws {
        let world = World(seed: seed)
        let run = try world.run()
        var violations: [Violation] = []
        switch run.outcome {
        case .returned: break
        case .stuck:
            violations.append(Violation(rule: "Every path ends.", detail: "nothing is left to do, and somebody waits"))
        case .endless:
            violations.append(
                Violation(rule: "Every path ends.", detail: "it went on and on, for \(run.jobs) steps"))
        }
        let facts = Facts(world)
        for invariant in Invariant.all {
            guard let detail = invariant.find(facts) else { continue }
            violations.append(Violation(rule: invariant.rule, detail: detail))
        }
        self.world = world
        self.violations = violations
        jobs = run.jobs
        digest = run.digest
    }

    /// The story of the schedule, with its moral.
    func report() -> String {
        let story = Story(world: world)
        let moral = violations.map { "VIOLATION  \($0.rule)\n           \($0.detail)" }
        return (["── seed \(world.seed) ──", story.introduction, ""] + story.lines + [""] + moral).joined(
            separator: "\n")
    }
}
