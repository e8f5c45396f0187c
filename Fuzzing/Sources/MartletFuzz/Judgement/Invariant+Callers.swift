import MartletTesting

@testable import Martlet

// MARK: - Callers

extension Invariant {
    static let everyCallReturns = Invariant(rule: "Every call returns, and in time.") { facts in
        for call in facts.calls {
            guard call.end < .max else { return "call \(call.number) of process \(call.life.process) never returned" }
            guard let limit = facts.limit(of: call) else { continue }
            let time = facts.elapsed(from: call.position, to: call.end)
            if time > limit { return "call \(call.number) was in progress for \(time.text)" }
        }
        return nil
    }

    static let endedSessionsReleaseCallers = Invariant(
        rule: "A caller that waits for a token of a session learns at once that the session has ended."
    ) { facts in
        for call in facts.calls where call.kind == .token || call.kind == .renewal {
            guard let held = call.held else { continue }
            // The reports of earlier sessions may come after the call has begun.
            let end = facts.standings(in: call.life).drop { !$0.possible.contains(.session(held)) }.first {
                $0.position > call.position && !$0.possible.contains(.session(held))
            }
            guard let end, facts.elapsed(from: end.position, to: call.end) > .zero else { continue }
            return "call \(call.number) waited until \(facts.time(call.end).text) for a token of session \(held), "
                + "which had ended at \(facts.time(end.position).text)"
        }
        return nil
    }

    static let failuresAreShared = Invariant(
        rule: "When a refresh has failed, no caller goes on waiting for it."
    ) { facts in
        for (end, life, event) in facts.events {
            guard case .refreshFailed(let stamp, _, _) = event else { continue }
            // The clock may have jumped before the report.
            let failed = facts.time(end) - facts.jump(before: end)
            let late = facts.calls.first { call in
                guard call.kind == .token || call.kind == .renewal, call.life == life,
                    call.held == facts.family(of: stamp.session), call.end < .max
                else { return false }
                return facts.time(call.position) < failed && facts.elapsed(from: end, to: call.end) > .zero
            }
            if let late { return "call \(late.number) still waited after the refresh had failed" }
        }
        return nil
    }

    static let cancelledAtOnce = Invariant(
        rule:
            "A cancelled call returns at once; a sign-in that is in force and a sign-out return when the store has answered."
    ) { facts in
        for call in facts.calls {
            guard let cancelled = call.cancelled, let response = call.response?.position, cancelled < response
            else { continue }
            let late = facts.elapsed(from: cancelled, to: response)
            let limit: Duration
            switch call.kind {
            case .signIn, .login: limit = SessionPolicy().storeTimeout
            case .signOut: limit = facts.limit(of: call) ?? .zero
            case .token, .renewal, .request, .adoption, .shared, .plain, .download, .account:
                limit = .zero
            }
            if late > limit { return "call \(call.number) returned \(late) after it was cancelled" }
        }
        return nil
    }

    static let validTokensAreHandedOut = Invariant(
        rule: "A caller with a token that is still valid gets it, and at once if the server has not rejected it."
    ) { facts in
        for call in facts.calls where call.cancelled == nil {
            guard let (position, reply) = call.response, let held = call.held,
                let token = facts.validToken(of: held, in: call), !facts.isWithheld(reply, in: call.life, at: position),
                !facts.calls.contains(where: {
                    $0.life == call.life && ($0.effect ?? .max) < position && call.position < $0.end
                })
            else { continue }
            switch (call.kind, reply) {
            case (.token, .refused(.refreshFailed)):
                return "call \(call.number) was refused, although \(token.text) was valid"
            case (.token, .token):
                let wait = facts.elapsed(from: call.position, to: position)
                let isRejected = facts.requests.contains {
                    $0.exchange.token == token && $0.exchange.status == 401 && $0.exchange.life == call.life
                        && $0.position < position
                }
                if wait > .zero, !isRejected || !facts.isReplacing(token, during: call, until: position) {
                    return "call \(call.number) waited \(wait.text), although \(token.text) was valid"
                }
            case (.request, .failed(.refreshFailed))
            where !facts.isOfRefresher(call.number) && !facts.requests.contains { $0.exchange.call == call.number }:
                return "call \(call.number) was refused unsent, although \(token.text) was valid"
            default: break
            }
        }
        return nil
    }

