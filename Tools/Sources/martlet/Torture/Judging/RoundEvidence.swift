/// The facts about a round that are known after its workers have reported. ``violations()`` lists the rules that it
/// breaks.
struct RoundEvidence: Sendable {
    var mode: TortureMode
    /// The session under test.
    var session: String
    /// The action of one worker besides its calls.
    var action: WorkerInstruction.Action?
    /// The session in the record after the round; `nil` if there is none.
    var stored: String?
    /// The reports of the workers that made calls.
    var tallies: [(worker: WorkerName, tally: CallTally)] = []
    /// If the session has ended, the report of each living worker after it noticed the end.
    var ends: [(worker: WorkerName, report: EndReport)] = []
    /// The session's history, with this round.
    var history: RefreshHistory
    /// The faults of the previous round.
    var earlierFaults: [RefreshHistory.Fault] = []
    var lease = Duration.seconds(1)
    var conditions = ConditionPlan()
    /// The server's names for the session under test, as far as known from earlier rounds, and for the sessions that
    /// ended before it.
    var currentNames: Set<String> = []
    var formerNames: Set<String> = []
    /// The greatest lateness of the process with the server.
    var parentLateness = Duration.zero
    /// The longest time that the disk took to keep a small file.
    var diskLateness = Duration.zero

    /// A rule that the round breaks.
    struct Violation {
        let count: WritableKeyPath<TortureFigures, Int>
        let text: String
        /// The lateness of the machine that explains it; `nil` if none does.
        let explainedBy: Duration?

        fileprivate init(
            _ count: WritableKeyPath<TortureFigures, Int>, _ text: String, explainedBy lateness: Duration? = nil
        ) {
            self.count = count
            self.text = text
            explainedBy = lateness
        }
    }

    /// Whether and why the session was lost without a sign-out.
    enum Loss: Sendable, Hashable {
        case none
        case explained(RefreshHistory.Explanation)
        case unexplained
    }

    var isSignOut: Bool { action == .signOut }
    var hasEnded: Bool { stored != session }

    var loss: Loss {
        guard hasEnded, !isSignOut else { return .none }
        guard mode.mayLoseSessions, let explanation = history.explanation(),
            states.allSatisfy({ $0.mayFollow(explanation) })
        else { return .unexplained }
        return .explained(explanation)
    }

    /// The workers' states. A worker that cannot watch the record may have missed the session, and still have the state
    /// of the previous one.
    private var states: Set<WorkerState> {
        Set(
            ends.filter { worker, report in
                report.hasSeenSession || conditions.conditions(of: worker).watchLimit == nil
            }.map(\.report.state))
    }
    private var short: String { "\(session.prefix(8))" }
    private var faults: [RefreshHistory.Fault] { earlierFaults + history.faultsOfRound }

    /// The greatest lateness of the machine in this round. The lateness of a stopped worker says nothing about the
    /// machine.
    var lateness: Duration {
        let suspects = Set(faults.map(\.worker))
        let late = tallies.map { ($0.worker, $0.tally.lateness) } + ends.map { ($0.worker, $0.report.lateness) }
        return late.filter { !suspects.contains($0.0) }.map(\.1).reduce(max(parentLateness, diskLateness), max)
    }

    func violations() -> [Violation] {
        broken().filter { violation in violation.explainedBy.map { lateness < $0 } ?? true }
    }

    /// The rules that the round breaks because the machine was too busy for the test.
    func inconclusive() -> [String] {
        broken().filter { violation in violation.explainedBy.map { lateness >= $0 } ?? false }
            .map { "inconclusive because the machine was \(lateness.readable) late: \($0.text)" }
    }

    private func broken() -> [Violation] {
        wrongRecord() + endsOfLivingSession() + unexplainedLoss() + wrongStatesAfterSignOut() + unexplainedFailures()
            + excessRefreshes() + unexplainedReuses() + foreignContent() + lateNotices() + silentWatchFailures()
    }

    /// The lateness after which another process may take over the lock.
    private var lateForLock: Duration { lease / 2 }
    /// The lateness after which the server may refuse a token that is sent again.
    private var lateForServer: Duration { max(lease, mode.grace) / 2 }

    private func wrongRecord() -> [Violation] {
        if let stored, stored != session {
            return [Violation(\.otherViolations, "the record holds session \(stored.prefix(8)) instead of \(short)")]
        }
        guard isSignOut, !hasEnded else { return [] }
        return [Violation(\.otherViolations, "a worker signed out, but the record of \(short) still exists")]
    }

    /// While the session is alive, no worker may treat it as ended.
    private func endsOfLivingSession() -> [Violation] {
        guard !hasEnded else { return [] }
        return tallies.compactMap { worker, tally in
            let ends = tally.failures.filter { CallFailure.ends.contains($0.key) }
            if ends.isEmpty, tally.state == .signedIn(session: session) { return nil }
            return Violation(
                \.unexpectedSignOuts,
                "\(worker) treats session \(short) as ended (\(tally.state), calls: \(ends)), but it is alive")
        }
    }

