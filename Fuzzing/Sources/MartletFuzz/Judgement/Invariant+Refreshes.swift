import Martlet
import MartletTesting

// MARK: - The refresh token

extension Invariant {
    static let oneRefreshAtATime = Invariant(rule: "No refresh token is in two concurrent refreshes.") { facts in
        for (index, send) in facts.sends.enumerated() {
            for other in facts.sends[..<index] where other.token == send.token && other.end > send.position {
                if other.life != send.life,
                    facts.store.hasLockTrouble(send, before: send.position)
                        || facts.store.hasLockTrouble(other, before: send.position)
                {
                    continue
                }
                return "refresh \(send.number) sent \(send.token.text) while refresh \(other.number) was sending it"
            }
        }
        return nil
    }

    static let spentTokensAreNotResent = Invariant(
        rule: "A refresh token that is known to be spent is not sent again, except within the grace period."
    ) { facts in
        for send in facts.sends {
            guard let known = facts.knownSpentPosition(send) else { continue }
            if let spent = facts.spentPosition(send), facts.script.grace > .zero,
                facts.time(send.position) - facts.time(spent) <= facts.script.grace
            {
                continue
            }
            return "refresh \(send.number) sent \(send.token.text), whose successor has been known since "
                + "\(facts.time(known).text)"
        }
        return nil
    }

    static let lostLocksSpendNothing = Invariant(
        rule: "A process whose lock another one has taken over sends no token before it requests the lock again."
    ) { facts in
        for send in facts.sends {
            guard let loss = facts.takeover(of: send.life, before: send.decidedAt),
                // The process may have looked at its lock at the same moment.
                facts.elapsed(from: loss, to: send.decidedAt - 1) > .zero
            else { continue }
            return "refresh \(send.number) sent \(send.token.text) after the lock had been taken over at "
                + "\(facts.time(loss).text)"
        }
        return nil
    }

    static let refusedTokensAreNotResent = Invariant(
        rule: "A process does not send a token again that the server has refused."
    ) { facts in
        for send in facts.sends {
            let former = facts.sends.last {
                $0.life == send.life && $0.token == send.token && $0.refused != nil && $0.isResultKnown
                    && $0.end < send.decidedAt
            }
            guard let former,
                // The refresher may have worked before it sent the token, and used up the time.
                !facts.hasTimedOut(former),
                // If the store or its lock does not let the process confirm the refusal, it asks the server once more.
                !facts.hasTrouble(send.life, from: former.end, to: send.decidedAt),
                !facts.store.hasLockTrouble(former, before: send.decidedAt),
                !facts.hasFailedToLock(send.life, from: former.end, to: send.decidedAt),
                !facts.isReset(send.life, from: former.end, to: send.decidedAt)
            else { continue }
            return "refresh \(send.number) sent \(send.token.text), which the server had refused"
        }
        return nil
    }

    static let journalsComeFirst = Invariant(
        rule: "A refresh token is sent only after the record notes it, unless the disk or its lock fails."
    ) { facts in
        for send in facts.sends {
            let journals = facts.store.journals(of: send.token, before: send.decidedAt)
            if journals.contains(where: { !$0.hasFailed && ($0.completed ?? .max) < send.decidedAt }) { continue }
            let start = facts.events.last { position, life, event in
                guard life == send.life, position < send.decidedAt, case .refreshStarted(let stamp, _) = event
                else { return false }
                return stamp.rotation == send.token.number && facts.family(of: stamp.session) == send.token.family
            }
            // The start may be reported after the store was asked, at the same moment or after a jump of the clock.
            let first = start.map { start in
                facts.positions(since: facts.time(start.position) - facts.jump(before: start.position)).lowerBound
            }
            if facts.hasTrouble(send.life, from: first ?? send.prepared, to: send.decidedAt) { continue }
            // Another process may have removed the journal of a process that holds no lock.
            if facts.store.sentWithoutLock(send) { continue }
            return "refresh \(send.number) sent \(send.token.text), which the record did not note"
        }
        return nil
    }

    static let reuseHasACause = Invariant(
        rule: "The server receives no spent token without a crash, a lost response, a lost lock or a disk failure."
    ) { facts in
        for send in facts.sends where send.refused?.reason == .spent && !facts.isExcused(send) {
            return "refresh \(send.number) sent \(send.token.text), which was spent, without a cause"
        }
        return nil
    }