    static let unavailableIsNotSignedOut = Invariant(
        rule: "A call is told that no user is signed in only after a sign-out or a terminal error from the server."
    ) { facts in
        // The upgrade of a guest fails in this way if there is no guest.
        for call in facts.calls where call.accountStep == nil && call.kind != .login {
            switch call.response?.reply {
            case .refused(.signedOut), .failed(.signInRequired): break
            default: continue
            }
            guard let position = call.response?.position,
                let (session, since) = call.heldOrStored(in: facts)
            else { continue }
            // The session ended while the call waited.
            let isChanging = facts.calls.contains {
                $0.life == call.life && ($0.effect ?? .max) < position && call.position < $0.end
            }
            if isChanging || facts.standings(in: call.life, from: call.position, to: position).contains(.signedOut) {
                continue
            }
            if call.situation == .unknown, facts.store.hasLeft(session, from: since, to: position) { continue }
            // A process that is killed in that moment reports nothing more. The session may have ended before the call,
            // if the process read the store slowly.
            let isKilled = facts.store.deaths[call.life].map { facts.holds($0, at: position) } ?? false
            if isKilled, facts.store.record(at: position)?.family != session { continue }
            return "call \(call.number) was told that no user is signed in, but the user of session \(session) is"
        }
        return nil
    }
}

extension CallKind {
    /// Whether a call of this kind counts toward the client's limit of requests.
    fileprivate var needsSlot: Bool {
        switch self {
        case .request, .login, .shared, .plain, .download, .account: true
        case .token, .renewal, .signIn, .signOut, .adoption: false
        }
    }
}

extension Facts.Call {
    /// The session of the process when the call began, or that of the store if the process had not read it, and the
    /// position from which it was there.
    fileprivate func heldOrStored(in facts: Facts) -> (session: Int, since: Int)? {
        switch situation {
        case .session(let family): return (family, position)
        case .unknown:
            // The result may come from a slow reading that began earlier.
            let reading = facts.store.operations.first {
                $0.life == life && $0.requested < position && position < $0.completed ?? .max
            }
            let since = reading?.requested ?? position
            return facts.store.record(at: since).map { ($0.family, since) }
        case .signedOut, .expired: return nil
        }
    }
}

extension RequestPlan {
    /// How often a request may be sent again because of a rejected token.
    fileprivate var maximumReplays: Int {
        if !allowsRefresh { return 0 }
        return kind == .repeated ? 1 : 3
    }
}

extension Facts {
    /// The time that a call may take. `nil` if it waits for something without a limit, such as the pieces of a stream,
    /// or for a slot that such a call holds.
    fileprivate func limit(of call: Call) -> Duration? {
        guard let own = limitWithSlot(of: call) else { return nil }
        guard script.slots != nil, call.kind.needsSlot else { return own }
        // The calls of a client get their slots one after another.
        let others = calls.filter {
            $0.life == call.life && $0.number != call.number && $0.kind.needsSlot && $0.position < call.end
                && call.position < $0.end
        }
        var limit = own
        for other in others {
            guard let turn = limitWithSlot(of: other) else { return nil }
            limit += turn
        }
        return limit
    }

    /// The time that a call may take if a slot is free.
    private func limitWithSlot(of call: Call) -> Duration? {
        let store = SessionPolicy().storeTimeout
        switch call.kind {
        // The store is read, and a sign-in may be under way.
        case .token, .renewal: return store * 3 + refreshes(during: call)
        case .signIn: return store * 3
        // The store is read, and the record is deleted.
        case .signOut: return store * 2
        // The former tokens and the session are read, the session is written, and the former tokens are deleted with a
        // note.
        case .adoption: return store * 5
        case .request(let plan) where plan.kind == .stream || plan.kind == .events: return nil
        // The simulated client sets no time limit, and repeats a request up to five times.
        case .request(let plan) where plan.kind == .repeated: return attempts * 4 + store * 3 + refreshes(during: call)
        case .plain: return attempts
        case .request, .login, .shared: return attempts + store * 3 + refreshes(during: call) + pauses
        // Each attempt may get a part of the file.
        case .download: return attempts * 2 + store * 3 + refreshes(during: call) + pauses
        // The accounts report no refreshes.
        case .account: return attempts + refresh * 2
        }
    }

    /// The time that a refresh may take: the lock of a stopped process and of one that waits before this one, the
    /// exchange, which a grace period lets the process repeat, and the store before and after it.
    private var refresh: Duration {
        script.lease * 2 + script.requestLimit * (script.grace > .zero ? 2 : 1) + SessionPolicy().storeTimeout * 4
    }

