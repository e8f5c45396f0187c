import Martlet
import MartletTesting

// MARK: - The owner of a token

extension Invariant {
    static let callersGetTheirToken = Invariant(
        rule: "A caller that asks for a token gets one of the session that was current at its first line."
    ) { facts in
        for call in facts.calls where call.kind == .token || call.kind == .renewal {
            guard case .token(let token)? = call.response?.reply else { continue }
            guard let owners = facts.owners(of: call, .ifSignedIn), !owners.contains(token.family) else { continue }
            return "call \(call.number) got \(token.text), although it belonged to \(owners.sorted())"
        }
        return nil
    }

    static let callsFindTheirSession = Invariant(
        rule: "A call that began before the store was read is not sent without a token if the store had a session."
    ) { facts in
        for (position, exchange) in facts.requests where exchange.token == nil && !exchange.isElsewhere {
            guard let call = facts.call(exchange.call), call.situation == .unknown, case .request(let plan) = call.kind,
                plan.authentication == .ifSignedIn,
                let (read, stamp) = facts.firstReading(in: call.life, after: call.position), let stamp, read < position,
                // The call may have begun a little later than its caller says.
                facts.elapsed(from: call.position, to: read) > .zero
            else { continue }
            return "request \(exchange.call) carried no token at \(facts.time(position).text), although the store had "
                + "session \(facts.family(of: stamp.session) ?? 0)"
        }
        return nil
    }