    static let lateRejectionsStartNoRefresh = Invariant(
        rule: "A rejection of an older access token starts no refresh, because there is a newer one already."
    ) { facts in
        for (position, life, event) in facts.events {
            guard case .refreshStarted(let stamp, .rejected) = event, let family = facts.family(of: stamp.session)
            else { continue }
            // The server and the client count rotations in the same way here.
            let token = TokenName(family: family, number: stamp.rotation)
            let isRejected = facts.requests.contains {
                $0.position < position && $0.exchange.life == life && $0.exchange.token == token
                    && $0.exchange.status == 401 && facts.allowsRefresh($0.exchange.call)
            }
            if !isRejected { return "process \(life.process) refreshes \(token.text) as rejected, but it was not" }
        }
        return nil
    }

    static let refreshesHaveACaller = Invariant(
        rule: "A call that allows no refresh causes none, waits for none, and does not fail because of one."
    ) { facts in
        for (position, life, event) in facts.events where position < facts.repaired {
            guard case .refreshStarted = event, !facts.isAskedFor(at: position, in: life) else { continue }
            return "process \(life.process) started a refresh at \(facts.time(position).text) that no caller asked for"
        }
        for call in facts.calls where !facts.allowsRefresh(call.number) {
            // If the app uses only saved tokens, unsaved tokens are withheld from every call.
            guard case .failed(.refreshFailed(_, let failure, _))? = call.response?.reply, failure.kind != .notSaved
            else { continue }
            return "call \(call.number) failed because of a refresh, although it allows none"
        }
        return facts.delayedCall.map { "call \($0) was not sent at once, although it waits for no refresh" }
    }

    static let refreshesStartEarly = Invariant(
        rule: "A call that uses a token in the last tenth of its life, or in its last minute, starts a refresh."
    ) { facts in
        guard let seconds = facts.script.lifetime else { return nil }
        let lifetime = Duration.seconds(seconds)
        let leeway = min(SessionPolicy().maximumLeeway, lifetime / 10)
        for call in facts.calls where call.kind == .token {
            guard case (let end, .token(let token))? = call.response, call.held == token.family,
                let obtained = facts.obtainedAt(token, before: end),
                !facts.looksYounger(token, in: call.life, before: end),
                facts.time(call.position) > obtained + lifetime - leeway,
                // A process that is killed reports nothing more.
                facts.store.deaths[call.life].map({ facts.time($0) > facts.time(end) }) ?? true
            else { continue }
            let isStarted = facts.events.contains { position, life, event in
                guard life == call.life, facts.holds(position, at: end) else { return false }
                let stamp: SessionStamp
                switch event {
                case .refreshStarted(let former, _): stamp = former
                // A call that waited for the token gets it even if the store saved it only near its expiry.
                case .refreshSucceeded(let new) where position > call.position: stamp = new
                default: return false
                }
                return stamp.rotation == token.number && facts.family(of: stamp.session) == token.family
            }
            if !isStarted { return "call \(call.number) got \(token.text) near its expiry, and started no refresh" }
        }
        return nil
    }

    static let lostRotationHasACause = Invariant(rule: "A rotation is lost only after a lost response or a crash.") {
        facts in
        for (position, life, family, reason) in facts.expiries where reason == .rotationLost {
            // The end of a session that another process has started since then ends this session too.
            let followers = facts.sends.filter {
                $0.life != life && facts.isFollowed(family, by: $0.token.family)
                    && facts.hasReadExpiry(of: family, in: life, before: position)
            }
            let families = Set(followers.map(\.token.family)).union([family])
            let refusals = facts.sends.filter {
                families.contains($0.token.family) && ($0.refused?.position ?? .max) < position
            }
            let earlier = facts.sends.filter { $0.position < position }
            let hasCause = refusals.contains { refusal in
                earlier.contains { facts.isInDoubt(refusal.token, because: $0, at: position) }
                    || facts.isJournaled(refusal, in: life, at: position)
                    || facts.store.lostLockAfterJournal(of: refusal)
            }
            if hasCause { continue }
            return "process \(life.process) lost a rotation of session \(family) without a cause"
        }
        return nil
    }

