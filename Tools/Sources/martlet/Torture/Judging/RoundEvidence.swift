/// What is known about a round after its workers have reported. ``violations()`` lists the rules that it breaks.
struct RoundEvidence: Sendable {
    var mode: TortureMode
    /// The session under test.
    var session: String
    /// What one worker did besides its calls.
    var action: WorkerInstruction.Action?
    /// The session in the record after the round; `nil` if there is none.
    var stored: String?
    /// The reports of the workers that made calls.
    var tallies: [(worker: WorkerName, tally: CallTally)] = []
    /// If the session has ended, the state of each living worker after it noticed the end.
    var finalStates: [(worker: WorkerName, state: WorkerState)] = []
    /// The session's history, with this round.
    var history: RefreshHistory
    /// The faults of the round before.
    var earlierFaults: [RefreshHistory.Fault] = []
    /// The lease of the lock.
    var lease = Duration.seconds(1)

    /// A rule that the round breaks.
    struct Violation {
        let count: WritableKeyPath<TortureFigures, Int>
        let text: String

        fileprivate init(_ count: WritableKeyPath<TortureFigures, Int>, _ text: String) {
            self.count = count
            self.text = text
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

    private var states: Set<WorkerState> { Set(finalStates.map(\.state)) }
    private var short: String { "\(session.prefix(8))" }
    private var faults: [RefreshHistory.Fault] { earlierFaults + history.faultsOfRound }

    func violations() -> [Violation] {
        wrongRecord() + endsOfLivingSession() + unexplainedLoss() + wrongStatesAfterSignOut() + unexplainedFailures()
            + excessRefreshes() + unexplainedReuses()
    }

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
        let list = states.map(\.description).sorted().joined(separator: ", ")
        var why = history.explanation()?.summary ?? "no fault explains it"
        if history.explanation() == nil, let delay = history.delay, delay > lease / 2 {
            why += ", but a worker did not store its tokens within \(delay.readable): if the machine is busy,"
            why += " use a longer --lease"
        }
        return [Violation(\.unexpectedSignOuts, "session \(short) ended: \(list); \(why); \(history.summary)")]
    }

    /// After a sign-out every worker is signed out, unless a fault had ended the session before.
    private func wrongStatesAfterSignOut() -> [Violation] {
        guard isSignOut, hasEnded else { return [] }
        let loss = mode.mayLoseSessions ? history.explanation() : nil
        return finalStates.compactMap { worker, state in
            if state == .signedOut || loss.map(state.mayFollow) == true { return nil }
            return Violation(
                \.unexpectedSignOuts, "\(worker) is not signed out after a sign-out, but \(state); \(history.summary)")
        }
    }

    private func unexplainedFailures() -> [Violation] {
        tallies.compactMap { worker, tally in
            let wrong = tally.failures.filter { !mayFail(with: $0.key, worker) }
            if wrong.isEmpty { return nil }
            let advice =
                wrong.keys.contains(CallFailure.refreshTimedOut) ? "; if the machine is busy, use a longer --lease" : ""
            return Violation(
                \.unexplainedFailures,
                "calls of \(worker) failed: \(wrong), \(tally.storeFailures)\(advice); \(history.summary)")
        }
    }

    private func mayFail(with failure: String, _ worker: WorkerName) -> Bool {
        let wasStopped = faults.contains { $0.worker == worker && $0.kind == .stop }
        switch failure {
        case CallFailure.signInRequired, CallFailure.sessionChanged:
            return hasEnded
        case CallFailure.sessionExpired:
            return hasEnded && mode.mayLoseSessions
        case CallFailure.refreshTimedOut:
            // The limit of a refresh is shorter than a stop.
            return wasStopped
        case CallFailure.rejected:
            // After a failed refresh calls are sent with the old token. After a loss, adopted tokens are refused too,
            // and so are those of a replay if they were granted before the access tokens of this round expired.
            return wasStopped || (mode.mayLoseSessions && history.wasReused)
                || (mode.grace > .zero && history.roundBeganUnwritten)
        default:
            return false
        }
    }

    /// A round needs one refresh, and a forced refresh and each fault may cause another one. If a process is stopped during
    /// its refresh and another one takes over, both the old token and the one that is stored late are tried.
    private func excessRefreshes() -> [Violation] {
        let storedLate = history.wasReused ? faults.count { $0.kind == .stop && $0.isDuringRefresh } : 0
        let needed = 1 + (action == .refresh ? 1 : 0) + faults.count + storedLate
        // A refusal before the session's first grant is a late one of the previous session's token.
        let late = history.refreshes.prefix { $0.status == 401 }.count
        let isLate = late < history.refreshes.count && history.refreshesOfRound.startIndex == 0
        let count = history.refreshesOfRound.count - (isLate ? late : 0)
        if count <= needed { return [] }
        return [
            Violation(\.excessRefreshes, "\(count) refreshes, and at most \(needed) were needed; \(history.summary)")
        ]
    }

    /// A used token may reach the server only in a mode that may lose sessions, and only by a fault of its own.
    func unexplainedReuses() -> [Violation] {
        history.reusesOfRound().compactMap { refresh, explanation in
            if mode.mayLoseSessions, explanation != nil { return nil }
            let sender = refresh.map { "\($0.worker) at \($0.arrivedAt.readable)" } ?? "an unknown worker"
            return Violation(
                \.unexplainedReuses, "the server received a used refresh token from \(sender); \(history.summary)")
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
