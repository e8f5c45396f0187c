import Martlet
import MartletTesting

/// The plan of one schedule, which the seed determines before the schedule starts.
struct Script: Sendable {
    /// One call of a caller.
    struct Step: Sendable {
        /// The request of the caller.
        enum What: Sendable {
            case token, renewal
            case request(RequestPlan)
            case signIn, login, signOut
            case upgrade
            /// Another HTTP client sends a request that the manager signs.
            case signed(AuthenticationRequirement, isPicky: Bool)
            /// The same, with a client that repeats its requests on its own.
            case repeated(AuthenticationRequirement, isPicky: Bool)
            /// A resource that all callers read.
            case shared(Resource)
            /// A call of the client without a manager, with the app's own credential.
            case plain(Resource, credential: Int)
            /// The app empties the jar and the cache of that client.
            case empty
            /// A download that resumes where an earlier one has stopped.
            case download(AuthenticationRequirement)
            /// A step with one of several accounts.
            case account(AccountStep)
        }

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
        /// The change: the time, the wall clock, the network, or the server's view of the latest session.
        enum What: Sendable {
            case jump(Duration)
            case setConnected(Bool)
            case setWallClock(Double)
            case withdrawAccess, forget
        }

        var wait: Duration
        var what: What
    }

    /// The session that is stored at the beginning.
    enum Start: Sendable { case nothing, fresh, expired }

    /// The behavior of the clients' interceptor.
    enum Interceptor: Sendable { case none, waits, calls }

    var start: Start
    var processes: [[LifeScript]]
    var disturbances: [Disturbance]
    /// Whether the processes share the disk and use its lock.
    var isShared: Bool
    /// Whether the store reports that a session has ended. An app's own store need not do so if it is not shared.
    var keepsMark: Bool
    /// The lifetime of access tokens in seconds; `nil` if the server does not state it.
    var lifetime: Int?
    /// The time for which the server accepts a refresh token that it has replaced.
    var grace: Duration
    /// The time for which a process may hold the lock before another process takes it over.
    var lease: Duration
    /// The time before processes learn of each other's changes, unless they read the record; `nil` if they learn at
    /// once.
    var newsDelay: Duration?
    /// Whether the processes use tokens only once they are saved.
    var requiresSavedTokens: Bool
    /// Whether the server ends a session when it receives a spent refresh token.
    var endsReusedSessions: Bool
    /// The probability in percent that a network exchange fails.
    var networkFailurePercent: Int
    /// The probability in percent that a disk operation fails.
    var diskFailurePercent: Int
    /// Whether the disk and the server sometimes take longer than a process is willing to wait.
    var isSlow: Bool
    /// The number of concurrent requests of one process; `nil` for no limit.
    var slots: Int?
    var interceptor: Interceptor
    var habits: Habits
    /// The tokens that a former library has left; `nil` for none.
    var former: FormerScript?

    init(seed: UInt64) {
        var dice = SeededGenerator(seed: seed ^ 0x5C81_97A1)
        start = dice.pick([.nothing, .fresh, .expired, .expired, .expired])
        let count = dice.pick([1, 1, 1, 1, 2, 2, 2, 2, 2, 3])
        isShared = count > 1 || dice.isTrue(inPercent: 30)
        lifetime = dice.pick([3600, 3600, 60, 3, nil])
        grace = dice.isTrue(inPercent: 30) ? .seconds(90) : .zero
        endsReusedSessions = dice.isTrue(inPercent: 65)
        networkFailurePercent = dice.pick([0, 0, 15, 40])
        diskFailurePercent = dice.pick([0, 0, 0, 15, 40])
        isSlow = dice.isTrue(inPercent: 30)
        let isRich = dice.isTrue(inPercent: 35)
        slots = isRich ? dice.pick([nil, 1, 1, 2]) : nil
        interceptor = isRich ? dice.pick([.none, .waits, .waits, .calls]) : .none
        let haste: Author.Haste? = dice.isTrue(inPercent: 12) ? dice.pick([.renewals, .rejections]) : nil
        var author = Author(hasChanges: dice.isTrue(inPercent: 60), isRich: isRich, haste: haste, dice: dice)
        let hasDeaths = author.dice.isTrue(inPercent: 40)
        processes = (0..<count).map { _ in author.lives(hasDeaths: hasDeaths) }
        disturbances = author.disturbances()
        var others = SeededGenerator(seed: seed ^ 0x3A7E_D0C5)
        requiresSavedTokens = others.isTrue(inPercent: 15)
        habits = Habits(&others)
        lease = Self.lease(&others, isSlow: isSlow && count > 1)
        newsDelay = others.isTrue(inPercent: 20) ? others.pick([.seconds(1), .seconds(5)]) : nil
        if habits.registersGuests, others.isTrue(inPercent: 70) { start = .nothing }
        author.add(habits, to: &processes, &disturbances)
        var last = SeededGenerator(seed: seed ^ 0x2B1D_90F7)
        if last.isTrue(inPercent: 16) {
            former = FormerScript(&last)
            if last.isTrue(inPercent: 85) { start = .nothing }
        }
        keepsMark = true
        if last.isTrue(inPercent: 18) { forbidRefreshes(toAll: last.isTrue(inPercent: 25), &last) }
        // Only Martlet's own stores adopt tokens, and they all keep marks.
        keepsMark = isShared || former != nil || last.isTrue(inPercent: 50)
        var fickle = SeededGenerator(seed: seed ^ 0x61D3_4E0B)
        if fickle.isTrue(inPercent: 6) { withdrawFirstLogins(&fickle) }
    }

