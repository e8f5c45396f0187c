import MartletTesting

@testable import Martlet

// MARK: - While a choice is performed

extension World {
    /// Checks the rules before the process sends a refresh token.
    func willSend(_ token: TokenName) {
        tell("    sends \(token.text)")
        if server.exchanges.contains(where: { $0.token == token && !$0.isAbandoned }) {
            violate(.oneRefreshPerRotation, "\(token.text) is sent twice at the same time")
        }
        if rules[token.family].knownSpent.contains(token.number), !server.isWithinGrace(token) {
            violate(.spentTokensAreNotSent, "\(token.text) is sent although its successor is known")
        }
        if !isJournaled(token) {
            rules[token.family].unjournaled.insert(token.number)
            let stored = disk.record.flatMap { TokenName($0.tokens.refreshToken) }
            if !rules.hasStoreFailed, !disk.isDamaged, stored == token {
                violate(.journalsComeFirst, "\(token.text) is sent without a journal")
            }
        }
        if !hasLock, !disk.hasLockFailed { violate(.locksComeFirst, "\(token.text) is sent") }
    }

    private func isJournaled(_ token: TokenName) -> Bool {
        guard let record = disk.record, !disk.isDamaged else { return false }
        return record.unresolvedJournal != nil && TokenName(record.tokens.refreshToken) == token
    }

    /// Whether no other process may send a refresh token now.
    var hasLock: Bool {
        guard setting.isShared else { return true }
        return if case .process = disk.holder { true } else { false }
    }

    func revoked(_ tokens: Tokens) {
        guard let token = TokenName(tokens.accessToken) else { return }
        tell("    revokes \(token.text)")
        if token.family == visibleFamily, !rules[token.family].isEndedByUser {
            violate(.tokensInUseAreNotRevoked, "session \(token.family) is in use and its tokens are revoked")
        }
        if server[token.family].end == nil { server[token.family].end = .revoked }
    }

    /// Checks the rules before the process changes the record.
    func willCommit(_ update: StoreUpdate) {
        learnFromStore()
        let stored = disk.record.flatMap { TokenName($0.tokens.accessToken) }
        switch update {
        case .keep: break
        case .write(let record): willWrite(record, over: stored)
        case .mark: tell("    raises the mark")
        case .delete, .end:
            tell("    deletes \(stored?.text ?? "nothing")")
            checkLockOfRefusal()
            guard let stored, !rules[stored.family].isEndedByUser else { return }
            // Either of two concurrent sign-ins may replace the other.
            if rules.hasUserActed, let own = visibleFamily, own != stored.family,
                !rules[stored.family].startedBefore.contains(own)
            {
                return
            }
            // A sign-out of a process that has read nothing ends every session that is not later by the clock.
            if case .anything(let last)? = life.tokens.machine.ending?.signOut, let record = disk.record,
                record.position <= last
            {
                return
            }
            // It is not known which session a damaged record belongs to.
            if disk.isDamaged, rules.hasUserActed { return }
            if disk.isDamaged || !(rules[stored.family].isRefused || isRejectedForGood(stored.family)) {
                let rule: Rule = rules.hasUserActed ? .laterSignInsAreKept : .recordsAreNotLost
                violate(rule, "\(stored.text) is deleted without a reason")
            }
        }
    }

    private func willWrite(_ record: StoredSession, over stored: TokenName?) {
        guard let new = TokenName(record.tokens.accessToken) else { return }
        tell("    stores \(new.text)\(record.unresolvedJournal == nil ? "" : " with a journal")")
        if let old = disk.record, let stored, !disk.isDamaged {
            if old.id == record.id, record.rotation < old.rotation {
                violate(.recordsAreNotLost, "\(new.text) replaces \(stored.text), which is newer")
            }
            if old.id != record.id, rules[stored.family].startedBefore.contains(new.family) {
                violate(.laterSignInsAreKept, "\(new.text) replaces \(stored.text) of a later sign-in")
            }
        }
        rules.learn(record)
        rules.hasReportedFailure = false
        // Without the lock, another process may have sent the token that the new one replaces.
        if let stored, stored.family == new.family, stored.number < new.number {
            rules[new.family].isInDoubt = !hasLock
        }
    }