    static let lostRotationIsReported = Invariant(
        rule: "If a token was spent because of a crash or a lost response, the session expires with rotationLost."
    ) { facts in
        for (position, life, family, reason) in facts.expiries where reason != .rotationLost {
            let sends = facts.sends.filter {
                $0.life == life && $0.token.family == family && $0.position < position
            }
            // A refresher that ignores its cancellation may send an earlier token after the newest one.
            let newest = sends.map(\.token.number).max()
            guard let refusal = sends.last(where: { $0.token.number == newest }), let refused = refusal.refused,
                refused.reason == .spent, let spender = facts.spender(of: refusal)
            else { continue }
            // The first process that expired the session left its reason in the mark.
            let isAdopted = facts.store.changes.contains {
                $0.position < position && $0.life != life && $0.old?.family == family && $0.new == nil
            }
            // So did one that has expired a later session, if the process has read only that mark.
            if isAdopted || facts.hasReadExpiry(of: family, in: life, before: position) { continue }
            // The journal was not written or not read.
            if facts.hasTrouble(spender.life, from: spender.prepared, to: spender.position)
                || facts.hasTrouble(life, from: refusal.prepared, to: refused.position)
                || facts.store.hasLockTrouble(spender, before: position)
                || facts.store.sentWithoutLock(refusal)
            {
                continue
            }
            return "process \(life.process) reported \"\(reason)\" for session \(family), whose token was spent"
        }
        return nil
    }
}

extension Invariant {
    static let receivedTokensAreKept = Invariant(
        rule: "New tokens that a process has received are stored or revoked, even if they are late."
    ) { facts in
        for send in facts.sends {
            guard let committed = send.committed, let delivered = send.delivered, committed < delivered,
                send.brokeOff == nil, !facts.mayDropTokens(of: send, since: delivered),
                // A refresher that heeds its cancellation returns at once, without the tokens.
                send.abandoned.map({ facts.time($0) < facts.time(delivered) }) ?? true
            else { continue }
            let isKept = facts.store.durable.keys.contains {
                $0.family == send.token.family && $0.number > send.token.number
            }
            if isKept || facts.isRevoked(send.token.family) { continue }
            return "process \(send.life.process) dropped \(send.token.next.text), which refresh \(send.number) returned"
        }
        return nil
    }
}

// MARK: - Backoff and budget

extension Invariant {
    static let backoffIsKept = Invariant(
        rule: "After a failed refresh, the server gets the token again only after the backoff or its Retry-After."
    ) { facts in
        for (index, failed) in facts.sends.enumerated() {
            guard let delivered = failed.delivered, failed.end == delivered, !failed.isLate,
                let wait = failed.retryAfter.map({ min($0, .seconds(900)) })
            else { continue }
            for next in facts.sends[(index + 1)...]
            where next.life == failed.life && next.token == failed.token && next.position > delivered {
                let pause = facts.time(next.position) - facts.time(delivered)
                if pause >= wait || facts.isReset(failed.life, from: delivered, to: next.position) { continue }
                return "refresh \(next.number) sent \(next.token.text) \(pause.text) after refresh \(failed.number), "
                    + "which had to wait \(wait.text)"
            }
        }
        for (_, life, event) in facts.events {
            guard case .refreshFailed(_, let failure, let backoff) = event else { continue }
            switch failure.kind {
            case .connection where !failure.mayHaveSpentToken && backoff > .seconds(1):
                return "process \(life.process) waits \(backoff.text) for a server that it did not reach"
            case .status where backoff <= .zero, .timedOut where backoff <= .zero && failure.mayHaveSpentToken:
                return "process \(life.process) may ask a server again at once that has failed"
            default: continue
            }
        }
        return facts.earlyRefresh
    }

    static let backoffIsBounded = Invariant(
        rule:
            "A backoff is at most 1 s, then 2 s, and so on up to 60 s, unless the server asks for more; offline, it is at most 1 s."
    ) { facts in
        let policy = SessionPolicy()
        var failures: [Life: Int] = [:]
        for (_, life, event) in facts.events {
            if event.bringsTokens { failures[life] = 0 }
            guard case .refreshFailed(_, let failure, let backoff) = event else { continue }
            var limit = policy.firstBackoff
            if failure.kind != .offline {
                let earlier = failures[life] ?? 0
                failures[life] = earlier + 1
                limit = min(policy.maximumBackoff, policy.firstBackoff * (1 << min(earlier, 6)))
            }
            if let asked = failure.retryAfter, asked > .zero { limit = min(asked, policy.maximumRetryAfter) }
            if backoff > limit {
                return "process \(life.process) waits \(backoff.text) after a failure, and not at most \(limit.text)"
            }
        }
        return nil
    }

