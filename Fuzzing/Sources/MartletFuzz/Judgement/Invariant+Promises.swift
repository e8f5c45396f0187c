import Martlet
import MartletTesting

// MARK: - What a call is promised

extension Invariant {
    static let replaysHappen = Invariant(
        rule: "A call whose token is rejected is sent again, and up to thrice while its process has a newer token."
    ) { facts in
        for call in facts.calls {
            guard case .request(let plan) = call.kind, plan.kind == .plain || plan.kind == .inner, plan.allowsRefresh,
                case (let end, .failed(.unauthorized))? = call.response,
                let (replays, last) = facts.rejections(of: call), let token = last.token, replays < 3
            else { continue }
            if replays == 0 {
                return "call \(call.number) failed because \(token.text) was rejected, without a replay"
            }
            guard let newer = facts.newerToken(than: token, in: call, at: last.answeredAt ?? .zero),
                !facts.mayBeUseless(newer, for: call, from: last.answeredAt ?? .zero, to: end)
            else { continue }
            return "call \(call.number) failed after \(replays) replays because \(token.text) was rejected, although "
                + "its process had \(newer.text)"
        }
        return nil
    }
}

extension Facts {
    /// The number of times that a call was sent again because of a rejected token, and its last request. `nil` if that
    /// request was not rejected by the server of the session.
    fileprivate func rejections(of call: Call) -> (replays: Int, last: Exchange)? {
        let rejected = requests.map(\.exchange).filter {
            $0.call == call.number && $0.status == 401 && $0.token != nil && !$0.isElsewhere
        }
        let sent = requests.last { $0.exchange.call == call.number }?.exchange
        guard let last = rejected.last, let sent, sent.status == 401, !sent.isElsewhere else { return nil }
        return (rejected.count - 1, last)
    }

    /// The newest token of a session that the process of a call had reported by the time a response arrived.
    fileprivate func newerToken(than token: TokenName, in call: Call, at arrival: Duration) -> TokenName? {
        let numbers = events.compactMap { position, life, event -> Int? in
            guard life == call.life, time(position) < arrival else { return nil }
            switch event {
            case .adopted(let stamp), .refreshSucceeded(let stamp):
                return family(of: stamp.session) == token.family ? stamp.rotation : nil
            default: return nil
            }
        }
        return numbers.max().flatMap { $0 > token.number ? TokenName(family: token.family, number: $0) : nil }
    }

    /// Whether a token may have been of no use for the replay of a call: it may have expired, or have been rejected in
    /// its turn and not been replaced. An app that uses only saved tokens withholds one that the disk does not take.
    fileprivate func mayBeUseless(
        _ token: TokenName, for call: Call, from arrival: Duration, to end: Int
    ) -> Bool {
        if let lifetime = script.lifetime {
            guard let issued = issuedAt(token), time(end) < issued + .seconds(lifetime),
                !looksOlder(token, in: call.life, before: end)
            else { return true }
        }
        if script.requiresSavedTokens, hasTrouble(call.life, from: call.position, to: end) { return true }
        let isRefused = sends.contains {
            $0.life == call.life && $0.token.family == token.family && $0.token.number >= token.number
                && ($0.refused?.position ?? .max) < end
        }
        return isRefused
            || events.contains { position, life, event in
                guard life == call.life, case .refreshFailed(let stamp, _, _) = event,
                    family(of: stamp.session) == token.family, stamp.rotation >= token.number
                else { return false }
                return time(position) >= arrival && time(position) - jump(before: position) <= time(end)
            }
    }
}

// MARK: - Probes

extension Invariant {
    static let probesHappen = Invariant(
        rule: "While a rejected token is being replaced, the waiting calls try it, the first after a second at most."
    ) { facts in
        // With slots or interceptors, a call may wait for something else.
        guard facts.script.slots == nil, facts.script.interceptor == .none else { return nil }
        for (start, life, event) in facts.events {
            guard case .refreshStarted(let stamp, .rejected) = event, let family = facts.family(of: stamp.session)
            else { continue }
            let token = TokenName(family: family, number: stamp.rotation)
            guard let end = facts.endOfProbes(of: token, since: start, in: life) else { continue }
            let probes = facts.events.filter { $0.life == life && $0.event == .tokenProbed(stamp) }
                .map { facts.time($0.position) }
            for call in facts.calls where call.life == life && call.position > start && call.held == family {
                guard let waited = facts.wait(of: call, until: end) else { continue }
                let asked = facts.time(call.position)
                // The probes follow each other every second as long as calls wait.
                let due = (1...).prefix(while: { .seconds($0) < waited }).count
                let made = probes.count { asked < $0 && $0 < asked + waited }
                if made >= due { continue }
                return "call \(call.number) waited \(waited.text) for a refresh, with \(made) probes of its token"
            }
        }
        return nil
    }
}

