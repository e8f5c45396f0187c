internal import Martlet
internal import ReferenceBackend

extension SharedRecordTest {
    /// Checks the record and the reports of the workers after a round.
    mutating func judge(
        _ round: Int, _ outcomes: [(name: WorkerName, outcome: WorkerPool.Outcome)], isSignOut: Bool
    ) async {
        let stored = await watch.readNow()?.rawValue
        report(hung: outcomes.filter { if case .hung = $0.outcome { true } else { false } }.map(\.name), in: round)
        let tallies = outcomes.compactMap { name, outcome -> (WorkerName, CallTally)? in
            guard case .report(.called(let tally)) = outcome else { return nil }
            if tally.session == session { injector.stored(rotation: tally.rotation) }
            return (name, tally)
        }
        progress.add { figures in
            for (_, tally) in tallies { figures.add(tally) }
        }
        judgeRecord(round)
        if stored == session {
            judgeCalls(round, tallies, isSignOut: isSignOut)
            if isSignOut {
                violation(\.otherViolations, "a worker signed out, but the record of \(short) still exists", in: round)
            }
        } else {
            if let stored {
                violation(
                    \.otherViolations, "the record holds session \(stored.prefix(8)) instead of \(short)", in: round)
            }
            await judgeEnd(round, isRequested: isSignOut)
        }
        let detected = backend.controls.counters.reuseDetected
        let new = detected - reuseDetections
        reuseDetections = detected
        if mode.mayLoseSessions {
            progress.add { $0.reuseDetections += new }
        } else {
            for _ in 0..<new {
                violation(\.reuseDetections, "the server received a used refresh token", in: round)
            }
        }
    }

    mutating func violation(_ count: WritableKeyPath<TortureFigures, Int>, _ text: String, in round: Int?) {
        violations += 1
        progress.violation(count, text, in: round)
    }

    private var short: String { "\(session.prefix(8))" }

    mutating func report(hung: [WorkerName], in round: Int) {
        for name in hung {
            violation(\.deadlocks, "worker \(name) hung: no report within \(settings.timeout)", in: round)
        }
    }

    private mutating func judgeRecord(_ round: Int) {
        let findings = watch.takeFindings()
        progress.add { $0.reads += findings.reads }
        for text in findings.torn { violation(\.tornRecords, text, in: round) }
        for text in findings.regressions { violation(\.regressions, text, in: round) }
    }

    /// Checks that every worker is still signed in, because the session has not ended.
    private mutating func judgeCalls(_ round: Int, _ tallies: [(WorkerName, CallTally)], isSignOut: Bool) {
        for (name, tally) in tallies {
            let ends = tally.failures.filter { CallFailure.all.contains($0.key) }
            if !ends.isEmpty || tally.state != .signedIn(session: session) {
                violation(
                    \.unexpectedSignOuts,
                    "\(name) treats session \(short) as ended (\(tally.state), calls: \(ends)), but it is alive",
                    in: round)
            } else if !tally.failures.isEmpty, !mode.injectsFaults {
                violation(
                    \.otherViolations, "calls of \(name) failed: \(tally.failures), \(tally.storeFailures)", in: round)
            }
        }
    }

    /// Checks that every worker has noticed the end of the session, and that a sign-out or a fault explains it.
    private mutating func judgeEnd(_ round: Int, isRequested: Bool) async {
        let outcomes = await pool.ask(pool.workers.filter(\.isAlive)) { _ in .awaitEnd(session: session) }
        report(hung: outcomes.filter { if case .hung = $0.outcome { true } else { false } }.map(\.name), in: round)
        let states = Set(
            outcomes.compactMap { _, outcome -> WorkerState? in
                if case .report(.ended(let state)) = outcome { state } else { nil }
            })
        let ended = session
        session = ""
        if isRequested { return progress.add { $0.signOuts += 1 } }
        let summary = "session \(ended.prefix(8)) ended: \(states.map(\.description).sorted().joined(separator: ", "))"
        guard mode.mayLoseSessions else { return violation(\.unexpectedSignOuts, summary, in: round) }
        let history = injector.history
        // The worker that was refused may have been killed before it reported `rotationLost`.
        let isConsistent = states.subtracting([.rotationLost, .signedOut]).isEmpty
        switch history.explanation() {
        case .faultBeforeWrite where isConsistent: progress.add { $0.rotationsLost += 1 }
        case .faultBeforeSending where isConsistent:
            progress.add {
                $0.rotationsLost += 1
                $0.lateSends += 1
            }
        case let explanation:
            var why = explanation?.summary ?? "no fault explains it"
            if explanation == nil, let delay = history.delay, delay > settings.lease / 2 {
                why += ", but a worker did not store its tokens within \(delay.readable): if the machine is busy,"
                why += " use a longer --lease"
            }
            violation(\.unexpectedSignOuts, "\(summary); \(why); \(history.summary)", in: round)
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

extension TortureFigures {
    fileprivate mutating func add(_ tally: CallTally) {
        calls += tally.successes + tally.failures.values.reduce(0, +)
        failedCalls += tally.failures.values.reduce(0, +)
        adoptions += tally.adoptions
        replays += tally.replays
        for (reason, count) in tally.failures { reasons["call: \(reason)", default: 0] += count }
        for (reason, count) in tally.storeFailures { reasons["store: \(reason)", default: 0] += count }
    }
}
