import Foundation

@testable import Martlet

/// A clock with few instants: everything that takes time takes whole ticks.
enum Time {
    static let tick = Duration.seconds(100)
    /// A token is due for renewal after one tick and expires after two.
    static let lifetime = tick * 2
    static let tokenLifetime = TokenLifetime(
        of: TokenBundle(accessToken: "", lifetime: lifetime), wallClock: Date(timeIntervalSince1970: 0)
    )

    static func deadlines(remaining left: Duration, policy: SessionPolicy) -> TokenDeadlines {
        TokenDeadlines(
            obtainedAt: left - lifetime, remaining: lifetime, lifetime: lifetime, policy: policy, jitter: 1)
    }

    static func estimatedExpiry(_ left: Duration) -> Date {
        Date(timeIntervalSince1970: Double(left.components.seconds))
    }

    /// The remaining lifetime of a stored record's token.
    static func left(of record: StoredSession) -> Duration {
        .seconds(record.estimatedExpiry?.timeIntervalSince1970 ?? 0)
    }
}

extension World {
    /// Advances time by one tick. Future instants move closer, and past ones stay at zero.
    mutating func tick() {
        let policy = machine.policy
        if case .signedIn(var session) = machine.state {
            session.record = session.record.ticked
            session.deadlines = session.deadlines?.ticked(policy)
            session.phase = session.phase.ticked(policy)
            session.backoff?.until -= Time.tick
            if let until = session.backoff?.until, until < .zero { session.backoff?.until = .zero }
            session.wastefulRefreshes = session.wastefulRefreshes.map { $0 - Time.tick }
                .filter { $0 + policy.refreshWindow > .zero }
            machine.state = .signedIn(session)
        }
        machine.deletion = machine.deletion?.ticked
        storeTasks = storeTasks.map { $0.ticked(policy) }
        refreshes = refreshes.map { refresh in
            var refresh = refresh
            refresh.job = refresh.job.ticked
            if case .finishing(let next?) = refresh.stage { refresh.stage = .finishing(next.ticked) }
            return refresh
        }
        if let job = late?.job { late?.job = job.ticked }
        stored = stored?.ticked
        for index in sessions.indices {
            for serial in sessions[index].tokens.indices
            where sessions[index].tokens[serial].fate == .replaceable {
                sessions[index].tokens[serial].fate = .spent
            }
        }
    }
}

extension StoredSession {
    fileprivate var ticked: StoredSession {
        var record = self
        record.estimatedExpiry = Time.estimatedExpiry(max(Time.left(of: self) - Time.tick, .zero))
        return record
    }
}

extension TokenDeadlines {
    fileprivate func ticked(_ policy: SessionPolicy) -> TokenDeadlines {
        Time.deadlines(remaining: max(expiresAt - Time.tick, .zero), policy: policy)
    }
}

extension SessionStateMachine.RefreshJob {
    fileprivate var ticked: Self {
        Self(
            id: id, record: record.ticked, hasBeenStored: hasBeenStored, replaceable: replaceable,
            firstSentAt: firstSentAt.map { max($0 - Time.tick, .zero - Time.tick) }, replays: replays)
    }
}

extension SessionStateMachine.SaveJob {
    fileprivate func ticked(_ policy: SessionPolicy) -> Self {
        Self(
            id: id, record: record.ticked, deadlines: deadlines?.ticked(policy), hasBeenStored: hasBeenStored,
            replaceable: replaceable)
    }
}

extension SessionStateMachine.Deletion {
    fileprivate var ticked: Self {
        guard case .rejectedOrOlder(let record) = scope else { return self }
        return Self(
            id: id, scope: .rejectedOrOlder(record.ticked), sparesUnreadable: sparesUnreadable, failures: failures)
    }
}

extension SessionStateMachine.Phase {
    fileprivate func ticked(_ policy: SessionPolicy) -> Self {
        switch self {
        case .settled: .settled
        case .preparing(let job): .preparing(job.ticked)
        case .sending(let job, let isInDoubt): .sending(job.ticked, isInDoubt: isInDoubt)
        case .saving(let job): .saving(job.ticked(policy))
        case .confirmingExpiry(let job, let reason): .confirmingExpiry(job.ticked, reason)
        }
    }
}

extension World.StoreTask {
    fileprivate func ticked(_ policy: SessionPolicy) -> Self {
        switch self {
        case .load, .snapshot, .writeJournal, .flush: self
        case .delete(let deletion): .delete(deletion.ticked)
        case .save(let job): .save(job.ticked(policy))
        case .confirmExpiry(let job): .confirmExpiry(job.ticked)
        case .clearJournal(let record): .clearJournal(record.ticked)
        }
    }
}
