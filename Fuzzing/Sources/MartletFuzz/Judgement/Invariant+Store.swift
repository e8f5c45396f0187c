import Martlet
import MartletTesting

// MARK: - The record

extension Invariant {
    static let durableBeforeVisible = Invariant(
        rule: "A token is stored before any call gets it, unless the disk has failed and the app does not insist."
    ) { facts in
        for (life, token, _, position) in facts.visible {
            if let written = facts.store.durable[token], written < position { continue }
            if token.number == 0, facts.script.start != .nothing, token.family == 1 { continue }
            let source =
                facts.sends.first { $0.life == life && $0.token.next == token }?.position
                ?? facts.start(of: token.family)?.position ?? 0
            let isReported = facts.events.contains { reported, other, event in
                guard other == life, case .storeWriteFailed = event else { return false }
                return reported > source && facts.holds(reported, at: position)
            }
            // A process that is killed in that moment reports nothing more.
            let isKilled =
                facts.store.deaths[life].map { facts.holds($0, at: position) } == true
                && facts.hasTrouble(life, from: source, to: position)
            if !facts.script.requiresSavedTokens, isReported || isKilled { continue }
            return
                "process \(life.process) handed out \(token.text) at \(facts.time(position).text) before it was stored"
        }
        return nil
    }

    static let recordsVanishForAReason = Invariant(
        rule: "A stored record disappears only by a sign-out, a terminal refusal or a newer sign-in."
    ) { facts in
        for change in facts.store.changes {
            guard let old = change.old else { continue }
            let what = "process \(change.life.process) replaced \(old.text) at \(facts.time(change.position).text)"
            guard let new = change.new else {
                if facts.mayDelete(old, change) || facts.isEndedByWrongClock(old.family) { continue }
                return "process \(change.life.process) deleted \(old.text) at \(facts.time(change.position).text)"
            }
            if new.family == old.family {
                if new.number < old.number { return "\(what) by an older token" }
            } else if new.family != facts.former?.family, let start = facts.start(of: new.family) {
                if facts.precedes(old.family, endOf: start) || facts.isOrderedByWrongClock(start, old.family, change) {
                    continue
                }
                return "\(what) by that of an earlier sign-in"
            } else {
                return "\(what) by that of the first session"
            }
        }
        return nil
    }

    static let refusalsAreConfirmedWithTheLock = Invariant(
        rule: "A process whose lock another one has taken over deletes no record because of a refusal."
    ) { facts in
        for change in facts.store.changes where change.isAfterTakeover && change.new == nil {
            guard let old = change.old,
                facts.sends.contains(where: {
                    $0.life == change.life && $0.token.family == old.family
                        && ($0.refused?.position ?? .max) < change.position
                }),
                // A sign-out needs no lock. Neither does ending a session that has already expired.
                !facts.calls.contains(where: {
                    $0.life == change.life && ($0.effect ?? .max) < change.position
                        && ($0.family != old.family || facts.mayBeWithdrawn($0))
                        && facts.precedes(old.family, endOf: $0)
                }),
                !facts.reportedEndings.contains(where: { life, family, end, back in
                    life == change.life && family == old.family && end < change.position && change.position < back
                })
            else { continue }
            return
                "process \(change.life.process) deleted \(old.text) at \(facts.time(change.position).text), although it "
                + "had lost the lock"
        }
        return nil
    }

    static let nothingDisappears = Invariant(
        rule: "A session that neither the user nor the server has ended is there at the end."
    ) { facts in
        let signIns = facts.calls.compactMap { call -> (family: Int, call: Facts.Call?)? in
            guard case .signedIn(let family) = call.response?.reply else { return nil }
            if facts.store.deaths[call.life] != nil,
                facts.store.durable[TokenName(family: family, number: 0)] == nil
            {
                return nil
            }
            // The session of a former library is as old as one that was stored at the beginning.
            return (family, family == facts.former?.family ? nil : call)
        }
        for (family, call) in signIns + (facts.script.start == .nothing ? [] : [(1, nil)])
        where !facts.isRefused(family) {
            let isFollowed = facts.calls.contains { other in
                guard other.effect != nil, other.number != call?.number else { return false }
                let end = other.end
                if end > call?.position ?? -1 { return true }
                guard let call else { return false }
                // No process can know the order of two sign-ins that both returned before they were stored, or of two
                // steps that had trouble in the same millisecond.
                let isLate = facts.isStoredLate(call)
                // A sign-in that could not be written yields to one that its process had not read.
                if isLate, facts.isStoredLate(other) || facts.isUnknown(other, to: call) { return true }
                return facts.time(end) == facts.time(call.position)
                    && (isLate || facts.hasTrouble(other.life, from: other.position, to: end))
            }
            if isFollowed || call.map(facts.givesWay) == true || facts.isEndedByWrongClock(family) { continue }
            for entry in facts.history.entries {
                guard case .settles(let life, let state, _, let stored) = entry.what else { continue }
                if case .signedIn(let session) = state, facts.family(of: session.id) == family, stored != nil {
                    continue
                }
                return "process \(life.process) reports \"\(state.text)\", but session \(family) was never ended"
            }
        }
        return nil
    }

    static let stateMatchesStore = Invariant(
        rule: "At the end, the state of each process matches the store."
    ) { facts in
        for entry in facts.history.entries {
            guard case .settles(let life, let state, let reply, let stored) = entry.what else { continue }
            let token = stored.flatMap { TokenName(of: $0.tokens) }
            switch (state, stored) {
            case (.signedIn(let session), let stored?):
                guard session.id == stored.id, session.isSaved else { break }
                if case .token(let handedOut) = reply, handedOut != token { break }
                if case .token = reply { continue }
            case (.signedOut, nil), (.expired, nil): continue
            default: break
            }
            return "process \(life.process) reports \"\(state.text)\" and returns \(reply.text), "
                + "but the store contains \(token?.text ?? "nothing")"
        }
        return nil
    }
}

