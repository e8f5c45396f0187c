import Martlet
import MartletTesting

/// A server with rotating refresh tokens and reuse detection, behind an unreliable network.
///
/// `@unchecked Sendable`: a schedule runs on one thread.
final class SimulatedServer: @unchecked Sendable {
    /// A session on the server.
    struct Family {
        /// The number of the current token.
        var current = 0
        /// The reason why the session has ended; `nil` if it has not.
        var endReason: Rejection?
        /// The time at which the last refresh token was replaced.
        var replacedAt: Duration?
        /// The lowest number of an access token that is still accepted.
        var firstAccepted = 0
        var issuedAt: [Duration] = []
    }

    let script: Script
    let time: ManualTimeSource
    let history: History
    var dice: SeededGenerator
    var families: [Int: Family] = [:]
    private var lastFamily = 0
    private var plans: [Int: RequestPlan] = [:]
    /// The number of times each event stream has connected.
    var connections: [Int: Int] = [:]
    private(set) var isCalm = false
    /// Whether the devices have a network.
    var isReachable = true

    init(_ script: Script, seed: UInt64, time: ManualTimeSource, history: History) {
        self.script = script
        self.time = time
        self.history = history
        dice = SeededGenerator(seed: seed ^ 0x5E4F_3E12)
    }

    /// Ends all failures and long delays.
    func calmDown() { isCalm = true }

    /// Announces a call.
    func expect(_ call: Int, _ plan: RequestPlan) { plans[call] = plan }

    func plan(of call: Int) -> RequestPlan { plans[call] ?? RequestPlan() }

    /// Creates a session and its first tokens.
    func issue() -> (family: Int, tokens: Tokens) {
        lastFamily += 1
        families[lastFamily] = Family(issuedAt: [time.uptime])
        return (lastFamily, tokens(TokenName(family: lastFamily, number: 0)))
    }

    func tokens(_ token: TokenName) -> Tokens {
        Tokens(
            accessToken: token.access, refreshToken: token.refresh, lifetime: script.lifetime.map { .seconds($0) })
    }

    /// Rejects the current access token of the latest session from now on.
    func withdrawAccess() {
        guard var family = families[lastFamily] else { return }
        family.firstAccepted = family.current + 1
        families[lastFamily] = family
        history.add(.withdraws(family: lastFamily))
    }

    /// Ends the latest session.
    func forget() {
        guard lastFamily > 0 else { return }
        end(lastFamily, .withdrawn)
        history.add(.forgets(family: lastFamily))
    }

    func end(_ family: Int, _ reason: Rejection) {
        if families[family]?.endReason == nil { families[family]?.endReason = reason }
    }

    func delay() -> Duration {
        let quick: [Duration] = [.zero, .zero, .milliseconds(10), .milliseconds(40), .milliseconds(90)]
        guard script.isSlow, !isCalm, dice.isTrue(inPercent: 30) else { return dice.pick(quick) }
        return dice.pick([.seconds(1), .seconds(12), .seconds(29), .seconds(30), .seconds(31), .seconds(50)])
    }

    func failsNow() -> Bool {
        !isCalm && dice.isTrue(inPercent: script.networkFailurePercent)
    }

    func wait(for duration: Duration) async {
        await SeededScheduler.pause()
        if duration > .zero { try? await time.sleep(until: time.uptime + duration) }
    }
}
