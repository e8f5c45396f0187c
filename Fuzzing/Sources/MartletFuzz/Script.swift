import MartletTesting

/// The plan of one schedule, which the seed determines before the schedule starts.
struct Script: Sendable {
    /// One call of a caller.
    struct Step: Sendable {
        /// What the caller asks for.
        enum What: Sendable { case token, renewal, request, signIn, signOut }

        var wait: Duration
        var what: What
        var cancelledAfter: Duration?
    }

    /// One lifetime of a process: its callers, and when it dies.
    struct LifeScript: Sendable {
        /// The delay before the process starts.
        var wait: Duration
        var callers: [[Step]]
        /// The access to disk or network, counted from 1, at which the process dies; `nil` for never.
        var touches: Int?
    }

    /// A change of the environment, at a time of its own.
    struct Disturbance: Sendable {
        /// What changes: the time, the wall clock, or the server's view of the latest session.
        enum What: Sendable {
            case jump(Duration)
            case setWallClock(Double)
            case withdrawAccess, forget
        }

        var wait: Duration
        var what: What
    }

    /// The session that is stored at the beginning.
    enum Start: Sendable { case nothing, fresh, expired }

    var start: Start
    var processes: [[LifeScript]]
    var disturbances: [Disturbance]
    /// Whether the processes share the disk and use its lock.
    var isShared: Bool
    /// The lifetime of access tokens in seconds; `nil` if the server does not state it.
    var lifetime: Int?
    /// How long the server accepts a refresh token that it has replaced.
    var grace: Duration
    /// The probability in percent that a network exchange fails.
    var networkFailurePercent: Int
    /// The probability in percent that a disk operation fails.
    var diskFailurePercent: Int
    /// Whether the disk and the server sometimes take longer than a process waits.
    var isSlow: Bool

    init(seed: UInt64) {
        var dice = SeededGenerator(seed: seed ^ 0x5C81_97A1)
        start = dice.pick([.nothing, .fresh, .expired, .expired, .expired])
        let count = dice.pick([1, 1, 1, 1, 2, 2, 2, 2, 2, 3])
        isShared = count > 1 || dice.isTrue(inPercent: 30)
        lifetime = dice.pick([3600, 3600, 60, 3, nil])
        grace = dice.isTrue(inPercent: 30) ? .seconds(90) : .zero
        networkFailurePercent = dice.pick([0, 0, 15, 40])
        diskFailurePercent = dice.pick([0, 0, 0, 15, 40])
        isSlow = dice.isTrue(inPercent: 30)
        let hasDeaths = dice.isTrue(inPercent: 40)
        let hasChanges = dice.isTrue(inPercent: 60)
        processes = (0..<count).map { _ in
            let deaths = hasDeaths ? dice.number(below: 3) : 0
            return (0...deaths).map { life in
                LifeScript(
                    wait: life == 0 ? dice.pick([.zero, .zero, .milliseconds(50)]) : dice.pick([.zero, .seconds(1)]),
                    callers: (0..<dice.pick([1, 1, 1, 2, 2, 3])).map { _ in Self.steps(&dice, hasChanges: hasChanges) },
                    touches: life < deaths ? 1 + dice.number(below: 24) : nil)
            }
        }
        disturbances = []
        guard dice.isTrue(inPercent: 50) else { return }
        for _ in 0...dice.number(below: 3) {
            let what: Disturbance.What =
                switch dice.number(below: 8) {
                case 0...3: .withdrawAccess
                case 4: .forget
                case 5: .setWallClock(dice.pick([-86_400, -600, 600, 86_400]))
                default: .jump(dice.pick([.seconds(1), .seconds(31), .seconds(3_600)]))
                }
            disturbances.append(Disturbance(wait: Self.wait(&dice), what: what))
        }
    }

    private static func steps(_ dice: inout SeededGenerator, hasChanges: Bool) -> [Step] {
        (0..<dice.pick([1, 1, 1, 2, 2, 3])).map { _ in
            let what: Step.What =
                switch dice.number(below: 20) {
                case 0...8: .token
                case 9...12: .request
                case 13...15: .renewal
                case 16, 17: hasChanges ? .signIn : .token
                default: hasChanges ? .signOut : .request
                }
            return Step(
                wait: wait(&dice), what: what,
                cancelledAfter: dice.isTrue(inPercent: 15)
                    ? dice.pick([.zero, .zero, .milliseconds(20), .seconds(2)]) : nil)
        }
    }

    private static func wait(_ dice: inout SeededGenerator) -> Duration {
        dice.pick([
            .zero, .zero, .zero, .zero, .milliseconds(20), .milliseconds(80), .seconds(1), .seconds(6), .seconds(61),
            .seconds(3_500),
        ])
    }
}

extension SeededGenerator {
    mutating func pick<Element>(_ choices: [Element]) -> Element {
        choices[number(below: choices.count)]
    }
}