extension Facts {
    /// The time until which calls may probe a token whose replacement a process started at a position; `nil` if it is
    /// not known.
    fileprivate func endOfProbes(of token: TokenName, since start: Int, in life: Life) -> Duration? {
        var ends = [endOfRefresh(after: start, in: life).earliest]
        if let lifetime = script.lifetime {
            guard let issued = issuedAt(token),
                !looksOlder(token, in: life, before: history.entries.count - 1)
            else { return nil }
            ends.append(issued + .seconds(lifetime))
        }
        // Once the server has refused the refresh, nothing replaces the token.
        ends += sends.filter { $0.life == life && $0.token == token && $0.refused != nil }
            .compactMap(\.delivered).filter { $0 > start }.map(time)
        return ends.min()
    }

    /// The time for which a call that may be a probe has waited for a token by a given time; `nil` for any other call,
    /// and if the clock jumped in that time.
    fileprivate func wait(of call: Call, until end: Duration) -> Duration? {
        guard case .request(let plan) = call.kind, plan.kind == .plain, plan.allowsRefresh, plan.body == .none,
            plan.authentication == .required || plan.authentication == .ifSignedIn && !plan.isPost,
            changes(in: call.life, at: call.position).isEmpty
        else { return nil }
        let sent = requests.first { $0.exchange.call == call.number }?.position
        guard let out = [sent, call.cancelled, call.end].compactMap(\.self).min(), out < .max else { return nil }
        let last = min(time(out), end)
        if jumps.contains(where: { $0.position > call.position && time($0.position) <= last }) { return nil }
        return last - time(call.position)
    }
}

// MARK: - The reasons of failures

extension Invariant {
    static let failuresHaveACause = Invariant(
        rule: "A call is told of a change of the session, an expiry or a cancellation only if there was one."
    ) { facts in
        for call in facts.calls {
            guard let (end, reply) = call.response, let failure = reply.failure,
                // A process that is killed in that moment does not report the cause.
                facts.store.deaths[call.life].map({ !facts.holds($0, at: end) }) ?? true
            else { continue }
            let hasCause =
                switch failure {
                case .change: facts.mayHaveChanged(during: call, until: end)
                case .expiry: facts.mayHaveExpired(during: call, until: end)
                case .cancellation: call.cancelled != nil || facts.isMadeByCode(call)
                }
            if hasCause { continue }
            return "call \(call.number) got \"\(reply.text)\", but nothing of the kind had happened"
        }
        return nil
    }
}

extension Invariant {
    static let refreshFailuresHaveACause = Invariant(
        rule: "A call fails because of a refresh only if one has failed and no newer tokens have come since."
    ) { facts in
        for call in facts.calls where call.accountStep == nil && !facts.isOfRefresher(call.number) {
            let failure: RefreshError
            switch call.response?.reply {
            case .refused(.refreshFailed(let error)), .failed(.refreshFailed(_, let error, _)): failure = error
            default: continue
            }
            // A process that is killed in that moment does not report the failure.
            if let death = facts.store.deaths[call.life], facts.holds(death, at: call.end) { continue }
            if facts.hasFailed(with: failure, for: call) { continue }
            return "call \(call.number) failed because of a refresh (\(failure.description)) that had not failed"
        }
        return nil
    }
}

extension Reply {
    /// The kinds of failures that need a cause.
    fileprivate enum Failure { case change, expiry, cancellation }

    fileprivate var failure: Failure? {
        switch self {
        case .refused(.sessionChanged), .failed(.sessionChanged): .change
        case .refused(.expired), .failed(.sessionExpired): .expiry
        case .refused(.cancelled), .failed(.cancelled): .cancellation
        default: nil
        }
    }
}