    /// The time for the interceptor of a call and of the one that it makes itself, and for the registration of a guest.
    private var pauses: Duration {
        let interceptor: Duration = script.interceptor == .none ? .zero : .seconds(40) * 8
        return script.habits.registersGuests ? interceptor * 2 + attempts + .seconds(5) : interceptor
    }

    /// The time for the refreshes that were under way in the process of a call while the call was. If a new token has
    /// expired by the time it is written, another refresh follows.
    private func refreshes(during call: Call) -> Duration {
        let started = events.filter { position, life, event in
            guard life == call.life, position < call.end, case .refreshStarted = event else { return false }
            return endOfRefresh(after: position, in: life).reported >= time(call.position)
        }
        return refresh * min(started.count, 3)
    }

    /// The time for the attempts of a call: the wait for a network, the retries, and the last attempt.
    private var attempts: Duration {
        (script.habits.connectivityTimeout ?? .zero) + RetryPolicy().totalTime + NetworkConfig().timeout
    }

    /// Whether a call was refused because the app uses only saved tokens and the process could not save its newer ones.
    fileprivate func isWithheld(_ reply: Reply, in life: Life, at position: Int) -> Bool {
        switch reply {
        case .refused(.refreshFailed(let failure)) where failure.kind == .notSaved,
            .failed(.refreshFailed(_, let failure, _)) where failure.kind == .notSaved:
            break
        default: return false
        }
        return isWithheld(in: life, at: position)
    }

    /// Whether a process withholds its tokens at a position, because the app uses only saved ones and the last attempt
    /// to save them has failed.
    func isWithheld(in life: Life, at position: Int) -> Bool {
        guard script.requiresSavedTokens else { return false }
        // Events are reported after the replies of the same moment. A process that is killed in that moment reports
        // none.
        let now = time(position)
        if let death = store.deaths[life], time(death) == now { return true }
        let latest = events.last { position, other, event in
            guard other == life, time(position) <= now else { return false }
            switch event {
            case .storeWriteFailed: return true
            case .storeRecovered, .adopted: return time(position) < now
            default: return false
            }
        }
        if case .storeWriteFailed = latest?.event { return true }
        return false
    }
}

extension Facts {
    /// Whether a refresh of a token, or of a newer one, was under way in the process of a call.
    fileprivate func isReplacing(_ token: TokenName, during call: Call, until end: Int) -> Bool {
        // A late response has brought new tokens, which are being written.
        let isWriting = sends.contains { send in
            guard send.life == call.life, send.token == token, send.isLate || send.abandoned != nil,
                send.committed != nil, send.brokeOff == nil, let delivered = send.delivered, delivered < end
            else { return false }
            let known = events.first { position, life, event in
                guard life == call.life, position > delivered else { return false }
                switch event {
                case .refreshSucceeded, .adopted, .signedIn, .signedOut, .expired: return true
                default: return false
                }
            }
            return known.map { time($0.position) >= time(call.position) } ?? true
        }
        if isWriting { return true }
        return events.contains { start, life, event in
            guard life == call.life, case .refreshStarted(let stamp, _) = event, stamp.rotation >= token.number,
                family(of: stamp.session) == token.family, time(start) <= time(end)
            else { return false }
            return endOfRefresh(after: start, in: life).reported >= time(call.position)
        }
    }

    /// The times at which a process let calls probe a token that was being replaced. It may have done so before the
    /// clock jumped, and reported it afterwards.
    fileprivate func probes(
        of stamp: SessionStamp, since start: Int, in life: Life
    ) -> [(earliest: Duration, reported: Duration)] {
        let end = endOfRefresh(after: start, in: life).reported
        return events.filter {
            $0.life == life && $0.position > start && time($0.position) <= end && $0.event == .tokenProbed(stamp)
        }.map { (time($0.position) - jump(before: $0.position), time($0.position)) }
    }

