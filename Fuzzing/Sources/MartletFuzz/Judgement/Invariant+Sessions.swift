import Martlet
import MartletTesting

// MARK: - Sessions that end

extension Invariant {
    static let endedSessionsStayInvisible = Invariant(
        rule: "After a sign-out or another sign-in, no call gets a token of the previous session."
    ) { facts in
        for ending in facts.endings {
            for (life, token, asked, position) in facts.visible
            where life == ending.life && token.family == ending.family && position > ending.position {
                // A call that was made earlier may return or send the token that it got at the same time.
                if asked < ending.position, facts.elapsed(from: ending.position, to: position) == .zero { continue }
                return "at \(facts.time(position).text) process \(life.process) handed out a token of session "
                    + "\(token.family), which had ended there at \(facts.time(ending.position).text)"
            }
        }
        return nil
    }

    static let endedSessionsSendNothing = Invariant(
        rule: "After its session has ended, a call sends nothing more, and gets nothing of what the server still sends."
    ) { facts in
        let endings =
            facts.endings.map { ($0.life, $0.family, $0.effect, Int.max) } + facts.reportedEndings
            + facts.reportedSwitches
        for (life, family, end, back) in endings {
            let calls = facts.requests.filter {
                $0.exchange.life == life && $0.exchange.token?.family == family && $0.position < back
            }
            // A request that has passed its last check may leave at the same time.
            if let late = calls.first(where: { facts.elapsed(from: end, to: $0.position) > .zero }) {
                return "request \(late.exchange.call) carried a token of session \(family) at "
                    + "\(facts.time(late.position).text), which had ended at \(facts.time(end).text)"
            }
            if let call = facts.callWithLatePiece(among: Set(calls.map(\.exchange.call)), after: end) {
                return "call \(call) got what the server had sent after session \(family) had ended"
            }
        }
        return nil
    }

    static let endedSessionsAreNotStored = Invariant(rule: "No signed-out session is stored at the end.") { facts in
        guard case .settles(_, _, _, let stored?) = facts.history.entries.last?.what,
            let family = facts.family(of: stored.id)
        else { return nil }
        for ending in facts.endings where ending.family == family {
            // The process was killed before it could repeat the failed step.
            if let death = facts.store.deaths[ending.life], death > ending.position,
                facts.hasTrouble(ending.life, from: ending.asked, to: death)
            {
                continue
            }
            return "session \(family) is stored, although process \(ending.life.process) ended it "
                + "at \(facts.time(ending.position).text)"
        }
        return nil
    }

    static let endedSessionsAreRevoked = Invariant(
        rule: "The tokens of a session that its user ended are revoked, unless the server stays out of reach."
    ) { facts in
        let ended = facts.endings.filter { !facts.hasExpired(during: $0) }.map { ($0.life, $0.family, $0.position) }
        // A process that is killed forgets what it had to revoke.
        for (life, family, end) in ended + facts.refusedSignIns
        where !facts.diesBeforeRevoking(family, in: life, since: end) {
            // A process that has replaced or deleted the record revokes the tokens, in place of the one that ended the
            // session.
            let removers = facts.store.changes.filter { $0.old?.family == family && $0.new?.family != family }
            var misses: [Life: Int] = [:]
            let isRevoked = facts.history.entries.contains { entry in
                switch entry.what {
                case .revokes(_, family), .forgets(family): return true
                case .missesRevocation(let revoker, family):
                    misses[revoker, default: 0] += 1
                    return false
                default: return false
                }
            }
            let isOutOfReach = ([life] + removers.map(\.life)).contains { misses[$0, default: 0] >= 6 }
            if isRevoked || isOutOfReach { continue }
            if facts.isEndedUnknowingly(family, in: life) { continue }
            return "process \(life.process) ended session \(family), but the server still accepts its tokens"
        }
        return nil
    }

    static let currentSessionsAreNotRevoked = Invariant(
        rule: "A process revokes no tokens of the session that it is signed in to."
    ) { facts in
        for (position, entry) in facts.history.entries.enumerated() {
            guard case .revokes(let life, let family) = entry.what,
                facts.wasSignedIn(life, to: family, before: position)
            else { continue }
            return
                "process \(life.process) revoked session \(family) at \(facts.time(position).text), but is signed in "
                + "to it"
        }
        return nil
    }

