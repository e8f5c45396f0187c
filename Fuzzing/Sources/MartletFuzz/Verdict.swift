import MartletTesting

/// The result of one schedule: the violated invariants and a digest.
struct Verdict {
    /// A violated invariant and how the schedule violated it.
    struct Violation {
        let rule: String
        let detail: String
    }

    let world: World
    /// The number of steps that the scheduler ran.
    let jobs: Int
    /// A digest of all steps, for comparison with another run.
    let digest: UInt64
    let violations: [Violation]

    /// Runs the schedule of a seed and checks the invariants.
    init(seed: UInt64) throws {
        let world = World(seed: seed)
        let run = try world.run()
        var violations: [Violation] = []
        switch run.outcome {
        case .returned: break
        case .stuck:
            violations.append(
                Violation(rule: "Every schedule ends.", detail: "no step is left, but a task is still waiting"))
        case .endless:
            violations.append(
                Violation(rule: "Every schedule ends.", detail: "the schedule did not end within \(run.jobs) steps"))
        }
        if run.foreignJobs > 0 {
            violations.append(
                Violation(
                    rule: "Every schedule is reproducible.",
                    detail: "another thread enqueued \(run.foreignJobs) of its \(run.jobs) steps"))
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

    /// The transcript of the schedule, followed by the violations.
    func report() -> String {
        let transcript = Transcript(world: world)
        let findings = violations.map { "VIOLATION  \($0.rule)\n           \($0.detail)" }
        return (["── seed \(world.seed) ──", transcript.introduction, ""] + transcript.lines + [""] + findings).joined(
            separator: "\n")
    }
}