    /// The calls that went out with a rejected token while it was being replaced, until one was accepted. An
    /// interceptor may have held back those that were made before the rejection.
    fileprivate func requestsWithRejected(
        _ token: TokenName, since start: Int, in life: Life
    ) -> [(call: Int, at: Duration)] {
        // Processes report an event after it has happened, and a request may be on its way when that happens. The clock
        // may have jumped in between.
        let ended = endOfRefresh(after: start, in: life).earliest
        // Once the server has refused the refresh, nothing replaces the token. The store may take its time to confirm
        // the expiry.
        let refusal = sends.filter { $0.life == life && $0.token == token && $0.refused != nil }
            .compactMap(\.delivered).filter { $0 > start }.min().map(time)
        let end = min(ended, refusal ?? ended)
        let carriers = requests.filter { $0.exchange.life == life && $0.exchange.token == token }
        let during = carriers.filter { time($0.position) > time(start) && time($0.position) < end }
        let accepted = during.compactMap { _, exchange in
            (200..<400).contains(exchange.status ?? 0) ? exchange.answeredAt : nil
        }.min()
        return during.compactMap { position, exchange in
            guard time(position) < accepted ?? .seconds(Int64.max), let call = call(exchange.call) else { return nil }
            let isFirst = !carriers.contains { $0.position < position && $0.exchange.call == exchange.call }
            // A call that allows no refresh carries the token as it is.
            if !allowsRefresh(exchange.call) { return nil }
            let isHeldBack = script.interceptor != .none && call.position < start
            return isFirst && !isHeldBack ? (exchange.call, time(position)) : nil
        }
    }

    /// The token of a session that its process had handed out before a call began, if it was valid when the call
    /// returned.
    fileprivate func validToken(of family: Int, in call: Call) -> TokenName? {
        guard let lifetime = script.lifetime, let end = call.response?.position else { return nil }
        let handedOut = visible.filter {
            $0.life == call.life && $0.token.family == family && $0.position < call.position
        }
        guard let token = handedOut.map(\.token).max(by: { $0.number < $1.number }),
            let issued = issuedAt(token), time(end) < issued + .seconds(lifetime)
        else { return nil }
        return looksOlder(token, in: call.life, before: end) ? nil : token
    }

    /// The time at which the server issued a token, as far as processes can know.
    func issuedAt(_ token: TokenName) -> Duration? {
        if token.number > 0 {
            // Within the grace period, several processes may have got the token, also from the store.
            return sends.filter { $0.token.next == token && $0.committed != nil }.map(issueTime).min()
        }
        if let former, token.family == former.family { return former.expiry == .stated ? .zero : nil }
        guard let start = start(of: token.family) else { return script.start == .fresh ? .zero : nil }
        return time(start.position)
    }

    /// The time that the process of a refresh takes for the one at which the server issued the new tokens.
    private func issueTime(of grant: Send) -> Duration {
        // A process that may have slept since it called the refresher takes the tokens for as old as that call.
        let arrived = grant.delivered.map { time($0) - time(grant.decidedAt) } ?? .zero
        let maySleep = grant.isLate || arrived >= script.requestLimit
        return time(maySleep ? grant.decidedAt : grant.committed ?? 0)
    }
}

// MARK: - Requests

extension Invariant {
    static let requestsKeepTheirSession = Invariant(
        rule: "The attempts and connections of a request carry tokens of one session, or none."
    ) { facts in
        var families: [Int: Int] = [:]
        for (_, exchange) in facts.requests where !exchange.isElsewhere {
            guard let token = exchange.token else {
                guard let family = families[exchange.call], !facts.isOfRefresher(exchange.call) else { continue }
                return "request \(exchange.call) carried a token of session \(family), and then none"
            }
            if let family = families[exchange.call], family != token.family {
                return "request \(exchange.call) carried tokens of session \(family) and of session \(token.family)"
            }
            families[exchange.call] = token.family
        }
        return nil
    }

    static let callsKeepTheirSession = Invariant(
        rule: "A call belongs to the session that was current at its first line."
    ) { facts in
        for (_, exchange) in facts.requests where !exchange.isElsewhere {
            guard let call = facts.call(exchange.call), case .request(let plan) = call.kind else { continue }
            let token = exchange.token.map { "with \($0.text)" } ?? "without a token"
            let what = "request \(call.number) went out \(token)"
            switch (plan.authentication, exchange.token) {
            case (.none, nil): continue
            case (.none, _): return "\(what), although it must have none"
            case (.required, nil): return "\(what), although it requires one"
            default: break
            }
            // While a sign-in is being stored, its session is current but not yet reported.
            let starting = facts.startingSessions(in: call.life, at: call.position)
            if facts.mayRegisterGuest(plan, call) { continue }
            if call.situation == .unknown, let owners = facts.owners(of: call, plan.authentication),
                !owners.contains(exchange.token?.family ?? 0), !facts.isOfRefresher(call.number)
            {
                return "\(what), although it belonged to \(owners)"
            }
            switch (call.situation, exchange.token) {
            case (.session(let held), let token?) where token.family != held:
                return "\(what), although it was made in session \(held)"
            // The refresher's own call must not wait for the token that it is about to get.
            case (.session, nil) where plan.kind == .refresher: continue
            case (.session(let held), nil): return "\(what), although it was made in session \(held)"
            case (.signedOut, let token?) where !starting.contains(token.family),
                (.expired, let token?) where !starting.contains(token.family):
                return "\(what), although no session was current when it was made"
            case (.expired, nil) where plan.isPost && facts.changes(in: call.life, at: call.position).isEmpty:
                return "\(what) after the session had expired"
            default: break
            }
        }
        return nil
    }

