import Foundation

@testable import Martlet

/// A clock of few instants: everything that takes time takes whole ticks.
enum Time {
    static let tick = Duration.seconds(100)
    /// A token is to be renewed after one tick and dead after two.
    static let lifetime = tick * 2
    static let known = TokenLifetime(
        of: TokenBundle(accessToken: "", lifetime: lifetime), serverDate: nil, wallClock: Date(timeIntervalSince1970: 0)
    )

    static func life(lasting left: Duration, policy: SessionPolicy) -> TokenLife {
        TokenLife(
            obtainedAt: left - lifetime, lasting: lifetime, lifetime: lifetime, policy: policy, jitter: 1)
    }

    static func freshUntil(_ left: Duration) -> Date {
        Date(timeIntervalSince1970: Double(left.components.seconds))
    }

    /// How long the token of a stored record is still good.
    static func left(of record: StoredSession) -> Duration {
        .seconds(record.freshUntil?.timeIntervalSince1970 ?? 0)
    }
}

extension World {
    /// Lets one tick pass: what lies ahead comes nearer, and what is past stays past.
    mutating func tick() {
        let policy = machine.policy
        if case .signedIn(var session) = machine.state {
            session.record = session.record.ticked
            session.life = session.life?.ticked(policy)
            session.phase = session.phase.ticked(policy)
            session.coolDown?.until -= Time.tick
            if let until = session.coolDown?.until, until < .zero { session.coolDown?.until = .zero }
            session.recentRefreshes = session.recentRefreshes.map { $0 - Time.tick }
                .filter { $0 + policy.refreshWindow > .zero }
            machine.state = .signedIn(session)
        }
        machine.deletion = machine.deletion?.ticked
        lane = lane.map { $0.ticked(policy) }
        refreshes = refreshes.map { refresh in
            var refresh = refresh
            refresh.order = refresh.order.ticked
            if case .finishing(let next?) = refresh.stage { refresh.stage = .finishing(next.ticked) }
            return refresh
        }
        if let order = late?.order { late?.order = order.ticked }
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
        record.freshUntil = Time.freshUntil(max(Time.left(of: self) - Time.tick, .zero))
        return record
    }
}

extension TokenLife {
    fileprivate func ticked(_ policy: SessionPolicy) -> TokenLife {
        Time.life(lasting: max(expiresAt - Time.tick, .zero), policy: policy)
    }
}

extension SessionStateMachine.RefreshOrder {
    fileprivate var ticked: Self {
        Self(
            id: id, record: record.ticked, isStored: isStored,
            firstSentAt: firstSentAt.map { max($0 - Time.tick, .zero - Time.tick) }, replays: replays)
    }
}

extension SessionStateMachine.SaveOrder {
    fileprivate func ticked(_ policy: SessionPolicy) -> Self {
        Self(id: id, record: record.ticked, life: life?.ticked(policy), isStored: isStored)
    }
}

extension SessionStateMachine.Deletion {
    fileprivate var ticked: Self {
        guard case .refused(let record) = scope else { return self }
        return Self(id: id, scope: .refused(record.ticked), sparesUnreadable: sparesUnreadable, failures: failures)
    }
}

extension SessionStateMachine.Phase {
    fileprivate func ticked(_ policy: SessionPolicy) -> Self {
        switch self {
        case .settled: .settled
        case .preparing(let order): .preparing(order.ticked)
        case .sending(let order, let isDoubtful): .sending(order.ticked, isDoubtful: isDoubtful)
        case .saving(let order): .saving(order.ticked(policy))
        case .condemning(let order, let reason): .condemning(order.ticked, reason)
        }
    }
}

extension World.StoreTask {
    fileprivate func ticked(_ policy: SessionPolicy) -> Self {
        switch self {
        case .load, .look, .note, .flush: self
        case .delete(let deletion): .delete(deletion.ticked)
        case .save(let order): .save(order.ticked(policy))
        case .condemn(let order): .condemn(order.ticked)
        case .clearJournal(let record): .clearJournal(record.ticked)
        }
    }
}
