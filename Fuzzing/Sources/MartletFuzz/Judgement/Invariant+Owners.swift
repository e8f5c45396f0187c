import Martlet
import MartletTesting

// MARK: - The owner of a token

extension Invariant {
    static let callersGetTheirToken = Invariant(
        rule: "A caller that asks for a token gets one of the session that was current at its first line."
    ) { facts in
        for call in facts.calls where call.kind == .token {
            guard case .token(let token)? = call.response?.reply else { continue }
            let isChanging = !facts.changes(in: call.life, at: call.position).isEmpty
            switch call.situation {
            case .session(token.family), .unknown: continue
            case .session(let held):
                return "call \(call.number) got \(token.text), although it was made in session \(held)"
            case .signedOut where isChanging, .expired where isChanging: continue
            case .signedOut, .expired:
                return "call \(call.number) got \(token.text), although no session was current when it was made"
            }
        }
        return nil
    }

    static let expiredTokensAreNotSent = Invariant(
        rule: "No request carries a token after its stated expiry."
    ) { facts in
        guard let lifetime = facts.script.lifetime.map({ Duration.seconds($0) }) else { return nil }
        for (position, exchange) in facts.requests {
            guard let token = exchange.token, let obtained = facts.obtainedAt(token, before: position),
                facts.wallClockChanges.allSatisfy({ $0 > position })
            else { continue }
            // The process may have looked at the clock before it jumped. Dates in a record are rounded.
            let now = facts.time(position) - facts.jump(before: position) - .milliseconds(1)
            if now < obtained + lifetime { continue }
            return "request \(exchange.call) carried \(token.text) at \(facts.time(position).text), which had expired "
                + "at \((obtained + lifetime).text)"
        }
        return nil
    }
}

// MARK: - The owner of what responses leave behind

extension Invariant {
    static let responsesStayWithTheirUser = Invariant(
        rule: "A call gets no response that the server has made for another user."
    ) { facts in
        for call in facts.calls {
            guard case .shared(let resource) = call.kind, case .content(let family)? = call.response?.reply
            else { continue }
            let expected: Int
            switch (resource.authentication, call.situation) {
            case (.none, _): expected = 0
            case (_, .session(let held)): expected = held
            case (_, .unknown): continue
            case (_, .signedOut), (_, .expired):
                if !facts.changes(in: call.life, at: call.position).isEmpty { continue }
                if facts.script.habits.registersGuests, resource.authentication == .required { continue }
                expected = 0
            }
            if family == expected { continue }
            return "call \(call.number) got the response for session \(family), although it was made in "
                + (expected == 0 ? "none" : "session \(expected)")
        }
        return nil
    }

    static let cookiesStayWithTheirUser = Invariant(
        rule: "No request carries the cookie of another user, or of a session that has ended."
    ) { facts in
        for (_, exchange) in facts.requests {
            guard let cookie = exchange.cookie, cookie > 0, let token = exchange.token, !facts.isSignIn(exchange.call)
            else { continue }
            if cookie == token.family { continue }
            return "request \(exchange.call) carried \(token.text) and the cookie of session \(cookie)"
        }
        for ending in facts.endings where !facts.isDoubtful(ending.family) {
            let late = facts.requests.first { position, exchange in
                exchange.life == ending.life && exchange.cookie == ending.family
                    && facts.elapsed(from: ending.position, to: position) > .zero
            }
            guard let late else { continue }
            return "request \(late.exchange.call) carried the cookie of session \(ending.family) at "
                + "\(facts.time(late.position).text), which had ended at \(facts.time(ending.position).text)"
        }
        return nil
    }

    static let emptiedClientsKeepNothing = Invariant(
        rule:
            "A client without a manager keeps nothing of before its jar and cache were emptied, or of another credential."
    ) { facts in
        for call in facts.calls {
            guard case .plain(_, let owner) = call.kind, case .plainContent(let content)? = call.response?.reply
            else { continue }
            if content.credential == owner.credential, content.generation >= owner.generation { continue }
            return "call \(call.number) with \(owner.text) got the response for \(content.text)"
        }
        for (position, life, cookie) in facts.plainRequests {
            guard let cookie, cookie < facts.emptied(life, before: position) else { continue }
            return "process \(life.process) sent cookie \(cookie) at \(facts.time(position).text), after it was removed"
        }
        return nil
    }
}

extension Facts {
    /// Whether a call waits for a guest's session, and keeps the one that is current then.
    func mayRegisterGuest(_ plan: RequestPlan, _ call: Call) -> Bool {
        script.habits.registersGuests && plan.authentication == .required && call.situation == .signedOut
    }

    /// Whether a refresher made the call. It must not wait for the token that the refresher is about to get.
    func isOfRefresher(_ number: Int) -> Bool {
        if case .request(let plan)? = call(number)?.kind { plan.kind == .refresher } else { false }
    }

    func isSignIn(_ number: Int) -> Bool { call(number)?.kind == .login }

    /// When a process that sends a token could have got it at the latest.
    fileprivate func obtainedAt(_ token: TokenName, before last: Int) -> Duration? {
        if token.number > 0 {
            return sends.filter { $0.token.next == token }.compactMap(\.delivered).filter { $0 < last }.max()
                .map(timeOfNotice)
        }
        guard let start = start(of: token.family) else { return script.start == .fresh ? .zero : nil }
        guard case .login = start.kind else { return timeOfNotice(start.position) }
        return start.arrived.map(timeOfNotice)
    }

    /// When a process may have noticed what happened at a position: after the jumps of the clock that followed at once.
    private func timeOfNotice(_ position: Int) -> Duration {
        jumps.reduce(time(position)) { noticed, jump in
            jump.position > position && time(jump.position) == noticed ? noticed + jump.duration : noticed
        }
    }

    /// How far the clock jumped to the time of a position. Jumps may follow each other before a task that is ready runs.
    fileprivate func jump(before position: Int) -> Duration {
        jumps.reversed().reduce(.zero) { sum, jump in
            time(jump.position) + jump.duration == time(position) - sum ? sum + jump.duration : sum
        }
    }

    /// How often the app had emptied a client before the time of a position.
    fileprivate func emptied(_ life: Life, before position: Int) -> Int {
        emptyings.last { $0.life == life && elapsed(from: $0.position, to: position) > .zero }?.generation ?? 0
    }

    /// Whether the network came back in an interval.
    func hasReconnected(from first: Int, to last: Int) -> Bool {
        reconnections.contains { first < $0 && time($0) <= time(last) }
    }
}