extension Facts {
    /// Whether a sign-in returned before its record was stored.
    func isStoredLate(_ call: Call) -> Bool {
        guard let family = call.family, let response = call.response?.position else { return false }
        return (store.durable[TokenName(family: family, number: 0)] ?? .max) > response
    }

    /// Whether a guest who could not be stored gives way to a user of another process, who may have been taken over
    /// from a former library.
    fileprivate func givesWay(_ guest: Call) -> Bool {
        guard guest.isAutomatic, isStoredLate(guest) else { return false }
        return calls.contains { other in
            guard other.life != guest.life, !other.isAutomatic, other.position < guest.end else { return false }
            if case .adoption = other.kind { return true }
            return other.startsSession
        }
    }

    /// Whether a process could not write its sign-in, and ordered it by its clock after a later one. The clock had been
    /// set back between the two. The process reported that, or had signed out of a session that was never stored.
    fileprivate func isOrderedByWrongClock(_ call: Call, _ later: Int, _ change: StoreHistory.Change) -> Bool {
        guard let other = start(of: later) else { return false }
        let isTold = events.contains { position, life, event in
            life == call.life && event == .orderedByClock && call.position < position && position < change.position
        }
        let hasSignedOutUnstored = calls.contains { ending in
            guard ending.life == call.life, ending.kind == .signOut, ending.position < call.position
            else { return false }
            return formerSignIn(before: ending).map(isStoredLate) ?? false
        }
        return (isTold || hasSignedOutUnstored)
            && setbacks.contains { clockReading(of: call) < $0 && $0 < other.position }
    }

    /// The position at which the clock gave a sign-in or sign-out its place in the order. If the process could not
    /// store its former sign-in, or if the clock has been set back since, the place is the next one after that sign-in.
    private func clockReading(of call: Call) -> Int {
        guard let former = formerSignIn(before: call) else { return call.position }
        let reading = clockReading(of: former)
        let isSetBack = setbacks.contains { reading < $0 && $0 < call.position }
        return isSetBack || isStoredLate(former) ? reading : call.position
    }

    /// The last sign-in of a process that got tokens before another call.
    private func formerSignIn(before call: Call) -> Call? {
        calls.last {
            $0.life == call.life && $0.startsSession && $0.family != nil && $0.position < call.position
        }
    }

    /// Whether a process has reported that only its clock ordered a sign-in or sign-out.
    private func isOrderedByClock(_ call: Call) -> Bool {
        events.contains { position, life, event in
            life == call.life && event == .orderedByClock && call.position <= position && position <= call.end
        }
    }

    /// Whether only the clock ordered a sign-in and an earlier ending that covers it. One of the two had read nothing
    /// and had reported that, or the ending was a sign-out of a session that was never stored. The clock was set back
    /// between the two, or they happened in the same millisecond.
    func isEndedByWrongClock(_ family: Int) -> Bool {
        guard let start = start(of: family) else { return false }
        let isTold = hasReplacedUnreadableRecord(start)
        // A sign-in is ordered when its response arrives.
        let arrival = start.arrived ?? start.position
        return calls.contains { ending in
            let isUnstored = ending.kind == .signOut && formerSignIn(before: ending).map(isStoredLate) ?? false
            guard ending.kind.endsSessions, isTold || isUnstored || isOrderedByClock(ending) else { return false }
            if setbacks.contains(where: { clockReading(of: ending) < $0 && $0 < arrival }) { return true }
            return isTold && ending.life != start.life && time(ending.arrived ?? ending.position) == time(arrival)
        }
    }

    /// Whether a process has reported that its sign-in replaced a record that it could not read. It has not read the
    /// end mark either then, and may have written its record below the mark.
    private func hasReplacedUnreadableRecord(_ signIn: Call) -> Bool {
        events.contains { position, life, event in
            guard life == signIn.life, position > signIn.position else { return false }
            if case .replacedUnreadableRecord = event { return true }
            return false
        }
    }

    /// Whether the process of a sign-in could not know that a sign-in or sign-out of another process came first. The
    /// process has not read the store since, or the other process may have written late.
    func isUnknown(_ other: Call, to call: Call) -> Bool {
        guard other.life != call.life else { return false }
        return hasTrouble(other.life, from: other.position, to: other.end)
            || !store.hasRead(call.life, from: other.end, to: call.position)
    }

    /// Whether a sign-in was withdrawn, even if its process was killed before it could report that.
    func mayBeWithdrawn(_ call: Call) -> Bool {
        call.isWithdrawn || script.requiresSavedTokens && call.response == nil && store.deaths[call.life] != nil
    }

    /// Whether a process had a reason to delete a record.
    fileprivate func mayDelete(_ record: TokenName, _ change: StoreHistory.Change) -> Bool {
        let isUsersWish = calls.contains { call in
            call.life == change.life && (call.effect ?? .max) < change.position
                && (call.family != record.family || mayBeWithdrawn(call)) && precedes(record.family, endOf: call)
        }
        if isUsersWish { return true }
        // Each process that knows the mark of a sign-out ends records that are later written below it.
        if let start = start(of: record.family), hasReplacedUnreadableRecord(start),
            calls.contains(where: {
                $0.life != change.life && $0.kind.endsSessions && $0.family == nil && $0.position < change.position
                    && precedes(record.family, endOf: $0)
            })
        {
            return true
        }
        let refusal = lastRefusal(of: record.family, in: change.life, before: change.position)
        return refusal.map { $0.token.number >= record.number } ?? false
    }
}
