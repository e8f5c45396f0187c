import MartletTesting

/// What is going to be done in one schedule: all of it decided by the seed before anything happens.
struct Script: Sendable {
    struct Step: Sendable {
        enum What: Sendable { case token, renewal, request, signIn, signOut }

        var wait: Duration
        var what: What
        var cancelledAfter: Duration?
    }

    struct LifeScript: Sendable {
        var wait: Duration
        var callers: [[Step]]
        /// The process dies when it touches disk or network for this time.
        var touches: Int?
    }

    struct Mischief: Sendable {
        enum What: Sendable {
            case jump(Duration)
            case setWallClock(Double)
            case withdrawAccess, forget
        }

        var wait: Duration
        var what: What
    }

    enum Start: Sendable { case nothing, fresh, expired }

    var start: Start
    var processes: [[LifeScript]]
    var mischief: [Mischief]
    var isShared: Bool
    /// In seconds; `nil` where the server does not tell.
    var lifetime: Int?
    var grace: Duration
    /// How many of a hundred exchanges go wrong.
    var roughNetwork: Int
    /// How many of a hundred operations on the disk go wrong.
    var roughDisk: Int
    var isSlow: Bool

    init(seed: UInt64) {
        var dice = SeededGenerator(seed: seed ^ 0x5C81_97A1)
        start = dice.pick([.nothing, .fresh, .expired, .expired, .expired])
        let count = dice.pick([1, 1, 1, 1, 2, 2, 2, 2, 2, 3])
        isShared = count > 1 || dice.isTrue(inPercent: 30)
        lifetime = dice.pick([3600, 3600, 60, 3, nil])
        grace = dice.isTrue(inPercent: 30) ? .seconds(90) : .zero
        roughNetwork = dice.pick([0, 0, 15, 40])
        roughDisk = dice.pick([0, 0, 0, 15, 40])
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
        mischief = []
        guard dice.isTrue(inPercent: 50) else { return }
        for _ in 0...dice.number(below: 3) {
            let what: Mischief.What =
                switch dice.number(below: 8) {
                case 0...3: .withdrawAccess
                case 4: .forget
                case 5: .setWallClock(dice.pick([-86_400, -600, 600, 86_400]))
                default: .jump(dice.pick([.seconds(1), .seconds(31), .seconds(3_600)]))
                }
            mischief.append(Mischief(wait: Self.wait(&dice), what: what))
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
