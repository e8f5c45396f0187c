import MartletTesting

@testable import Martlet
@testable import MartletStorage
@testable import MartletTesting

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The real token manager with a store, a server, a clock and other processes that do what the search chooses.
final class World {
    /// The maximum number of jobs that an event may cause.
    static let jobLimit = 5_000
    /// The number of steps within which another event may overtake the one that caused them.
    static let overtakenSteps = 4

    let setting: Setting
    let scheduler: StepScheduler
    let ports: Ports
    var life: Life
    var rules: Rules
    /// The events so far, for the story of a violation; `nil` if no story is needed.
    var story: [String]?
    /// The time at which the last backoff is over.
    var backoffEnd = Duration.zero

    var clock: SearchClock { ports.clock }
    var disk: SearchDisk { ports.disk }
    var server: SearchServer { ports.server }

    init(_ setting: Setting, _ stored: Start.Stored, on scheduler: StepScheduler, isTold: Bool = false) {
        self.setting = setting
        self.scheduler = scheduler
        ports = Ports(setting)
        rules = Rules(setting)
        story = isTold ? [] : nil
        life = Life(ports)
        ports.world = self
        prepare(stored)
        disk.willCommit = { [unowned self] in willCommit($0) }
        settle()
    }

    /// Puts the first record into the store.
    private func prepare(_ stored: Start.Stored) {
        guard stored != .nothing else { return }
        let token = server.signIn()
        rules.addFamily()
        rules[1].hasStarted = true
        var record = record(of: token)
        switch stored {
        case .nothing, .fresh: break
        case .expired:
            server[1].issuedAt = [.seconds(-7200)]
            record.estimatedExpiry = clock.wallClock.addingTimeInterval(-3600)
        case .journaled, .spent:
            record.journal = RefreshJournal(
                startedAt: clock.wallClock, fingerprint: RefreshJournal.fingerprint(of: token.refresh))
            rules[1].isInDoubt = true
            if stored == .spent { _ = server.spend(token) }
        case .damaged: disk.isDamaged = true
        }
        disk.record = record
        rules.learn(record)
    }

    /// A record as a sign-in in another process would write it.
    func record(of token: TokenName) -> StoredSession {
        let highest = max(disk.record?.generation ?? 0, disk.mark?.position.generation ?? 0)
        return StoredSession(
            id: SessionID(),
            generation: max(highest + 1, Int((clock.wallClock.timeIntervalSince1970 * 1000).rounded())),
            tokens: server.tokens(token),
            estimatedExpiry: estimatedExpiry(of: token), lifetime: setting.lifetime,
            account: SessionAccount(userID: "\(token.family)"))
    }

    func estimatedExpiry(of token: TokenName) -> Date? {
        server.expiry(of: token).map { clock.wallClock.addingTimeInterval(($0 - clock.uptime).inSeconds) }
    }

    /// Performs a choice and everything that follows from it, and checks the rules.
    func take(_ choice: Choice) {
        tell("- \(choice)")
        rules.overtakenFamily = nil
        // Any token newer than the rejected one will do.
        let expectsToken = [.asks(.token), .asks(.replacement(.older))].contains(choice) && hasValidToken
        perform(choice)
        settle()
        checkReplies()
        if expectsToken, !rules.gaveToken { violate(.validTokensAreHandedOut, "a caller did not get the valid token") }
    }

    /// Runs all jobs.
    func settle() {
        if !scheduler.runJobs(atMost: Self.jobLimit) { violate(.everyPathEnds, "the engine does not come to rest") }
    }

    func tell(_ line: @autoclosure () -> String) {
        if story != nil { story?.append(line()) }
    }

    func violate(_ rule: Rule, _ words: @autoclosure () -> String) {
        if Rule.open.contains(rule) {
            rules.openViolations.insert(rule)
        } else if rules.violation == nil {
            rules.violation = (rule, words())
        }
        tell("    VIOLATION \(words())")
    }

    /// Ends everything that still waits, so that the world can be released.
    func close() {
        end(commits: false)
    }

    private func end(commits: Bool) {
        disk.abandonOperations(commits: commits)
        life.power.isOn = false
        let exchanges = server.exchanges
        server.exchanges = []
        for exchange in exchanges { exchange.continuation.resume(returning: .failure(CancellationError())) }
        var rounds = 0
        repeat {
            clock.cancelAll()
            _ = scheduler.runJobs(atMost: Self.jobLimit)
            rounds += 1
        } while !clock.deadlines.isEmpty && rounds < 20
    }

    func restart(commits: Bool, spends: Bool) {
        for exchange in server.exchanges {
            rules[exchange.token.family].isInDoubt = true
            if spends { _ = server.spend(exchange.token) }
        }
        end(commits: commits)
        // The journal of a refresh that sent nothing remains.
        if let record = disk.record, record.unresolvedJournal != nil, let token = TokenName(record.tokens.accessToken) {
            rules[token.family].isInDoubt = true
        }
        rules.restart()
        life = Life(ports)
        disk.hasUnreadChange = false
    }
}
