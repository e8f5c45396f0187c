import Martlet
import MartletTesting

/// A rule that no schedule may violate.
struct Invariant: Sendable {
    let rule: String
    /// Returns the violation, or `nil` if the rule holds.
    let find: @Sendable (Facts) -> String?

    static let all = [
        everyCallReturns, cancelledAtOnce, oneRefreshAtATime, spentTokensAreNotResent, reuseHasACause,
        lateRejectionsStartNoRefresh, lostRotationHasACause, lostRotationIsReported, requestsKeepTheirSession,
        endedSessionsStayInvisible, endedSessionsAreNotStored, durableBeforeVisible, sessionsEndForAReason,
        stateMatchesStore,
    ]
}

// MARK: - Callers

extension Invariant {
    static let everyCallReturns = Invariant(rule: "Every call returns.") { facts in
        for call in facts.calls where call.response == nil && facts.deaths[call.life] == nil {
            return "call \(call.number) of process \(call.life.process) never returned"
        }
        return nil
    }

    static let cancelledAtOnce = Invariant(rule: "A cancelled call returns at once.") { facts in
        for call in facts.calls {
            guard let cancelled = call.cancelled, let response = call.response, cancelled < response.position,
                !facts.jumps.contains(where: { cancelled < $0 && $0 < response.position })
            else { continue }
            let late = facts.time(response.position) - facts.time(cancelled)
            if late > .zero { return "call \(call.number) returned \(late) after it was cancelled" }
        }
        return nil
    }

    static let requestsKeepTheirSession = Invariant(
        rule: "The attempts of a request carry tokens of one session only."
    ) { facts in
        var families: [Int: Int] = [:]
        for entry in facts.history.entries {
            guard case .request(_, let call, let token, _) = entry.what else { continue }
            if let family = families[call], family != token.family {
                return "request \(call) carried tokens of session \(family) and of session \(token.family)"
            }
            families[call] = token.family
        }
        return nil
    }
}

// MARK: - The refresh token

