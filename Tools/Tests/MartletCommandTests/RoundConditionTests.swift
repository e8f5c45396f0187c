import Foundation
import Martlet
import Testing

@testable import MartletCommand

@Suite("Judgement of the conditions of a torture round", .timeLimit(.minutes(10))) struct RoundConditionTests {
    private typealias Count = WritableKeyPath<TortureFigures, Int>

    private static let right = WorkerName(slot: 0, generation: 1)
    private static let wrong = WorkerName(slot: 1, generation: 1)
    private static let blind = WorkerName(slot: 2, generation: 1)
    private static let session = "5e55"
    /// The clock of the second worker is two hours ahead, and the third one cannot watch files.
    private static let conditions = ConditionPlan(hardships: ConditionPlan.Hardship.allCases)

    /// A round in which workers refreshed the tokens one after the other, and each worker made successful calls.
    private static func round(_ mode: TortureMode = .calm, refreshes workers: WorkerName...) -> RoundEvidence {
        var history = RefreshHistory()
        history.sessionBegan(by: right)
        for (number, worker) in workers.enumerated() {
            history.arrived(id: "\(number)", from: worker, at: .milliseconds(10 * number))
            history.handled(id: "\(number)", status: 200, at: .milliseconds(10 * number + 5))
            history.stored(rotation: number + 1)
        }
        var evidence = RoundEvidence(mode: mode, session: session, stored: session, history: history)
        evidence.conditions = conditions
        for worker in [right, wrong, blind] {
            var tally = CallTally(successes: 3, state: .signedIn(session: session))
            if worker == blind { tally.watchFailures = 1 }
            tally.content.sessions = ["now": 2]
            evidence.tallies.append((worker, tally))
        }
        return evidence
    }

    /// A round after which all workers are signed out.
    private static func signOut() -> RoundEvidence {
        var evidence = round(refreshes: right)
        (evidence.action, evidence.stored) = (.signOut, nil)
        for index in evidence.tallies.indices { evidence.tallies[index].tally.state = .signedOut }
        evidence.ends = [right, wrong, blind].map { worker in
            (worker, EndReport(state: .signedOut, wait: .seconds(3)))
        }
        return evidence
    }

    private static func counts(_ evidence: RoundEvidence) -> [Count] { evidence.violations().map(\.count) }

    // MARK: - Wrong clocks

    @Test("A worker whose clock is ahead may refresh once after each grant to another one") func clockAhead() {
        let (right, wrong) = (Self.right, Self.wrong)
        #expect(Self.counts(Self.round(refreshes: right, wrong)).isEmpty)
        #expect(Self.counts(Self.round(refreshes: wrong)).isEmpty)
        // The first refresh follows the sign-in, and no grant explains the others.
        #expect(Self.counts(Self.round(refreshes: wrong, wrong, wrong)) == [\.excessRefreshes])
        #expect(Self.counts(Self.round(refreshes: right, wrong, right)) == [\.excessRefreshes])
        #expect(Self.counts(Self.round(refreshes: right, Self.blind)) == [\.excessRefreshes])
        var plain = Self.round(refreshes: right, wrong)
        plain.conditions = ConditionPlan(hardships: [.watch])
        #expect(Self.counts(plain) == [\.excessRefreshes])
    }

    @Test("A wrong clock explains no lost session", arguments: TortureMode.allCases) func lossByClock(mode: TortureMode)
    {
        var evidence = Self.round(mode, refreshes: Self.right, Self.wrong)
        evidence.stored = nil
        evidence.ends = [(Self.right, Self.signOut().ends[0].report)]
        #expect(Self.counts(evidence).contains(\.unexpectedSignOuts))
    }

    // MARK: - Files that cannot be watched

    @Test("A worker notices an end within four seconds, and within nine if it cannot watch the record") func notices() {
        var evidence = Self.signOut()
        #expect(Self.counts(evidence).isEmpty)
        evidence.ends[2].report.wait = .seconds(8)
        #expect(Self.counts(evidence).isEmpty)
        evidence.ends[0].report.wait = .seconds(8)
        #expect(Self.counts(evidence) == [\.lateNotices])
        evidence.ends[2].report.wait = .seconds(10)
        #expect(Self.counts(evidence) == [\.lateNotices, \.lateNotices])
    }

    @Test("A worker that cannot watch the record and does not say so is a violation") func silence() {
        var evidence = Self.round(refreshes: Self.right)
        evidence.tallies[2].tally.watchFailures = 0
        #expect(Self.counts(evidence) == [\.otherViolations])
        evidence.tallies[2].worker = Self.right
        #expect(Self.counts(evidence).isEmpty)
    }

    @Test("A worker may be refused if the tokens that it had missed have expired, too") func missedRotation() {
        var evidence = Self.round(refreshes: Self.right, Self.right)
        evidence.history.roundBegan()
        evidence.history.accessTokensExpire()
        evidence.tallies[2].tally.failures = [CallFailure.rejected: 1]
        #expect(Self.counts(evidence) == [\.unexplainedFailures])
        evidence.tallies[2].tally.missedRotation = 2
        #expect(Self.counts(evidence).isEmpty)
        // These tokens were granted after the others had expired.
        evidence.tallies[2].tally.missedRotation = 3
        #expect(Self.counts(evidence) == [\.unexplainedFailures])
        evidence.tallies[0].tally.missedRotation = 2
        #expect(Self.counts(evidence) == [\.unexplainedFailures])
    }

    // MARK: - Content

    @Test("Content of a former session, of two sessions, or in a mixed file is a violation") func foreignContent() {
        var evidence = Self.round(refreshes: Self.right)
        (evidence.formerNames, evidence.currentNames) = (["before"], ["now"])
        #expect(Self.counts(evidence).isEmpty)
        for name in ["before", "other", "before+now"] {
            evidence.tallies[1].tally.content.sessions[name] = 1
            #expect(Self.counts(evidence) == [\.foreignContents])
            evidence.tallies[1].tally.content.sessions[name] = nil
        }
        evidence.formerNames = ["now"]
        evidence.currentNames = []
        #expect(Set(Self.counts(evidence)) == [\.foreignContents])
    }

    @Test("The cookie of another session, and content after the end, are violations") func cookiesAndEnd() {
        var evidence = Self.round(refreshes: Self.right)
        evidence.tallies[0].tally.content.foreignCookies = 1
        #expect(Self.counts(evidence) == [\.foreignContents])
        evidence = Self.signOut()
        evidence.tallies[0].tally.content.handedAfterEnd = 1
        #expect(Self.counts(evidence) == [\.foreignContents])
        evidence = Self.signOut()
        evidence.ends[1] = (
            Self.wrong,
            EndReport(state: .signedOut, content: ContentTally(handedAfterEnd: 1))
        )
        #expect(Self.counts(evidence) == [\.foreignContents])
    }

    // MARK: - Lateness

    private static func isInconclusive(_ evidence: RoundEvidence, lateness: Duration) -> Bool {
        var evidence = evidence
        evidence.parentLateness = lateness
        if evidence.violations().isEmpty { return !evidence.inconclusive().isEmpty }
        #expect(evidence.inconclusive().isEmpty)
        return false
    }

    @Test("A lateness of half a lease makes excess refreshes and refreshes that time out inconclusive")
    func lateness() {
        let excess = Self.round(refreshes: Self.right, Self.right)
        var timedOut = Self.round(refreshes: Self.right)
        timedOut.tallies[0].tally.failures = [CallFailure.refreshTimedOut: 1, CallFailure.rejected: 2]
        for evidence in [excess, timedOut] {
            #expect(!Self.isInconclusive(evidence, lateness: .milliseconds(499)))
            #expect(Self.isInconclusive(evidence, lateness: .milliseconds(500)))
        }
        timedOut.tallies[0].tally.failures["connection lost"] = 1
        #expect(!Self.isInconclusive(timedOut, lateness: .seconds(5)))
    }

    @Test("A store that cannot be used is inconclusive only if the disk was late by half of its time limit")
    func lateDisk() {
        var evidence = Self.round(refreshes: Self.right)
        evidence.tallies[0].tally.failures = [CallFailure.storeUnavailable: 3]
        #expect(!Self.isInconclusive(evidence, lateness: .seconds(60)))
        evidence.diskLateness = .milliseconds(2499)
        #expect(!Self.isInconclusive(evidence, lateness: .zero))
        evidence.diskLateness = .milliseconds(2500)
        #expect(Self.isInconclusive(evidence, lateness: .zero))
        evidence.tallies[0].tally.failures["connection lost"] = 1
        #expect(!Self.isInconclusive(evidence, lateness: .zero))
    }

    @Test("No lateness explains a wrong state, foreign content or a refused call alone") func unforgivable() {
        var evidence = Self.round(refreshes: Self.right)
        evidence.tallies[0].tally.failures = [CallFailure.rejected: 1]
        #expect(!Self.isInconclusive(evidence, lateness: .seconds(60)))
        evidence = Self.round(refreshes: Self.right)
        evidence.tallies[0].tally.state = .signedOut
        #expect(!Self.isInconclusive(evidence, lateness: .seconds(60)))
        evidence = Self.round(refreshes: Self.right)
        evidence.tallies[0].tally.content.foreignCookies = 1
        #expect(!Self.isInconclusive(evidence, lateness: .seconds(60)))
    }

    @Test("A lost session is inconclusive only after half a lease, or half a grace period") func lateLoss() {
        func loss(_ mode: TortureMode) -> RoundEvidence {
            var evidence = Self.round(mode, refreshes: Self.right)
            evidence.stored = nil
            var report = Self.signOut().ends[0].report
            report.state = .rotationLost
            evidence.ends = [(Self.right, report)]
            return evidence
        }
        #expect(!Self.isInconclusive(loss(.harsh), lateness: .milliseconds(499)))
        #expect(Self.isInconclusive(loss(.harsh), lateness: .milliseconds(500)))
        #expect(!Self.isInconclusive(loss(.grace), lateness: .seconds(14)))
        #expect(Self.isInconclusive(loss(.grace), lateness: .seconds(15)))
    }

    @Test("A worker that was stopped says nothing about the machine") func stoppedWorker() {
        var evidence = Self.round(refreshes: Self.right, Self.right)
        evidence.tallies[0].tally.lateness = .seconds(5)
        #expect(Self.counts(evidence).isEmpty)
        evidence.earlierFaults = [
            .init(worker: Self.right, kind: .stop, at: .zero, until: .seconds(1), isDuringRefresh: false)
        ]
        evidence.history.arrived(id: "more", from: Self.right, at: .seconds(2))
        #expect(Self.counts(evidence) == [\.excessRefreshes])
    }

    // MARK: - Plans

    @Test("One slot has a wrong clock, another one cannot watch files, and the transports take turns") func plan() {
        var plan = Self.conditions
        plan.transports = WorkerTransport.allCases
        func all(_ slot: Int) -> [WorkerConditions] {
            (1...8).map { plan.conditions(of: WorkerName(slot: slot, generation: $0)) }
        }
        #expect(all(0).allSatisfy { $0.clockOffset == .zero && $0.watchLimit == nil })
        #expect(Set(all(1).map(\.clockOffset)).count == 4)
        #expect(Set(all(2).map(\.watchLimit)) == [.instances, .watches])
        #expect(Set(all(0).map(\.transport)) == Set(WorkerTransport.allCases))
        plan.hardships = []
        #expect((0..<8).flatMap(all).allSatisfy { $0.clockOffset == .zero && $0.watchLimit == nil })
    }

    @Test("A wrong clock is off by its offset, and its uptime is not") func wrongClock() async throws {
        let clock = WrongClock(offset: .seconds(-7200))
        #expect(abs(clock.wallClock.timeIntervalSinceNow + 7200) < 60)
        let start = clock.uptime
        try await clock.sleep(until: start + .milliseconds(1))
        #expect(clock.uptime >= start + .milliseconds(1))
    }
}