    static let nextUserIsNotHeldUp = Invariant(
        rule: "A refresh waits for the one before only while the store or its lock keeps that waiting."
    ) { facts in
        for (position, life, event) in facts.events {
            guard case .storeLockFailed(let error) = event, error.description.contains("the previous refresh") else {
                continue
            }
            let start = facts.positions(since: facts.time(position) - facts.jump(before: position) - .seconds(60))
                .lowerBound
            // The time limit of the wait may have passed in a jump of the clock.
            if facts.hasTrouble(life, from: start, to: position) || facts.waitsForLock(life, at: position)
                || facts.jump(before: position) >= .seconds(10)
            {
                continue
            }
            return "process \(life.process) waited for an earlier refresh, although the store was well"
        }
        return nil
    }

    static let budgetIsKept = Invariant(
        rule: "The server gets at most five wasteful refreshes of a session from one process within 30 seconds."
    ) { facts in
        var starts: [Life: [(at: Duration, family: Int, redeemedAt: Duration)]] = [:]
        for send in facts.sends {
            guard !send.isUnsent, let (at, redeemedAt) = facts.waste(send) else { continue }
            // A session that has ended and is found in the store again has a new budget.
            let end = facts.lastEnd(of: send.token.family, in: send.life, before: send.position)
            let earlier = (starts[send.life] ?? []).filter {
                $0.family == send.token.family && at - $0.at < .seconds(30) && $0.at != at && $0.at > end
                    && $0.redeemedAt > at
            }
            if Set(earlier.map(\.at)).count >= 5 {
                return "refresh \(send.number) is the sixth wasteful one within 30 s"
            }
            starts[send.life, default: []].append((at, send.token.family, redeemedAt))
        }
        return nil
    }
}

extension Facts {
    /// Whether the time limit of a refresh expired at the moment of its response.
    fileprivate func hasTimedOut(_ send: Send) -> Bool {
        events.contains { position, life, event in
            guard life == send.life, time(position) == time(send.end),
                case .refreshFailed(let stamp, let failure, _) = event
            else { return false }
            return failure.kind == .timedOut && stamp.rotation == send.token.number
                && family(of: stamp.session) == send.token.family
        }
    }

    /// Whether a process may have dropped the tokens that it received at a position: it was killed before it could have
    /// stored or revoked them, or the server had ended their session, as far as the process knew.
    fileprivate func mayDropTokens(of send: Send, since delivered: Int) -> Bool {
        let write = store.operations.first { $0.life == send.life && $0.isUpdate && $0.requested > delivered }
        let hadTrouble = hasTrouble(send.life, from: delivered, to: write?.completed ?? history.entries.count - 1)
        if isRefused(send.token.family, before: hadTrouble ? .max : delivered) { return true }
        guard let death = store.deaths[send.life] else { return false }
        // The store answers within 10 s, and an attempt to revoke tokens takes 30 s.
        return hadTrouble || elapsed(from: delivered, to: death) <= .seconds(45)
    }

    /// Whether a process has revoked a session, or has tried to.
    fileprivate func isRevoked(_ family: Int) -> Bool {
        history.entries.contains { entry in
            switch entry.what {
            case .revokes(_, family), .missesRevocation(_, family): true
            default: false
            }
        }
    }

    /// A refresh that was sent during a backoff that its process had announced, for any failure. A process may report a
    /// failure after the clock has jumped.
    fileprivate var earlyRefresh: String? {
        for (position, life, event) in events {
            guard case .refreshFailed(let stamp, let failure, let backoff) = event,
                let family = family(of: stamp.session)
            else { continue }
            let token = TokenName(family: family, number: stamp.rotation)
            let failedAt = time(position) - jump(before: position)
            guard let next = sends.first(where: { $0.life == life && $0.token == token && $0.decidedAt > position }),
                time(next.position) < failedAt + backoff, !isReset(life, from: position, to: next.position),
                !(failure.mayBeOfNetwork && hasReconnected(from: position, to: next.position))
            else { continue }
            return "refresh \(next.number) sent \(token.text) at \(time(next.position).text), during the backoff of "
                + "\(backoff.text) that began at \(failedAt.text)"
        }
        return nil
    }

    /// The positions from a time on.
    fileprivate func positions(since time: Duration) -> PartialRangeFrom<Int> {
        (history.entries.indices.first { self.time($0) >= time } ?? history.entries.count)...
    }