extension Invariant {
    static let oneRefreshAtATime = Invariant(rule: "No refresh token is in two concurrent refreshes.") { facts in
        for (index, send) in facts.sends.enumerated() {
            for other in facts.sends[..<index] where other.token == send.token && other.end > send.position {
                if other.life != send.life, facts.lockTrouble.contains(where: { $0 < send.position }) { continue }
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

    static let reuseHasACause = Invariant(
        rule: "The server receives no spent token without a crash, a lost response or a disk failure."
    ) { facts in
        for send in facts.sends where send.refused?.reason == .spent && !facts.isExcused(send) {
            return "refresh \(send.number) sent \(send.token.text), which was spent, without a cause"
        }
        return nil
    }

    static let lateRejectionsStartNoRefresh = Invariant(
        rule: "A rejection of an older access token starts no refresh, because there is a newer one already."
    ) { facts in
        var refused: Set<Refused> = []
        for entry in facts.history.entries {
            switch entry.what {
            case .request(let life, _, let token, false): refused.insert(Refused(life: life, token: token))
            case .event(let life, .refreshStarted(let stamp, .rejected)):
                guard let family = facts.family(of: stamp.session) else { continue }
                // The server and the client count rotations in the same way here.
                let token = TokenName(family: family, number: stamp.rotation)
                if refused.contains(Refused(life: life, token: token)) { continue }
                return "process \(life.process) refreshes \(token.text) as rejected, but it was not"
            default: break
            }
        }
        return nil
    }

    private struct Refused: Hashable {
        let life: Life
        let token: TokenName
    }

    static let lostRotationHasACause = Invariant(rule: "A rotation is lost only after a lost response or a crash.") {
        facts in
        for (position, life, family, reason) in facts.expiries where reason == .rotationLost {
            let cause = facts.sends.contains { send in
                send.token.family == family && send.position < position
                    && (!send.isResultKnown || facts.isUnsaved(send))
            }
            if cause || facts.lockTrouble.contains(where: { $0 < position }) { continue }
            // The journal says that a refresh is in progress. It remains in the record if its process died or signed
            // out before it sent anything, or if a slow disk wrote it after the process had stopped waiting.
            if facts.isJournaledElsewhere(family, by: life, before: position) || facts.isOverdue(life, at: position) {
                continue
            }
            return "process \(life.process) lost a rotation of session \(family) without a cause"
        }
        return nil
    }

    static let lostRotationIsReported = Invariant(
        rule: "If a token was spent because of a crash or a lost response, the session expires with rotationLost."
    ) { facts in
        guard facts.diskTrouble.isEmpty, facts.lockTrouble.isEmpty else { return nil }
        for (position, life, family, reason) in facts.expiries where reason != .rotationLost {
            let refusal = facts.sends.last { $0.life == life && $0.token.family == family && $0.position < position }
            if let refusal, refusal.refused?.reason == .spent, !facts.isAnyProcessOverdue(at: position) {
                return "process \(life.process) reported \"\(reason)\" for session \(family), whose token was spent"
            }
        }
        return nil
    }
}

// MARK: - Sessions

extension Invariant {
    static let endedSessionsStayInvisible = Invariant(
        rule: "After a sign-out or another sign-in, no call gets a token of the previous session."
    ) { facts in
        if facts.reportedFalseFailure, facts.script.processes.count > 1 { return nil }
        for ending in facts.endings {
            for (life, family, asked, position) in facts.handouts
            where life == ending.life && family == ending.family && asked > ending.position {
                return
                    "at \(facts.time(position).text) process \(life.process) handed out a token of session \(family), "
                    + "which had ended there at \(facts.time(ending.position).text)"
            }
        }
        return nil
    }

    static let endedSessionsAreNotStored = Invariant(rule: "No signed-out session is stored at the end.") { facts in
        if facts.reportedFalseFailure, facts.script.processes.count > 1 { return nil }
        guard case .settles(_, _, _, let stored?) = facts.history.entries.last?.what,
            let family = facts.family(of: stored.id)
        else { return nil }
        for ending in facts.endings
        where ending.family == family && facts.deaths[ending.life].map({ $0 > ending.position }) != true {
            // Another process may keep a session that this one has only left for another session.
            if !ending.isSignOut, facts.script.processes.count > 1 { continue }
            return "session \(family) is stored, although process \(ending.life.process) ended it "
                + "at \(facts.time(ending.position).text)"
        }
        return nil
    }

    static let durableBeforeVisible = Invariant(
        rule: "A token is stored before any call gets it, unless the disk has failed."
    ) { facts in
        for (life, token, position) in facts.visible {
            if let written = facts.durable[token], written < position { continue }
            if token.number == 0, facts.script.start != .nothing, token.family == 1 { continue }
            if facts.diskTrouble.contains(where: { $0.life == life && $0.position < position }) { continue }
            if facts.isOverdue(life, at: position) || facts.isQueuedTooLong(life, for: token, at: position) { continue }
            return
                "process \(life.process) handed out \(token.text) at \(facts.time(position).text) before it was stored"
        }
        return nil
    }

    static let sessionsEndForAReason = Invariant(
        rule: "A session ends only because of a user's action or a terminal error from the server."
    ) { facts in
        for (position, life, family, reason) in facts.expiries
        where !facts.sends.contains(where: { $0.token.family == family && ($0.refused?.position ?? .max) < position }) {
            return "process \(life.process) ended session \(family) (\(reason)), but the server had rejected nothing"
        }
        for (position, entry) in facts.history.entries.enumerated() {
            guard case .event(let life, .signedOutElsewhere(let session)) = entry.what,
                let family = facts.family(of: session), !facts.rejectedFamilies.contains(family),
                !facts.calls.contains(where: { $0.position < position && $0.kind.endsSessions })
            else { continue }
            return
                "process \(life.process) reports session \(family) as signed out elsewhere, but no process signed out"
        }
        return nil
    }

    static let stateMatchesStore = Invariant(
        rule: "At the end, the state of each process matches the store."
    ) { facts in
        if facts.reportedFalseFailure, facts.script.processes.count > 1 { return nil }
        for entry in facts.history.entries {
            guard case .settles(let life, let state, let reply, let stored) = entry.what else { continue }
            let token = stored.flatMap { TokenName(of: $0.bundle) }
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

extension CallKind {
    var endsSessions: Bool {
        switch self {
        case .signIn, .signOut: true
        case .token, .renewal, .request: false
        }
    }
}