    static let sessionsEndForAReason = Invariant(
        rule: "A session ends only because of a user's action or a terminal error from the server."
    ) { facts in
        for (position, life, family, reason) in facts.expiries
        where facts.lastRefusal(of: family, in: life, before: position) == nil
            && !facts.hasReadExpiry(of: family, in: life, before: position)
        {
            return "process \(life.process) ended session \(family) (\(reason)), but the server had rejected nothing"
        }
        for (position, life, event) in facts.events {
            // An expiry in another process is reported as one.
            guard case .signedOutElsewhere(let session?) = event, let family = facts.family(of: session)
            else { continue }
            // A sign-in that could not be written yields to a sign-out that its process had not read.
            let start = facts.start(of: family)
            let isLate = start.map(facts.isStoredLate) ?? false
            let isEnded = facts.calls.contains { other in
                guard other.life != life, (other.effect ?? .max) < position,
                    other.family != family || facts.mayBeWithdrawn(other)
                else { return false }
                return facts.precedes(family, endOf: other)
                    || isLate && start.map { facts.isUnknown(other, to: $0) } == true
            }
            if isEnded || facts.isEndedByWrongClock(family) { continue }
            return
                "process \(life.process) reports session \(family) as signed out elsewhere, but no process signed out"
        }
        return nil
    }

    static let signOutsAreNoExpiry = Invariant(
        rule: "A session that its user has ended in another process is not reported as expired."
    ) { facts in
        for (position, life, family, _) in facts.expiries {
            let refusal = facts.sends.last { $0.life == life && $0.token.family == family && $0.position < position }
            guard let refusal, let refused = refusal.refused, refused.reason == .signedOut,
                let last = facts.store.changes.last(where: { $0.position < position }),
                last.position < refused.position, facts.isSignOut(last, of: family, elsewhereThan: life),
                !facts.hasTrouble(life, from: last.position, to: position)
            else { continue }
            return "process \(life.process) reported that session \(family) has expired, but process "
                + "\(last.life.process) had signed out"
        }
        return nil
    }

    static let newerTokensAreAdopted = Invariant(
        rule: "A rejected refresh token ends no session whose newer tokens are found in the store."
    ) { facts in
        for (position, life, family, _) in facts.expiries {
            guard
                let refused = facts.sends.last(where: {
                    $0.life == life && $0.token.family == family && ($0.refused?.position ?? .max) < position
                })
            else { continue }
            for operation in facts.store.operations where operation.life == life {
                guard operation.requested > refused.end, (operation.completed ?? .max) < position else { continue }
                guard let found = operation.found, found.family == family, found.number > refused.token.number,
                    !facts.hasTrouble(life, from: refused.end, to: position),
                    !facts.store.hasLeft(family, from: operation.requested, to: position)
                else { continue }
                return "process \(life.process) found \(found.text), but ended the session because the server had "
                    + "rejected \(refused.token.text)"
            }
        }
        return nil
    }

    static let statesHaveACause = Invariant(
        rule: "A process shows a session, a sign-out or an expiry only after that happened."
    ) { facts in
        let settled = facts.history.entries.enumerated().compactMap { position, entry -> (Int, Life, Facts.Standing)? in
            guard case .settles(let life, let state, _, _) = entry.what else { return nil }
            return facts.standing(state).map { (position, life, $0) }
        }
        // A refresher's call shows the session that it refreshes.
        let asked = facts.calls.filter { !facts.isOfRefresher($0.number) }.compactMap { call in
            call.situation.standing.map { (call.position, call.life, $0) }
        }
        for (position, life, shown) in asked + settled {
            let possible = facts.standings(in: life, from: position, to: position)
            if possible.contains(shown) || shown.isSession && possible.contains(.session(0)) { continue }
            // A process that is killed reports nothing more.
            if let death = facts.store.deaths[life], facts.holds(death, at: position) { continue }
            return "process \(life.process) showed \"\(shown)\" at \(facts.time(position).text) without a cause"
        }
        return nil
    }