    /// The position at which another process took over the lock of this one, if this one has not requested it again.
    fileprivate func takeover(of life: Life, before position: Int) -> Int? {
        for index in (0..<position).reversed() {
            guard case .disk(let other, let event) = history.entries[index].what else { continue }
            switch event {
            case .tookOverLock(let name) where other != life && Life(named: name) == life: return index
            case .requested(.lock), .locked, .tookOverLock, .failed(.lock, _, _), .unlocked:
                if other == life { return nil }
            default: continue
            }
        }
        return nil
    }

    /// Whether a process reported in an interval that it could not acquire the lock.
    fileprivate func hasFailedToLock(_ life: Life, from first: Int, to last: Int) -> Bool {
        events.contains { position, other, event in
            guard other == life, first < position, position < last, case .storeLockFailed = event else { return false }
            return true
        }
    }

    /// Whether a process has requested the lock and has not got it before a position.
    fileprivate func waitsForLock(_ life: Life, at position: Int) -> Bool {
        for entry in history.entries[..<position].reversed() {
            guard case .disk(life, let event) = entry.what else { continue }
            switch event {
            case .requested(.lock): return true
            case .locked, .tookOverLock, .unlocked, .failed(.lock, _, _): return false
            default: continue
            }
        }
        return false
    }

    /// Whether a call that allows a refresh was in progress when a process reported one. The call may have returned
    /// just before the report, at the same moment or before the clock jumped.
    fileprivate func isAskedFor(at position: Int, in life: Life) -> Bool {
        let earliest = time(position) - jump(before: position)
        return calls.contains { call in
            guard call.life == life, call.position < position, allowsRefresh(call.number) else { return false }
            switch call.kind {
            case .request(let plan) where plan.authentication == .none: return false
            case .signIn, .signOut, .adoption, .plain, .account: return false
            default: return call.response.map { time($0.position) >= earliest } ?? true
            }
        }
    }

    /// A call that allows no refresh and was sent late, although it had nothing else to wait for.
    fileprivate var delayedCall: Int? {
        guard script.slots == nil, script.interceptor == .none, !script.habits.hasOutages else { return nil }
        var seen: Set<Int> = []
        let first = requests.first { position, exchange in
            guard !allowsRefresh(exchange.call), seen.insert(exchange.call).inserted, let call = call(exchange.call)
            else { return false }
            // An event stream opens a new connection after the pause if the tokens were withheld.
            return call.held != nil && changes(in: call.life, at: call.position).isEmpty
                && !isWithheld(in: call.life, at: call.position)
                && elapsed(from: call.position, to: position) > .zero
        }
        return first?.exchange.call
    }

    /// Whether a process took its session from the store, which ends a backoff.
    fileprivate func isReset(_ life: Life, from first: Int, to last: Int) -> Bool {
        events.contains { position, other, event in
            guard other == life, first < position, time(position) <= time(last) else { return false }
            switch event {
            case .adopted, .signedIn, .restored: return true
            default: return false
            }
        }
    }

    /// Whether a refresh leaves it in doubt whether the server has replaced a token: the token that it sent, or the
    /// next one, which another process may have sent if this one had lost the lock or released it after a time limit.
    fileprivate func isInDoubt(_ token: TokenName, because send: Send, at position: Int) -> Bool {
        let hasLockTrouble = store.hasLockTrouble(send, before: position)
        if send.token.next == token {
            return hasLockTrouble || send.abandoned != nil && send.committed != nil && send.brokeOff == nil
        }
        guard send.token == token else { return false }
        if send.isKnownUnsent { return hasLockTrouble || hasTimedOut(send) || !isJournalRemoved(after: send) }
        return hasLockTrouble || !send.isResultKnown || isUnsaved(send)
    }

    /// Whether a process could remove the journal of a refresh that has not left the device.
    private func isJournalRemoved(after send: Send) -> Bool {
        let removal = store.operations.first { $0.life == send.life && $0.isUpdate && $0.requested > send.end }
        guard let removal, let completed = removal.completed else { return false }
        return !hasTrouble(send.life, from: removal.requested, to: completed)
    }

    /// Whether the record had a journal, which says that a refresh is in progress, before a refused refresh wrote its
    /// own. A journal remains if its process died or signed out before it sent anything, or if a slow disk wrote it
    /// after the process had stopped waiting.
    fileprivate func isJournaled(_ refusal: Send, in life: Life, at position: Int) -> Bool {
        store.journals(of: refusal.token, before: refusal.decidedAt).contains {
            $0.life != life || hasTrouble(life, from: $0.requested, to: $0.completed ?? position)
                || hasTimedOut(after: $0)
        }
    }