    /// Another process may be refreshing the tokens that the server has refused to this one.
    private func checkLockOfRefusal() {
        guard life.tokens.machine.session?.pendingExpiry != nil, !hasLock, !disk.hasLockFailed else { return }
        violate(.refusalsNeedTheLock, "a refusal is confirmed without the lock")
    }

    /// Learns that the tokens before the stored one are spent, because the process reads that record.
    private func learnFromStore() {
        guard case .found(let record) = disk.reading, let token = TokenName(record.tokens.refreshToken) else { return }
        for number in 0..<max(token.number, 0) { rules[token.family].knownSpent.insert(number) }
    }

    private func isRejectedForGood(_ family: Int) -> Bool {
        !setting.hasRefreshToken && !rules[family].rejected.isEmpty
    }
}

// MARK: - After a choice

extension World {
    /// The session that the state shows.
    var visibleFamily: Int? {
        guard case .signedIn(let session) = life.tokens.state else { return nil }
        return rules.learn(session)
    }

    /// The session of a call that is made now: that of the state, even while a sign-in is being saved. Zero if the
    /// state shows none, and `nil` if the store has not been read.
    var owner: Int? {
        switch life.tokens.state {
        case .signedOut, .expired: 0
        default: visibleFamily
        }
    }

    /// Whether the newest token that callers hold is still valid, so that each further caller must get a token at once.
    var hasValidToken: Bool {
        guard let token = life.held(.newest)?.name, token.family == visibleFamily,
            rules.startingFamily == nil, !life.waiting.contains(where: { $0.kind == .signOut }),
            !rules[token.family].rejected.contains(token.number), !rules[token.family].isEndedElsewhere
        else { return false }
        return server.expiry(of: token).map { clock.uptime < $0 } ?? true
    }

    func checkReplies() {
        let (replies, events) = (life.replies, life.events)
        life.replies = []
        life.events = []
        rules.gaveToken = false
        for (event, time) in events { check(event, at: time) }
        for returned in replies {
            tell("    \(returned.caller.kind) \(returned.reply.words)")
            check(returned)
        }
        checkState()
    }

    private func check(_ event: SessionEvent, at time: Duration) {
        tell("    event: \(event)")
        switch event {
        case .storeWriteFailed, .storeDeleteFailed: rules.hasReportedFailure = true
        case .tokenProbed:
            if let last = rules.lastProbe, time - last < .seconds(1) {
                violate(.probesAreRare, "two probes within a second")
            }
            rules.lastProbe = time
        case .refreshSucceeded, .adopted, .refreshDiscarded: refreshEnded(at: time)
        case .refreshStarted(let stamp, .forced), .refreshStarted(let stamp, .rejected):
            countEarlyRefresh(stamp, at: time)
        // A refresh that never reached the server uses no budget.
        case .refreshFailed(let stamp, let failure, _):
            refreshEnded(at: time)
            guard failure.neverReachedServer || failure.kind == .storage,
                let token = life.held.last(where: { $0.stamp == stamp })?.name
            else { return }
            _ = rules[token.family].earlyRefreshes.popLast()
        case .expired(let session, let reason):
            guard let family = rules.names[session] else { return }
            if rules[family].hasExpired { violate(.expiryIsReportedOnce, "session \(family) expires twice") }
            rules[family].hasExpired = true
            if !isTrue(reason, of: family) {
                violate(.expiryIsReportedOnce, "session \(family) expires for a wrong reason (\(reason))")
            }
        default: break
        }
    }

    /// The acceptance of a probe counts only during the refresh that the token's rejection has caused.
    private func refreshEnded(at time: Duration) {
        life.probe = nil
        rules.lastRefreshEnd = time
    }

    /// A refresh in the first half of a token's lifetime uses the budget.
    private func countEarlyRefresh(_ stamp: SessionStamp, at time: Duration) {
        guard let lifetime = setting.lifetime, let token = life.held.last(where: { $0.stamp == stamp })?.name,
            time - server[token.family].issuedAt[token.number] < lifetime / 2
        else { return }
        let policy = setting.policy
        let recent = rules[token.family].earlyRefreshes.filter { $0 + policy.refreshWindow > time }
        rules[token.family].earlyRefreshes = recent + [time]
        if recent.count >= policy.refreshBudget {
            violate(.refreshesAreBounded, "\(recent.count + 1) early refreshes within the window")
        }
    }