    static let oneExpiry = Invariant(rule: "A process reports at most once that a session has expired.") { facts in
        var expired: [Life: Set<Int>] = [:]
        for (_, life, event) in facts.events {
            switch event {
            case .expired(let session, _):
                guard let family = facts.family(of: session) else { continue }
                if expired[life, default: []].insert(family).inserted { continue }
                return "process \(life.process) reported twice that session \(family) has expired"
            // The store contained newer tokens of the session.
            case .adopted(let stamp): if let family = facts.family(of: stamp.session) { expired[life]?.remove(family) }
            default: break
            }
        }
        return nil
    }
}

extension Facts.Standing {
    fileprivate var isSession: Bool { if case .session = self { true } else { false } }
}

extension Situation {
    /// The standing that a process showed; `nil` if it did not know it.
    fileprivate var standing: Facts.Standing? {
        switch self {
        case .signedOut: .signedOut
        case .expired: .expired
        case .session(let family): .session(family)
        case .unknown: nil
        }
    }
}

extension Facts {
    /// The standing that a state shows; `nil` if it shows none.
    fileprivate func standing(_ state: SessionState) -> Standing? {
        switch state {
        case .signedOut: .signedOut
        case .expired: .expired
        case .signedIn(let session): .session(family(of: session.id) ?? 0)
        default: nil
        }
    }
}

extension Facts {
    /// The sign-ins whose tokens a process has got and not used.
    fileprivate var refusedSignIns: [(Life, Int, Int)] {
        calls.compactMap { call in
            guard let family = call.family, let arrived = call.arrived, let (end, reply) = call.response
            else { return nil }
            switch reply {
            case .refused(.sessionChanged), .refused(.signedOut), .refused(.cancelled), .failed(.sessionChanged):
                return (call.life, family, max(end, arrived))
            // A response at the very moment of the time limit may be dropped.
            case .failed(.cancelled) where time(arrived) - time(call.position) < NetworkConfig().timeout:
                return (call.life, family, max(end, arrived))
            default: return nil
            }
        }
    }

    /// Whether a process was killed before it could have made the next of its six attempts to revoke a session.
    fileprivate func diesBeforeRevoking(_ family: Int, in life: Life, since end: Int) -> Bool {
        guard let death = store.deaths[life] else { return false }
        let misses = history.entries.indices.filter { index in
            guard case .missesRevocation(life, family) = history.entries[index].what else { return false }
            return true
        }
        let pauses: [Duration] = [.zero, .seconds(1), .seconds(4), .seconds(16), .seconds(64), .seconds(256)]
        guard misses.count < pauses.count else { return false }
        // The first attempt waits for the store, which answers within 10 s when it is well. An attempt takes 30 s.
        let trouble = store.troubles.reduce(end) {
            $1.life == life && $1.from <= $0 && $1.to < death ? max($0, $1.to) : $0
        }
        return elapsed(from: misses.last ?? trouble, to: death) <= pauses[misses.count] + .seconds(45)
    }

    /// Whether a session expired while its user was ending it. Its tokens need no revocation then.
    fileprivate func hasExpired(during ending: Ending) -> Bool {
        expiries.contains {
            $0.life == ending.life && $0.family == ending.family && time($0.position) >= time(ending.asked)
                && time($0.position) <= time(ending.position)
        }
    }

    /// Whether another process deleted or replaced the record of a session, and then was killed or could not read that
    /// record. A process that has read nothing also deletes a record that it cannot read. Only that process knew that
    /// the tokens had to be revoked.
    fileprivate func isEndedUnknowingly(_ family: Int, in life: Life) -> Bool {
        store.changes.contains { change in
            guard change.life != life, change.old?.family == family, change.new?.family != family,
                !endings.contains(where: { $0.life == life && $0.family == family })
                    || hasLeft(family, life, by: change)
            else { return false }
            // A failing disk may have hidden a session that was never read there before.
            let first = script.diskFailurePercent > 0 ? store.changes.first { $0.new?.family == family }?.position : nil
            let isUnreadable =
                change.new == nil
                && calls.contains {
                    $0.kind.endsSessions && $0.life == change.life && $0.position < change.position
                        && !store.hasRead(change.life, from: first ?? -1, to: $0.position)
                }
            return isUnreadable || diesBeforeRevoking(family, in: change.life, since: change.position)
                || events.contains { position, other, event in
                    guard case .replacedUnreadableRecord = event else { return false }
                    return other == change.life && position > change.position
                }
        }
    }