    /// Makes users log in and sign out before the server has answered, while the store may still be unread.
    private mutating func withdrawFirstLogins(_ dice: inout SeededGenerator) {
        isSlow = true
        for process in processes.indices {
            let login = Step(wait: .zero, what: .login)
            let signOut = Step(wait: dice.pick([.milliseconds(5), .milliseconds(20)]), what: .signOut)
            processes[process][0].callers += [[login], [signOut]]
        }
    }

    /// A slow disk or server often exceeds the shorter leases, so that another process takes over the lock.
    private static func lease(_ dice: inout SeededGenerator, isSlow: Bool) -> Duration {
        switch dice.number(below: 100) {
        case ..<60 where isSlow: .seconds(3)
        case ..<30: .seconds(15)
        default: .seconds(45)
        }
    }

    /// Makes most calls use the current token without a refresh.
    /// - Parameter all: Whether no caller may cause a refresh, not even one that asks for a token.
    private mutating func forbidRefreshes(toAll all: Bool, _ dice: inout SeededGenerator) {
        for process in processes.indices {
            for life in processes[process].indices {
                processes[process][life].callers = processes[process][life].callers.map { steps in
                    steps.map { $0.withoutRefresh(isOnlyKind: all, &dice) }
                }
            }
        }
    }
}

extension Script.Step {
    /// Turns most requests into calls that allow no refresh.
    /// - Parameter isOnlyKind: Whether every step that could cause a refresh becomes such a call.
    fileprivate func withoutRefresh(isOnlyKind: Bool, _ dice: inout SeededGenerator) -> Script.Step {
        var step = self
        switch what {
        case .request(var plan) where isOnlyKind || dice.isTrue(inPercent: 60):
            plan.allowsRefresh = false
            step.what = .request(plan)
        case .token where isOnlyKind, .renewal where isOnlyKind:
            step.what = .request(RequestPlan(isPicky: dice.isTrue(inPercent: 20), allowsRefresh: false))
        default: break
        }
        return step
    }
}

extension Script {
    /// The time that a process waits for the response to a refresh. It is short enough to neither lose the lock nor
    /// send the token again after the grace period.
    var requestLimit: Duration { min(.seconds(30), lease * (grace > .zero ? 0.4 : 0.8)) }
}

extension Script {
    /// Writes the steps of a script.
    private struct Author {
        /// Whether users sign in and out.
        let hasChanges: Bool
        /// Whether some requests have streams, redirects or other complications.
        let isRich: Bool
        /// The reason why refreshes follow each other quickly: callers force them, or an endpoint rejects every token.
        enum Haste { case renewals, rejections }

        let haste: Haste?
        var dice: SeededGenerator

        mutating func lives(hasDeaths: Bool) -> [LifeScript] {
            let deaths = hasDeaths ? dice.number(below: 3) : 0
            // A call meets a newer token at each of its attempts only if others refresh at the same time.
            let numbers = haste == .rejections ? [3] : [1, 1, 1, 2, 2, 3]
            return (0...deaths).map { life in
                let wait = dice.pick(
                    life == 0 ? [.zero, .zero, .milliseconds(50)] : [Duration.zero, .seconds(1)])
                let callers = (0..<dice.pick(numbers)).map { _ in steps() }
                return LifeScript(
                    wait: wait, callers: callers, touches: life < deaths ? 1 + dice.number(below: 24) : nil)
            }
        }