    static let expiredTokensAreNotSent = Invariant(
        rule: "No request carries a token after its stated expiry."
    ) { facts in
        guard let lifetime = facts.script.lifetime.map({ Duration.seconds($0) }) else { return nil }
        for (position, exchange) in facts.requests {
            guard let token = exchange.token, facts.allowsRefresh(exchange.call),
                let obtained = facts.obtainedAt(token, before: position),
                !facts.looksYounger(token, in: exchange.life, before: position)
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
            guard case .shared(let resource) = call.kind, case .content(let family)? = call.response?.reply,
                let owners = facts.owners(of: call, resource.authentication), !owners.contains(family)
            else { continue }
            return "call \(call.number) got the response for session \(family), although it belonged to \(owners)"
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
        let endings =
            facts.endings.map { ($0.life, $0.family, $0.effect, Int.max) } + facts.reportedEndings
            + facts.reportedSwitches
        for (life, family, end, back) in endings {
            let late = facts.requests.first { position, exchange in
                exchange.life == life && exchange.cookie == family && position < back
                    && facts.elapsed(from: end, to: position) > .zero
            }
            guard let late else { continue }
            return "request \(late.exchange.call) carried the cookie of session \(family) at "
                + "\(facts.time(late.position).text), which had ended at \(facts.time(end).text)"
        }
        return nil
    }

    static let downloadsStayWithTheirUser = Invariant(
        rule: "A downloaded file is complete, and has no byte that the server has made for another user."
    ) { facts in
        for call in facts.calls {
            guard case .download(let requirement) = call.kind,
                case (let position, .film(let families, let size, _))? = call.response
            else { continue }
            if size != SimulatedServer.filmLength { return "call \(call.number) got a file of \(size) bytes" }
            // The response to a request without a token contains no user's bytes. A kept part still belongs to its
            // user.
            let users = families.subtracting([0])
            if users.count > 1 { return "call \(call.number) got a file for sessions \(users.sorted())" }
            let account = requirement == .none ? .ifSignedIn : requirement
            guard let owners = facts.owners(of: call, account), let user = users.first, !owners.contains(user)
            else { continue }
            // All downloads have one path, and another one may replace the file before this one returns. Without an
            // interceptor, that is at the same moment.
            let isReplaced = facts.calls.contains { other in
                guard case .download = other.kind, other.number != call.number, other.end < .max else { return false }
                if facts.script.interceptor != .none { return other.position < position && other.end > call.position }
                return facts.elapsed(from: other.end, to: position) == .zero
                    && facts.elapsed(from: position, to: other.end) == .zero
            }
            if isReplaced { continue }
            return "call \(call.number) got the file of session \(user), although it belonged to \(owners)"
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

extension Invariant {
    static let guestsGiveWay = Invariant(
        rule: "A guest whom a call registers does not replace a user who has signed in since the closure began."
    ) { facts in
        for guest in facts.calls where guest.isAutomatic {
            guard let (family, end) = facts.start(by: guest) else { continue }
            let user = facts.calls.last { call in
                guard call.life == guest.life, !call.isAutomatic, call.startsSession,
                    case (let position, .signedIn)? = call.response
                else { return false }
                return guest.position < position && position < end
            }
            guard let user, let start = user.response?.position,
                !facts.hasSignedOut(guest.life, from: start, to: end)
            else { continue }
            return "session \(family) of a guest has replaced that of call \(user.number)"
        }
        return nil
    }

    static let signOutsEndSignIns = Invariant(
        rule: "A login, or the registration of a guest, does not sign in after a sign-out that came later than it."
    ) { facts in
        for signIn in facts.calls where signIn.kind == .login || signIn.isAutomatic {
            guard let (family, end) = facts.start(by: signIn) else { continue }
            let signOut = facts.calls.first {
                $0.life == signIn.life && $0.kind == .signOut && signIn.position < $0.position
                    && (signIn.isAutomatic || facts.elapsed(from: signIn.position, to: $0.position) > .zero)
                    && $0.position < signIn.arrived ?? 0 && facts.elapsed(from: $0.position, to: end) > .zero
            }
            guard let signOut else { continue }
            return "session \(family) of call \(signIn.number) has started, although call \(signOut.number) has "
                + "signed out since"
        }
        return nil
    }

    static let oneGuestAtATime = Invariant(
        rule: "A process registers one guest at a time, for all calls that wait for one."
    ) { facts in
        let guests = facts.calls.filter(\.isAutomatic)
        for (index, guest) in guests.enumerated() {
            for other in guests[..<index] where other.life == guest.life && guest.position < other.end {
                return "call \(guest.number) registers a guest while call \(other.number) does"
            }
        }
        return nil
    }

    static let guestsSpareUnreadUsers = Invariant(
        rule: "A guest whom a call registers does not replace a user of another process that its own has not read."
    ) { facts in
        for change in facts.store.changes {
            guard let new = change.new, let guest = facts.start(of: new.family), guest.isAutomatic,
                let old = change.old, let user = facts.start(of: old.family), !user.isAutomatic,
                user.life != guest.life, change.life == guest.life,
                // A process that has read nothing cannot know what it replaces.
                facts.store.hasRead(guest.life, from: -1, to: guest.position),
                !facts.store.hasFound(old.family, guest.life, before: change.position),
                !facts.endings.contains(where: { $0.family == old.family && $0.position < change.position }),
                // A sign-out ends all earlier sign-ins, also those that its process has not read.
                !facts.calls.contains(where: {
                    $0.kind == .signOut && $0.position < change.position && facts.precedes(old.family, endOf: $0)
                }),
                !facts.isRefused(old.family, before: change.position)
            else { continue }
            return "session \(new.family) of a guest has replaced that of call \(user.number) at "
                + "\(facts.time(change.position).text)"
        }
        return nil
    }
}

extension Facts {
    /// The session that a sign-in has started, and the position at which it started. The call may return long after
    /// that: it waits for the store.
    fileprivate func start(by signIn: Call) -> (family: Int, position: Int)? {
        guard case (let returned, .signedIn(let family))? = signIn.response else { return nil }
        let reported = events.first { _, life, event in
            guard life == signIn.life, case .signedIn(let stamp) = event else { return false }
            return self.family(of: stamp.session) == family
        }
        return (family, min(reported?.position ?? returned, returned))
    }

    /// Whether a user of a process has signed out. An expired session does not count: its user is not replaced.
    fileprivate func hasSignedOut(_ life: Life, from start: Int, to end: Int) -> Bool {
        events.contains { position, own, event in
            guard own == life, start < position, position < end else { return false }
            switch event {
            case .signedOut, .signedOutElsewhere: return true
            default: return false
            }
        }
    }

    /// Whether a call waits for a guest's session, and keeps the one that is current then.
    func mayRegisterGuest(_ plan: RequestPlan, _ call: Call) -> Bool {
        script.habits.registersGuests && plan.authentication == .required && call.situation == .signedOut
    }

    /// The sessions that a call may belong to, with 0 for none; `nil` if they are not known.
    func owners(of call: Call, _ requirement: AuthenticationRequirement) -> Set<Int>? {
        if requirement == .none { return [0] }
        let registersGuest = script.habits.registersGuests && requirement == .required
        switch call.situation {
        case .session(let held): return [held]
        // The call belongs to the session that the process finds, even if that ends before the call gets a token.
        case .unknown:
            guard let family = restoredFamily(for: call), family != 0 || !registersGuest else { return nil }
            return [family]
        case .signedOut, .expired:
            // While a sign-in is being stored, its session is current but not yet reported.
            return registersGuest ? nil : startingSessions(in: call.life, at: call.position).union([0])
        }
    }

    /// The first reading of the store that a process reported after a position, and the session that it found.
    fileprivate func firstReading(in life: Life, after first: Int) -> (position: Int, stamp: SessionStamp?)? {
        for (position, other, event) in events where other == life && position > first {
            if case .restored(let stamp) = event { return (position, stamp) }
        }
        return nil
    }

    /// The session that a process found after it had begun a call without a known session, with 0 for none. `nil` if it
    /// reported nothing, or if a user signed in or out first.
    private func restoredFamily(for call: Call) -> Int? {
        let restored = events.first { position, life, event in
            guard life == call.life, position > call.position else { return false }
            switch event {
            case .restored, .storeRecovered: return true
            default: return false
            }
        }
        guard let restored else { return nil }
        let isChanged = calls.contains {
            $0.life == call.life && $0.kind.endsSessions && $0.position < restored.position
        }
        if isChanged { return nil }
        switch restored.event {
        case .restored(let stamp), .storeRecovered(let stamp): return stamp.map { family(of: $0.session) ?? -1 } ?? 0
        default: return nil
        }
    }

    /// Whether a refresher made the call. It must not wait for the token that the refresher is about to get.
    func isOfRefresher(_ number: Int) -> Bool {
        if case .request(let plan)? = call(number)?.kind { plan.kind == .refresher } else { false }
    }

    func isSignIn(_ number: Int) -> Bool { call(number)?.kind == .login }

    /// The latest time at which a process that sends a token can have received it.
    func obtainedAt(_ token: TokenName, before last: Int) -> Duration? {
        if token.number > 0 {
            return sends.filter { $0.token.next == token && $0.delivered ?? .max < last }.compactMap { send in
                send.hasWaitedUnread(in: self) ? time(send.position) : send.delivered.map(timeOfNotice)
            }.max()
        }
        if let former, token.family == former.family { return former.expiry == .stated ? .zero : nil }
        guard let start = start(of: token.family) else { return script.start == .fresh ? .zero : nil }
        guard case .login = start.kind else { return timeOfNotice(start.position) }
        return start.arrived.map(timeOfNotice)
    }

    /// The time at which a process may have noticed the event at a position, which is after the jumps of the clock that
    /// followed at once.
    private func timeOfNotice(_ position: Int) -> Duration {
        jumps.reduce(time(position)) { noticed, jump in
            jump.position > position && time(jump.position) == noticed ? noticed + jump.duration : noticed
        }
    }

    /// The time that the clock jumped to reach the time of a position. Jumps may follow each other before a task that
    /// is ready runs.
    func jump(before position: Int) -> Duration {
        jumps.reversed().reduce(.zero) { sum, jump in
            time(jump.position) + jump.duration == time(position) - sum ? sum + jump.duration : sum
        }
    }

    /// The number of times the app had emptied a client before the time of a position.
    fileprivate func emptied(_ life: Life, before position: Int) -> Int {
        emptyings.last { $0.life == life && elapsed(from: $0.position, to: position) > .zero }?.generation ?? 0
    }

    /// Whether the network came back in an interval. If it did at its first moment, the process may hear of that later
    /// in the same moment.
    func hasReconnected(from first: Int, to last: Int) -> Bool {
        reconnections.contains { (first < $0 || time($0) == time(first)) && time($0) <= time(last) }
    }
}

extension Facts.Send {
    /// Whether the process took the response although it came after the time limit: the device slept when it arrived.
    /// The tokens may be as old as their request.
    fileprivate func hasWaitedUnread(in facts: Facts) -> Bool {
        guard let delivered, abandoned == nil else { return false }
        return facts.time(delivered) - facts.time(position) > facts.script.requestLimit
    }
}