    /// Whether a change of the record is a sign-out in another process, to which the server had given no reason to end
    /// the session.
    fileprivate func isSignOut(_ change: StoreHistory.Change, of family: Int, elsewhereThan life: Life) -> Bool {
        guard change.life != life, change.old?.family == family, change.new == nil else { return false }
        let isRefused = sends.contains {
            $0.life == change.life && $0.token.family == family && ($0.refused?.position ?? .max) < change.position
        }
        return !isRefused
            && calls.contains {
                $0.life == change.life && $0.kind == .signOut && $0.held == family && $0.position < change.position
            }
    }

    /// Whether a process found that another one had ended or replaced a session.
    private func hasLeft(_ family: Int, _ life: Life, by change: StoreHistory.Change) -> Bool {
        events.contains { position, other, event in
            switch event {
            case .signedOutElsewhere(let session?): other == life && self.family(of: session) == family
            case .adopted(let stamp):
                other == life && position > change.position && self.family(of: stamp.session) == change.new?.family
            default: false
            }
        }
    }

    /// The sessions that a process reported as ended, and the position at which it found each in the store again.
    var reportedEndings: [(Life, Int, Int, Int)] {
        events.compactMap { position, life, event in
            let ended: SessionID
            switch event {
            case .expired(let session, _), .signedOutElsewhere(let session?): ended = session
            default: return nil
            }
            let back = events.first { later, other, event in
                guard other == life, later > position, case .adopted(let stamp) = event else { return false }
                return stamp.session == ended
            }
            return family(of: ended).map { (life, $0, position, back?.position ?? .max) }
        }
    }

    /// The sessions that a process reported as replaced by another one, with the position of that report and the one at
    /// which it had the session again.
    var reportedSwitches: [(Life, Int, Int, Int)] {
        let lives = events.reduce(into: [Life]()) { if !$0.contains($1.life) { $0.append($1.life) } }
        return lives.flatMap { life -> [(Life, Int, Int, Int)] in
            let all = standings(in: life)
            return zip(all, all.dropFirst()).compactMap { former, next in
                guard former.possible.count == 1, case .session(let family)? = former.possible.first, family > 0,
                    next.possible.contains(where: \.isSession), !next.possible.contains(.session(family))
                else { return nil }
                let back = all.first { $0.position > next.position && $0.possible.contains(.session(family)) }
                return (life, family, next.position, back?.position ?? .max)
            }
        }
    }

    /// Whether a process reported before a position that it has a session, and neither reported its end nor was asked
    /// to end it.
    fileprivate func wasSignedIn(_ life: Life, to family: Int, before last: Int) -> Bool {
        let isChanging = calls.contains {
            $0.life == life && ($0.effect ?? .max) < last && ($0.end >= last || time($0.end) == time(last))
        }
        if isChanging { return false }
        // A process that is killed at this moment does not report what it has just read.
        if let death = store.deaths[life], time(death) == time(last) { return false }
        let latest = events.last { position, other, event in
            guard other == life, time(position) <= time(last) else { return false }
            switch event {
            case .restored, .signedIn, .adopted, .refreshSucceeded, .signedOut, .signedOutElsewhere, .expired:
                return true
            default: return false
            }
        }
        switch latest?.event {
        case .restored(let stamp?), .signedIn(let stamp), .adopted(let stamp), .refreshSucceeded(let stamp):
            return self.family(of: stamp.session) == family
        default: return false
        }
    }

    /// A call that got a piece of a stream that the server sent after a position.
    fileprivate func callWithLatePiece(among calls: Set<Int>, after end: Int) -> Int? {
        guard !calls.isEmpty else { return nil }
        var late: Set<Int> = []
        for (position, entry) in history.entries.enumerated().dropFirst(end) {
            switch entry.what {
            case .streams(let call, let piece) where calls.contains(call) && elapsed(from: end, to: position) > .zero:
                late.insert(piece)
            case .receives(_, let call, let piece) where late.contains(piece): return call
            default: break
            }
        }
        return nil
    }
}