    /// Whether the clock jumped past the time limit of a refresh that was about to send its token.
    fileprivate func hasTimedOut(after journal: StoreHistory.Operation) -> Bool {
        guard let completed = journal.completed else { return false }
        return jumps.contains {
            $0.position > completed && time($0.position) == time(completed) && $0.duration >= script.requestLimit
        }
    }

    /// The time at which a process last considered a session ended.
    fileprivate func lastEnd(of family: Int, in life: Life, before last: Int) -> Duration {
        let end = events.last { position, other, event in
            guard position < last, other == life else { return false }
            switch event {
            case .expired(let session, _), .signedOutElsewhere(let session?): return self.family(of: session) == family
            default: return false
            }
        }
        return end.map { time($0.position) } ?? .seconds(-1)
    }

    /// A refresh of a token that had not reached half of its lifetime, or had served no other request: the time at
    /// which it started, and the time at which a call that it was for was accepted.
    fileprivate func waste(_ send: Send) -> (start: Duration, redeemedAt: Duration)? {
        let never = Duration.seconds(Int64.max)
        let starts = events.compactMap { position, life, event -> (at: Duration, SessionEvent.RefreshReason)? in
            guard life == send.life, case .refreshStarted(let stamp, let reason) = event,
                stamp.rotation == send.token.number, family(of: stamp.session) == send.token.family,
                time(position) <= time(send.position)
            else { return nil }
            return (time(position), reason)
        }
        guard let (start, reason) = starts.last,
            // The process may have looked at the clock before it jumped.
            !jumps.contains(where: { time($0.position) + $0.duration == start })
        else { return nil }
        guard let lifetime = script.lifetime else {
            let hasServed = requests.contains {
                $0.exchange.life == send.life && $0.exchange.token == send.token
                    && (200..<400).contains($0.exchange.status ?? 0)
            }
            guard hasServed else { return (start, never) }
            return reason == .rejected ? (start, acceptance(insteadOf: send) ?? never) : nil
        }
        // No process knows the age of a former token.
        if let former, send.token == TokenName(family: former.family, number: 0) { return nil }
        guard let issued = issuedAt(send.token),
            !looksOlder(send.token, in: send.life, before: send.position)
        else { return nil }
        return start - issued < .seconds(lifetime) / 2 ? (start, never) : nil
    }

    /// The time at which a call whose token had been rejected was accepted with a newer one.
    private func acceptance(insteadOf send: Send) -> Duration? {
        let rejected = Set(
            requests.filter {
                $0.exchange.life == send.life && $0.exchange.token == send.token && $0.exchange.status == 401
            }.map(\.exchange.call))
        // The requests of downloads and shared resources have numbers of their own, so each may repeat an earlier one.
        let isShared = rejected.contains { $0 < 0 }
        return requests.compactMap { _, exchange in
            guard let token = exchange.token, rejected.contains(exchange.call) || isShared && exchange.call < 0,
                exchange.life == send.life, token.family == send.token.family,
                token.number > send.token.number, (200..<400).contains(exchange.status ?? 0)
            else { return nil }
            return exchange.answeredAt
        }.min()
    }

    /// The time at which a refresh ended whose start a process reported at a position. It may have ended before the
    /// clock jumped, and been reported afterwards.
    func endOfRefresh(after start: Int, in life: Life) -> (earliest: Duration, reported: Duration) {
        let started = events.first { $0.position == start }?.event
        let end = events.first { position, other, event in
            guard position > start, other == life else { return false }
            switch event {
            // The refresh of an earlier session may be given up later.
            case .refreshDiscarded(let stamp):
                if case .refreshStarted(stamp, _)? = started { return true }
                return false
            case .refreshSucceeded, .refreshFailed, .adopted, .expired, .signedOut, .signedOutElsewhere, .signedIn,
                .restored:
                return true
            default: return false
            }
        }
        // A process that is killed reports nothing more.
        guard let end = [end?.position, store.deaths[life]].compactMap(\.self).min() else {
            return (.seconds(Int64.max), .seconds(Int64.max))
        }
        return (time(end) - jump(before: end), time(end))
    }
}

extension RefreshError {
    /// Whether the return of a network ends the backoff.
    fileprivate var mayBeOfNetwork: Bool {
        switch kind {
        case .offline, .connection, .timedOut: retryAfter == nil
        default: false
        }
    }
}