extension Facts {
    /// Whether a process had reason to fail a call with an error of a refresh.
    fileprivate func hasFailed(with failure: RefreshError, for call: Call) -> Bool {
        let own = events.filter { $0.life == call.life }
        switch failure.kind {
        // The refresh has succeeded, and its tokens are withheld because they are not saved.
        case .notSaved: return isWithheld(in: call.life, at: call.end)
        case .tooManyRefreshes:
            return own.contains { position, _, event in
                guard case .refreshBudgetExceeded = event else { return false }
                return position > call.position && holds(position, at: call.end)
            }
        // The new token has come, and did not last until it could be used.
        case .timedOut where failure.description.contains("access token"):
            guard let lifetime = script.lifetime else { return false }
            let tokens = own.count { position, _, event in
                position > call.position && holds(position, at: call.end) && event.bringsTokens
            }
            let waited = time(call.end) - time(startOfSharedRequest(of: call))
            return tokens >= 2 || waited >= .seconds(lifetime)
                || script.interceptor != .none && waited >= .seconds(lifetime) / 10
        // The store may not confirm an expiry, until it does or has other tokens.
        case .storage:
            let isOpen = sends.contains { send in
                guard send.life == call.life, let refused = send.refused?.position, refused < call.end
                else { return false }
                return !own.contains { position, _, event in
                    refused < position && position < call.position && (event.isExpiry || event.bringsTokens)
                }
            }
            if isOpen { return true }
        default: break
        }
        let start = startOfSharedRequest(of: call)
        return own.contains { position, _, event in
            guard case .refreshFailed(_, failure, _) = event, holds(position, at: call.end) else { return false }
            return !own.contains { $0.position > position && $0.position < start && $0.event.bringsTokens }
        }
    }

    /// The position at which the first of the calls began whose request this call may have joined.
    private func startOfSharedRequest(of call: Call) -> Int {
        guard case .shared(let resource) = call.kind else { return call.position }
        // A call may join one that has joined another.
        return calls.reversed().reduce(call.position) { start, other in
            guard other.life == call.life, case .shared(let same) = other.kind, same.number == resource.number,
                other.position < start, start < other.end
            else { return start }
            return other.position
        }
    }

    /// Whether the code of the app has made a call within another one, with which it is cancelled.
    fileprivate func isMadeByCode(_ call: Call) -> Bool {
        if call.isAutomatic { return true }
        guard case .request(let plan) = call.kind else { return false }
        return plan.kind == .inner || plan.kind == .refresher
    }

    /// Whether the session of a process may have changed during a call: a user has signed in or out, or the process has
    /// learnt of another one that did so.
    fileprivate func mayHaveChanged(during call: Call, until end: Int) -> Bool {
        // A refresher's call belongs to the session of its refresh, which may have ended before. So may the user of a
        // sign-in that an interceptor's call is part of.
        if case .request(let plan) = call.kind {
            if plan.kind == .refresher || plan.kind == .inner && script.habits.registersGuests { return true }
        }
        let others = calls.filter {
            $0.number != call.number && $0.life == call.life && $0.position < end && call.position < $0.end
        }
        if let account = call.accountStep?.account {
            return others.contains { $0.accountStep == .signIn(account) || $0.accountStep == .signOut(account) }
        }
        if others.contains(where: { ($0.effect ?? .max) < end }) { return true }
        // Another process has ended the session of this sign-in, and this process has not reported that yet.
        let isEndedElsewhere = store.changes.contains {
            $0.life != call.life && $0.old?.family == call.family && call.position < $0.position && $0.position < end
        }
        if call.family != nil, isEndedElsewhere { return true }
        // An automatic sign-in gives way to an ending in another process.
        let hasEnding = store.changes.contains {
            $0.life != call.life && $0.new == nil && call.position < $0.position && $0.position < end
        }
        if call.isAutomatic, hasEnding { return true }
        let standings = standings(in: call.life)
        return zip(standings, standings.dropFirst()).contains { former, next in
            next.position > call.position && holds(next.position, at: end) && next.possible != former.possible
        }
    }

    /// Whether the session of a process may have expired before or during a call. The accounts report no expiries.
    fileprivate func mayHaveExpired(during call: Call, until end: Int) -> Bool {
        call.situation == .expired || call.accountStep != nil
            || standings(in: call.life, from: call.position, to: end).contains(.expired)
    }
}

extension SessionEvent {
    fileprivate var isExpiry: Bool { if case .expired = self { true } else { false } }

    /// Whether the process has other tokens from then on.
    var bringsTokens: Bool {
        switch self {
        case .restored(.some), .signedIn, .adopted, .refreshSucceeded: true
        default: false
        }
    }
}