    private func isTrue(_ reason: ExpiryReason, of family: Int) -> Bool {
        // The server has refused the token because the user signed out in another process.
        if server[family].end == .signedOutElsewhere { return false }
        // The mark of another process says why it has ended the session.
        let isRefused = rules[family].isRefused || rules[family].isEndedElsewhere
        switch reason {
        case .noRefreshToken: return isRejectedForGood(family)
        case .rotationLost: return isRefused && rules[family].isInDoubt
        // A spent token is refused only if this process could not know that it was spent.
        case .refreshTokenRejected:
            return isRefused && (server[family].end != .reuse || rules[family].hasHiddenReuse)
        @unknown default: return false
        }
    }

    private func check(_ returned: Life.Returned) {
        let caller = returned.caller
        switch returned.reply {
        case .token(let token):
            rules.gaveToken = true
            check(token, for: caller, at: returned.time)
        case .probe(let token, let id):
            if rules.lastRefreshEnd.map({ $0 < returned.time }) ?? true { life.probe = (token, id) }
            check(token, for: caller, at: returned.time)
        case .signedIn(let session):
            guard let family = rules.learn(session) else { return }
            rules[family].hasStarted = true
            if family != caller.family { violate(.tokensOfTheOwnSession, "another session was signed in") }
        case .done:
            guard caller.kind == .signOut, let family = caller.family, !rules.hasSignOutTrouble,
                caller.task?.isCancelled != true
            else { return }
            if let record = disk.record, TokenName(record.tokens.accessToken)?.family == family {
                violate(.signOutsAreDone, "session \(family) is stored after the sign-out")
            }
        case .failure: break
        }
    }

    private func check(_ token: Life.Token, for caller: Life.Caller, at time: Duration) {
        let name = token.name
        if let family = caller.family, family != name.family {
            violate(.tokensOfTheOwnSession, "a caller of session \(family) gets \(name.text)")
        }
        if rules.overtakenFamily == name.family {
            violate(.noTokensOfEndedSessions, "a caller gets \(name.text), and its session has ended")
        }
        if setting.hasRefreshToken, let expiry = server.expiry(of: name), expiry <= time {
            violate(.noExpiredTokens, "a caller gets \(name.text), which has expired")
        }
        if let replaced = caller.replaced,
            replaced.stamp.session != token.stamp.session || replaced.stamp.rotation >= token.stamp.rotation
        {
            violate(.newerThanRejected, "a caller gets \(name.text) in place of \(replaced.name.text)")
        }
        if !rules[name.family].stored.contains(name.number), !rules.hasReportedFailure {
            violate(.storedBeforeVisible, "a caller gets \(name.text), which was not stored")
        }
    }

    private func checkState() {
        let now = visibleFamily
        if now == rules.startingFamily { rules.startingFamily = nil }
        guard now != rules.current else { return }
        tell("    state: \(life.tokens.state.words)")
        rules.startingFamily = nil
        // The refused token may have been older than the one that another process has stored.
        if let now, rules[now].isOver, !rules[now].isRefused {
            violate(.endedSessionsStayEnded, "session \(now), which has ended, is current again")
        }
        if let before = rules.current {
            rules[before].isOver = true
            let facts = rules[before]
            // A sign-in that could not be written yields to one that its process had not read.
            let hasGivenWay = facts.stored.isEmpty && now != nil
            if !facts.isEndedByUser, !facts.isEndedElsewhere, !facts.isRefused, !isRejectedForGood(before), !hasGivenWay
            {
                violate(.sessionsEndForAReason, "session \(before) has ended without a reason")
            }
        }
        rules.current = now
    }
}

extension SessionState {
    var words: String {
        switch self {
        case .signedIn(let session): "signed in as \(session.account.userID ?? "?")"
        default: "\(self)"
        }
    }
}