    /// A session may be lost only in a mode that allows it, and only by a fault.
    private func unexplainedLoss() -> [Violation] {
        guard loss == .unexplained else { return [] }
        let list = ends.map { "\($0) \($1.state)" }.sorted().joined(separator: ", ")
        let why = history.explanation()?.summary ?? "no fault explains it"
        return [
            Violation(
                \.unexpectedSignOuts, "session \(short) ended: \(list); \(why); \(history.summary)",
                explainedBy: lateForServer)
        ]
    }

    /// After a sign-out every worker is signed out, unless a fault had ended the session before.
    private func wrongStatesAfterSignOut() -> [Violation] {
        guard isSignOut, hasEnded else { return [] }
        let loss = mode.mayLoseSessions ? history.explanation() : nil
        return ends.compactMap { worker, report in
            let state = report.state
            if state == .signedOut || loss.map(state.mayFollow) == true { return nil }
            return Violation(
                \.unexpectedSignOuts, "\(worker) is not signed out after a sign-out, but \(state); \(history.summary)")
        }
    }

    private func unexplainedFailures() -> [Violation] {
        tallies.compactMap { worker, tally in
            let wrong = tally.failures.filter { excuse(for: $0.key, of: worker) == nil }
            if wrong.isEmpty { return nil }
            // After a failed refresh calls are sent with the old token.
            let isLate =
                wrong[CallFailure.refreshTimedOut] != nil
                && wrong.keys.allSatisfy { [CallFailure.refreshTimedOut, CallFailure.rejected].contains($0) }
            // The shortest time limit of a store is that of the keyring, 5 s.
            let isOfDisk = Set(wrong.keys) == [CallFailure.storeUnavailable] && diskLateness >= .milliseconds(2500)
            return Violation(
                \.unexplainedFailures,
                "calls of \(worker) failed: \(wrong), \(tally.storeFailures); \(history.summary)",
                explainedBy: isLate ? lateForLock : isOfDisk ? diskLateness : nil)
        }
    }

    /// The reason why a call may fail in this way; `nil` if it may not.
    func excuse(for failure: String, of worker: WorkerName) -> String? {
        switch failure {
        case CallFailure.signInRequired, CallFailure.sessionChanged:
            return hasEnded ? "the session has ended" : nil
        case CallFailure.sessionExpired:
            return hasEnded && mode.mayLoseSessions ? "the session was lost" : nil
        case CallFailure.refreshTimedOut:
            // The limit of a refresh is shorter than a stop.
            return wasStopped(worker) ? "the process was stopped" : nil
        case CallFailure.rejected:
            return excuseForRejection(of: worker)
        default:
            return nil
        }
    }

    private func excuseForRejection(of worker: WorkerName) -> String? {
        // After a failed refresh, calls are sent with the old token. After a loss, adopted tokens are refused too. So
        // are replayed tokens that were granted before the access tokens of this round expired.
        if wasStopped(worker) { return "the process was stopped" }
        if mode.mayLoseSessions, history.wasReused { return "the server had revoked the session" }
        if mode.grace > .zero, history.wasGrantedStaleTokens { return "the server repeated an earlier grant" }
        // The worker did not know the newest tokens yet, and these had expired too. The call fails with the second
        // rejection.
        let missed = tallies.first { $0.worker == worker }?.tally.missedRotation
        if let missed, missed <= history.expiredRotation { return "the process had missed a rotation" }
        return nil
    }

    private func wasStopped(_ worker: WorkerName) -> Bool {
        faults.contains { $0.worker == worker && $0.kind == .stop }
    }

    /// A round needs one refresh. A forced refresh and each fault may cause another one. If a process is stopped during
    /// its refresh and another one takes over, both the old token and the token that is stored late are tried.
    /// Refreshes because of wrong clocks do not count.
    private func excessRefreshes() -> [Violation] {
        let storedLate = history.wasReused ? faults.count { $0.kind == .stop && $0.isDuringRefresh } : 0
        let needed = 1 + (action == .refresh ? 1 : 0) + faults.count + storedLate
        // A refusal before the session's first grant is a late refusal of the previous session's token.
        let late = history.refreshes.prefix { $0.status == 401 }.count
        let isLate = late < history.refreshes.count && history.refreshesOfRound.startIndex == 0
        let count = history.refreshesOfRound.count - (isLate ? late : 0) - refreshesOfWrongClocks
        if count <= needed { return [] }
        return [
            Violation(
                \.excessRefreshes, "\(count) refreshes, and at most \(needed) were needed; \(history.summary)",
                explainedBy: lateForLock)
        ]
    }

