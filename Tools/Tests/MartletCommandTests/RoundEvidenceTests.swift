import Martlet
import Testing

@testable import MartletCommand

@Suite("Judgement of a torture round", .timeLimit(.minutes(10))) struct RoundEvidenceTests {
    private static let first = WorkerName(slot: 0, generation: 1)
    private static let second = WorkerName(slot: 1, generation: 1)
    private static let session = "5e55"

    /// A round in which one worker refreshed the tokens and two made successful calls.
    private static func round(
        _ mode: TortureMode, _ action: WorkerInstruction.Action? = nil, refreshes: Int = 1,
        history change: (inout RefreshHistory) -> Void = { _ in }
    ) -> RoundEvidence {
        var history = RefreshHistory()
        for number in 0..<refreshes {
            history.arrived(id: "\(number)", from: first, at: .milliseconds(10 * number))
            history.handled(id: "\(number)", status: 200, at: .milliseconds(10 * number + 5))
            history.stored(rotation: number + 1)
        }
        change(&history)
        var evidence = RoundEvidence(
            mode: mode, session: session, action: action, stored: session, history: history)
        for worker in [first, second] {
            evidence.tallies.append(
                (worker, CallTally(successes: 3, state: .signedIn(session: session))))
        }
        return evidence
    }

    /// A round in which a worker signed out.
    private static func signOut(
        _ mode: TortureMode, refreshes: Int = 1, history change: (inout RefreshHistory) -> Void = { _ in }
    ) -> RoundEvidence {
        var evidence = round(mode, .signOut, refreshes: refreshes, history: change)
        evidence.stored = nil
        evidence.tallies[0].tally.failures = [CallFailure.sessionChanged: 1]
        evidence.tallies[1].tally.failures = [CallFailure.signInRequired: 1]
        for index in [0, 1] { evidence.tallies[index].tally.state = .signedOut }
        evidence.ends = ends(.signedOut, .signedOut)
        return evidence
    }

    /// The reports of both workers after the end of the session.
    private static func ends(_ states: WorkerState...) -> [(worker: WorkerName, report: EndReport)] {
        zip([first, second], states).map { ($0, EndReport(state: $1)) }
    }

    /// The second worker's refresh is granted but never stored, and the first one's presents the used token.
    private static func reuse(_ history: inout RefreshHistory) {
        history.arrived(id: "lost", from: second, at: .milliseconds(100))
        history.handled(id: "lost", status: 200, at: .milliseconds(105))
        history.arrived(id: "reuse", from: first, at: .milliseconds(300))
        history.reuseDetected(id: "reuse")
        history.handled(id: "reuse", status: 401, at: .milliseconds(305))
    }

    private static func kill(_ history: inout RefreshHistory) {
        history.faultInjected(second, .kill, at: .milliseconds(106))
    }

    @Test("An undisturbed round and one with a sign-out break no rule", arguments: TortureMode.allCases)
    func undisturbed(mode: TortureMode) {
        #expect(Self.round(mode).violations().isEmpty)
        #expect(Self.signOut(mode).violations().isEmpty)
    }

    @Test(
        "A call that fails although nothing explains it is a violation in every mode",
        arguments: TortureMode.allCases,
        [CallFailure.refreshTimedOut, CallFailure.rejected, CallFailure.refused(500), "connection lost"])
    func failedCall(mode: TortureMode, failure: String) {
        var evidence = Self.round(mode)
        evidence.tallies[0].tally.failures = [failure: 1]
        #expect(evidence.violations().map(\.count) == [\.unexplainedFailures])
        evidence = Self.signOut(mode)
        evidence.tallies[0].tally.failures[failure] = 1
        #expect(evidence.violations().map(\.count) == [\.unexplainedFailures])
    }

    @Test("A stop explains the failed refresh of its worker only, in this round and the next") func stoppedWorker() {
        var evidence = Self.round(.grace) {
            $0.faultInjected(Self.first, .stop, at: .milliseconds(1))
            $0.resumed(Self.first, at: .milliseconds(1200))
        }
        evidence.tallies[0].tally.failures = [CallFailure.refreshTimedOut: 1, CallFailure.rejected: 1]
        #expect(evidence.violations().isEmpty)
        evidence.tallies.swapAt(0, 1)
        (evidence.tallies[0].worker, evidence.tallies[1].worker) = (Self.first, Self.second)
        #expect(evidence.violations().map(\.count) == [\.unexplainedFailures])
        evidence.earlierFaults = [
            .init(worker: Self.second, kind: .stop, at: .zero, until: .seconds(1), isDuringRefresh: false)
        ]
        #expect(evidence.violations().isEmpty)
        evidence.earlierFaults = [.init(worker: Self.second, kind: .kill, at: .zero, isDuringRefresh: false)]
        #expect(evidence.violations().map(\.count) == [\.unexplainedFailures])
    }

    @Test("A rejected call is explained by a lost session, or by a replay of a grant of the round before")
    func rejectedCall() {
        var evidence = Self.round(.harsh, refreshes: 0) { history in
            Self.kill(&history)
            Self.reuse(&history)
        }
        evidence.tallies[0].tally.failures = [CallFailure.rejected: 1]
        #expect(evidence.violations().isEmpty)

        func replay(stored: Bool = false, repeated: Bool = true, roundBegins: Bool = true) -> RoundEvidence {
            var evidence = Self.round(.grace) { history in
                history.arrived(id: "killed", from: Self.second, at: .milliseconds(100))
                Self.kill(&history)
                history.handled(id: "killed", status: 200, at: .milliseconds(105))
                if stored { history.stored(rotation: 2) }
                if roundBegins { history.roundBegan() }
                history.arrived(id: "again", from: Self.first, at: .milliseconds(200))
                if repeated { history.grantRepeated(id: "again") }
                history.handled(id: "again", status: 200, at: .milliseconds(205))
            }
            evidence.tallies[0].tally.failures = [CallFailure.rejected: 1]
            return evidence
        }
        #expect(replay().violations().isEmpty)
        let violation = [\TortureFigures.unexplainedFailures]
        #expect(replay(stored: true).violations().map(\.count) == violation)
        #expect(replay(repeated: false).violations().map(\.count) == violation)
        // The tokens were granted in this round, so the access token is valid.
        #expect(replay(roundBegins: false).violations().map(\.count).contains(\.unexplainedFailures))
    }

    @Test("Only a mode that may lose sessions may expire one", arguments: TortureMode.allCases)
    func expired(mode: TortureMode) {
        var evidence = Self.signOut(mode)
        evidence.tallies[1].tally.failures[CallFailure.sessionExpired] = 1
        #expect(evidence.violations().map(\.count) == (mode == .harsh ? [] : [\.unexplainedFailures]))
    }

    @Test("A call that fails as if the session had ended is a violation while it is alive") func aliveSession() {
        var evidence = Self.round(.grace)
        evidence.tallies[0].tally.failures = [CallFailure.signInRequired: 1]
        #expect(evidence.violations().contains { $0.count == \.unexpectedSignOuts })
        evidence = Self.round(.grace)
        evidence.tallies[1].tally.state = .signedOut
        #expect(evidence.violations().map(\.count) == [\.unexpectedSignOuts])
    }

    @Test("A round has one refresh, and one more if it is forced and for each fault", arguments: TortureMode.allCases)
    func refreshes(mode: TortureMode) {
        func violations(
            _ count: Int, _ action: WorkerInstruction.Action? = nil, faults: Int = 0
        ) -> [WritableKeyPath<TortureFigures, Int>] {
            let round = Self.round(mode, action, refreshes: count) { history in
                for _ in 0..<faults { history.faultInjected(Self.second, .kill, at: .seconds(1)) }
            }
            return round.violations().map(\.count)
        }
        #expect(violations(0) == [])
        #expect(violations(2) == [\.excessRefreshes])
        #expect(violations(2, .refresh) == [])
        #expect(violations(3, .refresh) == [\.excessRefreshes])
        #expect(violations(3, faults: 2) == [])
        #expect(violations(4, faults: 2) == [\.excessRefreshes])
    }

    @Test("A late refusal of the previous session's token is no refresh of this one") func lateRefusal() {
        func round(grant: Int) -> RoundEvidence {
            var evidence = Self.round(.harsh, refreshes: 0)
            evidence.history.arrived(id: "late", from: Self.second, at: .milliseconds(1))
            evidence.history.handled(id: "late", status: 401, at: .milliseconds(2))
            evidence.history.arrived(id: "first", from: Self.first, at: .milliseconds(3))
            evidence.history.handled(id: "first", status: grant, at: .milliseconds(4))
            return evidence
        }
        #expect(round(grant: 200).violations().isEmpty)
        #expect(round(grant: 401).violations().contains { $0.count == \.excessRefreshes })
    }

    @Test("The refreshes of earlier rounds do not count") func earlierRefreshes() {
        var evidence = Self.round(.calm, refreshes: 3)
        #expect(evidence.violations().map(\.count) == [\.excessRefreshes])
        evidence.history.roundBegan()
        #expect(evidence.violations().isEmpty)
    }

    @Test(
        "After a sign-out a worker in another state is a violation in every mode", arguments: TortureMode.allCases,
        [.rotationLost, .expired("rejected"), .other("unavailable"), .signedIn(session: session)] as [WorkerState])
    func stateAfterSignOut(mode: TortureMode, state: WorkerState) {
        var evidence = Self.signOut(mode)
        evidence.ends[1].report.state = state
        #expect(evidence.violations().map(\.count) == [\.unexpectedSignOuts])
    }

    @Test("A fault that ended the session before the sign-out explains its loss") func lostBeforeSignOut() {
        var evidence = Self.signOut(.harsh, refreshes: 0) { history in
            Self.kill(&history)
            Self.reuse(&history)
        }
        evidence.ends[1].report.state = .rotationLost
        #expect(evidence.violations().isEmpty)
        evidence.ends[1].report.state = .expired("rejected")
        #expect(evidence.violations().map(\.count) == [\.unexpectedSignOuts])
    }

    @Test("A sign-out that leaves the record, and a record of another session, are violations") func record() {
        var evidence = Self.signOut(.calm)
        evidence.stored = "07e4"
        #expect(evidence.violations().map(\.count) == [\.otherViolations])
        #expect(Self.round(.calm, .signOut).violations().map(\.count) == [\.otherViolations])
    }

    @Test("A reuse detection without a recorded fault of its own is a violation") func unexplainedReuse() {
        func violations(
            _ mode: TortureMode, _ change: (inout RefreshHistory) -> Void
        ) -> [WritableKeyPath<TortureFigures, Int>] {
            Self.round(mode, .refresh, refreshes: 0) {
                change(&$0)
                $0.faultInjected(WorkerName(slot: 7, generation: 1), .kill, at: .seconds(1))
            }
            .violations().map(\.count)
        }
        #expect(violations(.harsh) { Self.reuse(&$0) } == [\.unexplainedReuses])
        func killAndReuse(_ history: inout RefreshHistory) {
            Self.kill(&history)
            Self.reuse(&history)
        }
        #expect(violations(.harsh, killAndReuse) == [])
        #expect(violations(.grace, killAndReuse) == [\.unexplainedReuses])
        #expect(violations(.calm, killAndReuse) == [\.unexplainedReuses])
        let twice = violations(.harsh) {
            killAndReuse(&$0)
            $0.arrived(id: "again", from: Self.first, at: .milliseconds(400))
            $0.reuseDetected(id: "again")
            $0.handled(id: "again", status: 401, at: .milliseconds(405))
        }
        #expect(twice == [\.unexplainedReuses])
        #expect(violations(.harsh) { $0.reuseDetected(id: "of another client") } == [\.unexplainedReuses])
    }

    @Test("A lost session needs a fault and a mode that may lose it") func loss() {
        func round(_ mode: TortureMode, faults: (inout RefreshHistory) -> Void = { _ in }) -> RoundEvidence {
            var evidence = Self.round(mode, .refresh, refreshes: 0) { history in
                faults(&history)
                history.arrived(id: "lost", from: Self.second, at: .milliseconds(100))
                history.handled(id: "lost", status: 200, at: .milliseconds(105))
                history.arrived(id: "refused", from: Self.first, at: .milliseconds(300))
                history.handled(id: "refused", status: 401, at: .milliseconds(305))
            }
            evidence.stored = nil
            evidence.ends = Self.ends(.rotationLost, .signedOut)
            return evidence
        }
        #expect(round(.harsh, faults: Self.kill).violations().isEmpty)
        #expect(round(.harsh).violations().map(\.count) == [\.unexpectedSignOuts])
        #expect(round(.grace, faults: Self.kill).violations().map(\.count) == [\.unexpectedSignOuts])
        var other = round(.harsh, faults: Self.kill)
        other.ends[0].report.state = .expired("rejected")
        #expect(other.violations().map(\.count) == [\.unexpectedSignOuts])
    }

    @Test("Only a worker that cannot watch the record may have missed the session, and report the end of another")
    func missedSession() {
        let blind = WorkerName(slot: 2, generation: 1)
        func round(_ worker: WorkerName, hasSeenSession: Bool) -> RoundEvidence {
            var evidence = Self.round(.harsh, .refresh, refreshes: 0) { history in
                Self.kill(&history)
                history.arrived(id: "lost", from: Self.second, at: .milliseconds(100))
                history.handled(id: "lost", status: 200, at: .milliseconds(105))
                history.arrived(id: "refused", from: Self.first, at: .milliseconds(300))
                history.handled(id: "refused", status: 401, at: .milliseconds(305))
            }
            evidence.conditions = ConditionPlan(hardships: ConditionPlan.Hardship.allCases)
            evidence.stored = nil
            let report = EndReport(state: .expired("rejected"), hasSeenSession: hasSeenSession)
            evidence.ends = Self.ends(.rotationLost, .rotationLost) + [(worker, report)]
            return evidence
        }
        #expect(round(blind, hasSeenSession: false).violations().isEmpty)
        #expect(round(blind, hasSeenSession: true).violations().map(\.count) == [\.unexpectedSignOuts])
        let sighted = WorkerName(slot: 3, generation: 1)
        #expect(round(sighted, hasSeenSession: false).violations().map(\.count) == [\.unexpectedSignOuts])
    }

    @Test("After a token was sent too late, only its sender has to report a lost rotation") func sentTooLate() {
        var evidence = Self.round(.harsh) { history in
            history.faultInjected(Self.second, .stop, at: .milliseconds(50))
            history.resumed(Self.second, at: .milliseconds(300))
            history.arrived(id: "late", from: Self.second, at: .milliseconds(310))
            history.reuseDetected(id: "late")
            history.handled(id: "late", status: 401, at: .milliseconds(315))
        }
        evidence.stored = nil
        evidence.ends = Self.ends(.expired("rejected"), .rotationLost)
        #expect(evidence.violations().isEmpty)
        evidence.ends[0].report.state = .other("unavailable")
        #expect(evidence.violations().map(\.count) == [\.unexpectedSignOuts])
    }
}
