@testable import Martlet

// MARK: - The server

extension SearchStep {
    mutating func serverResponded(_ outcome: SearchEvent.ServerOutcome, toRefresh index: Int) {
        let job = after.refreshes[index].job
        let token = job.record.bundle
        var result: SessionStateMachine.RefreshOutcome
        switch outcome {
        case .responds:
            if let bundle = after.rotate(token) {
                after[token].isKnownSpent = true
                // The lost request may still reach the server later.
                if before[token].mayHaveBeenSentBefore, after.machine.policy.rotationGrace == .zero {
                    after[bundle].isInDoubt = true
                }
                result = .success(bundle)
            } else {
                after[job.record.id].isAlive = false
                result = .terminal(.refreshTokenRejected(code: nil))
            }
        case .isOffline: result = .transient(RefreshError(.offline, description: ""))
        case .isCutOffBefore:
            after[token].isInDoubt = true
            after[token].mayHaveBeenSentBefore = true
            result = .transient(RefreshError(.connection, description: ""))
        case .isCutOffAfter:
            after[token].isInDoubt = true
            after[token].mayHaveBeenSentBefore = true
            let bundle = after.rotate(token)
            if after.late == nil, let bundle { after.late = World.LateResponse(job: job, bundle: bundle) }
            result = .transient(RefreshError(.connection, description: ""))
        case .endsSession:
            after[job.record.id].isAlive = false
            result = .terminal(.refreshTokenRejected(code: nil))
        }
        let next = transition { machine in machine.refreshFinished(job, result, at: .zero, jitter: 1) }
        after.refreshes[index].stage = .finishing(next)
        after.storeTasks.append(.flush(job.id))
        continueFinishedRefreshes()
    }

    /// Continues each refresh that only waited for its outcome to be stored, when that is done.
    mutating func continueFinishedRefreshes() {
        while case .flush(let id) = after.storeTasks.first {
            after.storeTasks.removeFirst()
            guard let index = after.refreshes.firstIndex(where: { $0.job.id == id }) else { continue }
            if case .finishing(let next?) = after.refreshes[index].stage {
                after.refreshes[index] = World.Refresh(job: next, stage: .waitsForLock)
            } else {
                after.refreshes.remove(at: index)
            }
        }
    }
}

extension SessionStateMachine.RefreshOutcome {
    static func success(_ bundle: TokenBundle) -> Self {
        .success(bundle, Time.tokenLifetime, estimatedExpiry: Time.estimatedExpiry(Time.lifetime))
    }
}
