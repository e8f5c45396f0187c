internal import Martlet
internal import ReferenceBackend

extension SharedRecordTest {
    /// Collects the evidence about a round after its workers have reported, and judges it.
    mutating func judge(
        _ round: Int, _ outcomes: [(name: WorkerName, outcome: WorkerPool.Outcome)],
        _ action: WorkerInstruction.Action?
    ) async {
        let stored = await watch.readNow()?.rawValue
        report(hung: outcomes.hung, in: round)
        var evidence = RoundEvidence(
            mode: mode, session: session, action: action, stored: stored, history: injector.history,
            earlierFaults: earlierFaults, lease: mode.lease(settings.lease))
        evidence.conditions = conditions
        evidence.formerNames = names.former
        evidence.currentNames = names.current
        for (name, outcome) in outcomes {
            guard case .report(.called(let tally)) = outcome else { continue }
            if tally.session == session { injector.stored(rotation: tally.rotation) }
            evidence.tallies.append((name, tally))
        }
        judgeRecord(round)
        if evidence.hasEnded { evidence.ends = await awaitEnd(round, isSignOut: evidence.isSignOut) }
        (evidence.parentLateness, evidence.diskLateness) = (meter.take(), disk.take())
        evidence.history = injector.endRound()
        earlierFaults = Array(evidence.history.faultsOfRound)
        for broken in evidence.violations() { violation(broken.count, broken.text, in: round) }
        for text in evidence.inconclusive() { progress.inconclusive(text, in: round, over: store) }
        progress.add { $0.add(evidence) }
        names.current.formUnion(evidence.namesOfRound)
        if evidence.hasEnded { endSession() }
    }

    /// Waits until all workers have noticed that the session has ended. A worker that cannot watch the record usually
    /// makes a call, because it would otherwise notice the end seconds later.
    private mutating func awaitEnd(
        _ round: Int, isSignOut: Bool
    ) async -> [(worker: WorkerName, report: EndReport)] {
        let ends = await pool.ask(pool.workers.filter(\.isAlive)) { worker in
            let isBlind = conditions.conditions(of: worker.name).watchLimit != nil
            return .awaitEnd(
                session: session, makesCall: isBlind && !(round + 1).isMultiple(of: 16), isSignOut: isSignOut)
        }
        report(hung: ends.hung, in: round)
        return ends.compactMap { name, outcome in
            if case .report(.ended(let report)) = outcome { (name, report) } else { nil }
        }
    }

    /// Judges the reuse detections since the last round, before their history is forgotten.
    mutating func judgeLateReuses(_ round: Int?) {
        let evidence = RoundEvidence(mode: mode, session: session, history: injector.endRound())
        for broken in evidence.unexplainedReuses() { violation(broken.count, broken.text, in: round) }
        progress.add { $0.addReuses(evidence) }
    }

    mutating func violation(_ count: WritableKeyPath<TortureFigures, Int>, _ text: String, in round: Int?) {
        violations += 1
        progress.violation(count, text, in: round, over: store)
    }

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
}

extension [(name: WorkerName, outcome: WorkerPool.Outcome)] {
    /// The workers that did not report in time.
    fileprivate var hung: [WorkerName] {
        filter { if case .hung = $0.outcome { true } else { false } }.map(\.name)
    }
}

extension TortureFigures {
    fileprivate mutating func add(_ evidence: RoundEvidence) {
        for (worker, tally) in evidence.tallies {
            add(tally)
            for (failure, count) in tally.failures {
                let excuse = evidence.excuse(for: failure, of: worker).map { ": \($0)" } ?? ""
                reasons["call: \(failure)\(excuse)", default: 0] += count
            }
        }
        addReuses(evidence)
        latest = max(latest, evidence.lateness)
        guard evidence.hasEnded else { return }
        if evidence.isSignOut { signOuts += 1 }
        guard case .explained(let explanation) = evidence.loss else { return }
        rotationsLost += 1
        if case .faultBeforeSending = explanation { lateSends += 1 }
    }

    fileprivate mutating func addReuses(_ evidence: RoundEvidence) {
        let reuses = evidence.history.reusesOfRound()
        reuseDetections += reuses.count
        explainedReuses += reuses.count { $0.explanation != nil }
    }

    private mutating func add(_ tally: CallTally) {
        cachedCalls += tally.content.cached
        joinedCalls += tally.content.joined
        callsWithCookie += tally.content.withCookie
        brokenDownloads += tally.content.broken
        resumedDownloads += tally.content.resumed
        calls += tally.successes + tally.failures.values.reduce(0, +)
        failedCalls += tally.failures.values.reduce(0, +)
        adoptions += tally.adoptions
        replays += tally.replays
        for (reason, count) in tally.storeFailures { reasons["store: \(reason)", default: 0] += count }
    }
}