        mutating func disturbances() -> [Disturbance] {
            guard dice.isTrue(inPercent: 50) else { return [] }
            return (0...dice.number(below: 3)).map { _ in
                let what: Disturbance.What =
                    switch dice.number(below: 8) {
                    case 0...3: .withdrawAccess
                    case 4: .forget
                    case 5: .setWallClock(dice.pick([-86_400, -600, 600, 86_400]))
                    default: .jump(dice.pick([.seconds(1), .seconds(31), .seconds(46), .seconds(3_600)]))
                    }
                return Disturbance(wait: wait(), what: what)
            }
        }

        /// Adds callers that use the app's other features, and network outages.
        mutating func add(_ habits: Habits, to processes: inout [[LifeScript]], _ disturbances: inout [Disturbance]) {
            for process in processes.indices {
                for life in processes[process].indices {
                    // Let calls of one client meet each other.
                    for kind in habits.kinds.flatMap({ $0.isClose ? [$0, $0] : [$0] }) {
                        let steps = (0..<(kind.isClose ? 3 : 2 + dice.number(below: 3))).map { _ in
                            let what = kind.step(&dice)
                            let pause =
                                kind.isClose && dice.isTrue(inPercent: 70)
                                ? dice.pick([.zero, .milliseconds(20)]) : wait()
                            return Step(wait: pause, what: what, cancelledAfter: patience(for: what))
                        }
                        processes[process][life].callers.append(steps)
                    }
                }
            }
            guard habits.hasOutages else { return }
            disturbances += (0..<4).map { index in
                let pause: Duration = index == 0 ? dice.pick([.zero, .milliseconds(20), .seconds(1)]) : wait()
                return Disturbance(wait: min(pause, .seconds(61)), what: .setConnected(!index.isMultiple(of: 2)))
            }
        }

        private mutating func steps() -> [Step] {
            (0..<(haste != nil ? 8 : dice.pick([1, 1, 1, 2, 2, 3]))).map { _ in
                let (wait, what) = (haste != nil ? dice.pick([.zero, .milliseconds(500)]) : wait(), what())
                return Step(wait: wait, what: what, cancelledAfter: patience(for: what))
            }
        }

        /// The time after which a call is cancelled: at once, when its response may arrive, or later.
        private mutating func patience(for what: Step.What) -> Duration? {
            guard case .request(let plan) = what, plan.kind == .stream || plan.kind == .events else {
                return dice.isTrue(inPercent: 15) ? dice.pick([.zero, .zero, .milliseconds(20), .seconds(2)]) : nil
            }
            return dice.isTrue(inPercent: 50)
                ? dice.pick([.zero, .zero, .milliseconds(10), .milliseconds(40), .milliseconds(90), .seconds(2)]) : nil
        }

        private mutating func what() -> Step.What {
            if haste == .rejections, dice.isTrue(inPercent: 80) { return .request(RequestPlan(isPicky: true)) }
            return switch dice.number(below: 20) {
            case 0...6: haste == .renewals ? .renewal : .token
            case 7, 8: isRich ? .request(plan()) : .token
            case 9...12: .request(plan())
            case 13...15: .renewal
            case 16, 17: hasChanges ? (dice.isTrue(inPercent: 25) ? .login : .signIn) : .token
            default: hasChanges ? .signOut : .request(plan())
            }
        }

        private mutating func plan() -> RequestPlan {
            guard isRich else {
                let body: RequestPlan.Payload = dice.isTrue(inPercent: 25) ? .ofUnknownLength : .none
                return RequestPlan(body: body, isPicky: dice.isTrue(inPercent: 10))
            }
            let kind: RequestPlan.Kind = dice.pick([.plain, .plain, .plain, .plain, .stream, .events])
            return RequestPlan(
                kind: kind, authentication: dice.pick([.required, .required, .ifSignedIn, .ifSignedIn, .none]),
                isPost: kind == .plain && dice.isTrue(inPercent: 40),
                body: dice.pick([.none, .short, .ofUnknownLength]),
                redirect: dice.pick([nil, nil, .sameOrigin, .sameOrigin, .otherOrigin]),
                isPicky: kind != .inner && dice.isTrue(inPercent: 10))
        }

        private mutating func wait() -> Duration {
            dice.pick([
                .zero, .zero, .zero, .zero, .milliseconds(20), .milliseconds(80), .seconds(1), .seconds(6),
                .seconds(61), .seconds(3_500),
            ])
        }
    }
}

extension SeededGenerator {
    mutating func pick<Element>(_ choices: [Element]) -> Element {
        choices[number(below: choices.count)]
    }
}