    static let oneReplay = Invariant(
        rule: "A request is sent again once for a rejected token, and up to thrice if each token is newer."
    ) { facts in
        var rejections: [Int: (count: Int, last: TokenName?)] = [:]
        var started: [Int: Duration] = [:]
        for (position, exchange) in facts.requests where !exchange.isElsewhere {
            // Each connection of an event stream is a request of its own.
            guard let call = facts.call(exchange.call), case .request(let plan) = call.kind, plan.kind != .events
            else { continue }
            var (count, last) = rejections[call.number] ?? (0, nil)
            if let rejected = last {
                count += 1
                let isNewer = exchange.token.map { $0.number > rejected.number } ?? false
                if count > plan.maximumReplays || count > 1 && !isNewer {
                    return "request \(call.number) was sent again after \(count) rejections of its token"
                }
            }
            // The attempt may have begun before a jump of the clock.
            let start = facts.time(position) - facts.jump(before: position)
            started[call.number] = started[call.number] ?? start
            // A response may arrive at the moment when the process stops waiting for it.
            let limit = started[call.number].map { $0 + .seconds(30) }
            if exchange.status != 307 { started[call.number] = nil }
            let isRejected = exchange.status == 401 && (exchange.answeredAt ?? .zero) < limit ?? .zero
            last = isRejected ? exchange.token : nil
            rejections[call.number] = (count, last)
        }
        return nil
    }

    static let waitingCallsAreSent = Invariant(
        rule: "A call that waits for a network goes out when there is one again."
    ) { facts in
        // With slots or interceptors, a call may wait for something else.
        guard let limit = facts.script.habits.connectivityTimeout, facts.script.slots == nil,
            facts.script.interceptor == .none
        else { return nil }
        for call in facts.calls {
            guard case .request(let plan) = call.kind, plan.kind == .plain, plan.body != .ofUnknownLength,
                case (let end, .failed(.offline))? = call.response,
                let comeback = facts.reconnections.last(where: { call.position < $0 && $0 < end }),
                facts.elapsed(from: comeback, to: end) > .zero,
                facts.time(comeback) < facts.time(call.position) + limit,
                !facts.disconnections.contains(where: { comeback < $0 && $0 < end }),
                let last = facts.requests.last(where: { $0.exchange.call == call.number }), last.position < comeback
            else { continue }
            return "call \(call.number) was not sent when the network was back at \(facts.time(comeback).text)"
        }
        return nil
    }

    static let probesAreLimited = Invariant(
        rule: "While a rejected token is being replaced, one call a second goes out with it, until one is accepted."
    ) { facts in
        for (start, life, event) in facts.events {
            guard case .refreshStarted(let stamp, .rejected) = event, let family = facts.family(of: stamp.session)
            else { continue }
            let token = TokenName(family: family, number: stamp.rotation)
            let probes = facts.probes(of: stamp, since: start, in: life)
            for (former, next) in zip(probes, probes.dropFirst()) where next.reported - former.earliest < .seconds(1) {
                return "process \(life.process) probed \(token.text) twice within a second"
            }
            let sent = facts.requestsWithRejected(token, since: start, in: life)
            for (index, request) in sent.enumerated() where index >= probes.count(where: { $0.earliest <= request.at })
            {
                return "request \(request.call) went out with \(token.text), which was rejected"
            }
        }
        return nil
    }

    static let tokensStayAtTheirOrigin = Invariant(rule: "No other origin gets a token.") { facts in
        for (_, exchange) in facts.requests where exchange.isElsewhere {
            if let token = exchange.token { return "request \(exchange.call) carried \(token.text) to another origin" }
        }
        return nil
    }
}