    /// The refreshes of this round that replaced new tokens because of a wrong clock: another process had stored them
    /// with an expiry that has passed by the refreshing process's clock. Each grant explains at most one such refresh.
    private var refreshesOfWrongClocks: Int {
        func clock(_ worker: WorkerName) -> Duration { conditions.conditions(of: worker).clockOffset }
        var unmatched = history.signIn.map { [$0] } ?? []
        var count = 0
        for (index, refresh) in history.refreshes.enumerated() {
            let earlier = unmatched.firstIndex { clock(refresh.worker) - clock($0) > Self.tokenLifetime }
            if let earlier {
                unmatched.remove(at: earlier)
                if index >= history.refreshesOfRound.startIndex { count += 1 }
            }
            if refresh.status != 401 { unmatched.append(refresh.worker) }
        }
        return count
    }

    private static let tokenLifetime = Duration.seconds(15 * 60)

    /// A used token may reach the server only in a mode that may lose sessions, and each time only because of a
    /// separate fault.
    func unexplainedReuses() -> [Violation] {
        history.reusesOfRound().compactMap { refresh, explanation in
            if mode.mayLoseSessions, explanation != nil { return nil }
            let sender = refresh.map { "\($0.worker) at \($0.arrivedAt.readable)" } ?? "an unknown worker"
            return Violation(
                \.unexplainedReuses, "the server received a used refresh token from \(sender); \(history.summary)",
                explainedBy: lateForServer)
        }
    }

    /// The sessions that responses and files of this round name.
    var namesOfRound: Set<String> { Set(contents.flatMap { $0.content.sessions.keys }) }

    private var contents: [(worker: WorkerName, content: ContentTally)] {
        tallies.map { ($0.worker, $0.tally.content) } + ends.map { ($0.worker, $0.report.content) }
    }

    /// All content and all cookies belong to the session under test, and no call gets content after the session's end.
    private func foreignContent() -> [Violation] {
        let names = namesOfRound.union(currentNames)
        let isMixed = names.count > 1 || !names.isDisjoint(with: formerNames)
        return contents.compactMap { worker, content in
            let isForeign = isMixed && content.sessions.keys.contains { !currentNames.contains($0) }
            var faults: [String] = []
            if isForeign { faults.append("content of \(content.sessions.keys.sorted()), not \(currentNames.sorted())") }
            if content.foreignCookies > 0 { faults.append("\(content.foreignCookies) calls with a foreign cookie") }
            if content.handedAfterEnd > 0 { faults.append("content for \(content.handedAfterEnd) calls after the end") }
            if faults.isEmpty { return nil }
            return Violation(\.foreignContents, "\(worker) got \(faults.joined(separator: ", "))")
        }
    }

    /// A worker notices the end of a session at once. A worker that cannot watch the record checks it every five
    /// seconds.
    private func lateNotices() -> [Violation] {
        ends.compactMap { worker, report in
            // Other programs may have taken the rest of the machine's watches.
            let isBlind = conditions.conditions(of: worker).watchLimit != nil || report.watchFailures > 0
            let limit: Duration = isBlind ? .seconds(9) : .seconds(4)
            guard report.wait > limit else { return nil }
            return Violation(
                \.lateNotices,
                "\(worker) noticed the end of \(short) only after \(report.wait.readable), and is \(report.state)",
                explainedBy: limit / 2)
        }
    }

    /// A worker that cannot watch the record must report that.
    private func silentWatchFailures() -> [Violation] {
        tallies.compactMap { worker, tally in
            guard conditions.conditions(of: worker).watchLimit != nil, tally.watchFailures == 0 else { return nil }
            return Violation(\.otherViolations, "\(worker) cannot watch the record, and no event said so")
        }
    }
}

extension WorkerState {
    /// Whether a worker may be in this state after a loss.
    fileprivate func mayFollow(_ explanation: RefreshHistory.Explanation) -> Bool {
        switch (self, explanation) {
        case (.signedOut, _), (.rotationLost, _): true
        // Only the process that was stopped knows that it has sent a used token.
        case (.expired, .faultBeforeSending): true
        default: false
        }
    }
}

extension RefreshHistory.Fault {
    fileprivate var summary: String {
        "\(kind) \(worker) at \(at.readable)" + (until.map { " until \($0.readable)" } ?? "")
    }
}

extension RefreshHistory.Explanation {
    fileprivate var summary: String {
        switch self {
        case .faultBeforeWrite(let fault): "lost by \(fault.summary), before the write"
        case .faultBeforeSending(let fault): "lost by \(fault.summary), before the request was sent"
        }
    }
}

extension RefreshHistory {
    /// The most recent refreshes and faults, for a violation's text.
    fileprivate var summary: String {
        let refreshes = refreshes.suffix(8).map { refresh in
            "\(refresh.worker) at \(refresh.arrivedAt.readable): \(refresh.status.map(String.init) ?? "no response")"
        }
        let faults = faults.suffix(12).map(\.summary)
        return "stored rotation \(storedRotation); refreshes: \(refreshes.joined(separator: ", "));"
            + " faults: \(faults.joined(separator: ", "))"
    }
}
