import Martlet
import MartletTesting

/// What must never happen, each with the rule in plain words.
struct Invariant: Sendable {
    let rule: String
    /// What broke the rule, or nothing.
    let find: @Sendable (Facts) -> String?

    static let all = [
        everybodyIsAnswered, cancelledAtOnce, oneRefreshAtATime, spentTokensStayHome, reuseHasACause,
        lateRefusalsCostNothing, lostHasACause,
        lostIsSaid, requestsKeepTheirSession, nothingComesBack, endedStaysEnded, durableBeforeVisible, endedForAReason,
        restIsTrue,
    ]
}

// MARK: - Callers

extension Invariant {
    static let everybodyIsAnswered = Invariant(rule: "Every caller is answered.") { facts in
        for call in facts.calls where call.answer == nil && facts.deaths[call.life] == nil {
            return "call \(call.number) of process \(call.life.process) was never answered"
        }
        return nil
    }

    static let cancelledAtOnce = Invariant(rule: "A caller who is cancelled returns at once.") { facts in
        for call in facts.calls {
            guard let cancelled = call.cancelled, let answer = call.answer, cancelled < answer.place,
                !facts.jumps.contains(where: { cancelled < $0 && $0 < answer.place })
            else { continue }
            let late = facts.time(answer.place) - facts.time(cancelled)
            if late > .zero { return "call \(call.number) was cancelled and answered \(late) later" }
        }
        return nil
    }

    static let requestsKeepTheirSession = Invariant(
        rule: "No request carries the tokens of two sessions, and no token goes to somebody else's request."
    ) { facts in
        var families: [Int: Int] = [:]
        for entry in facts.history.entries {
            guard case .request(_, let call, let token, _) = entry.what else { continue }
            if let family = families[call], family != token.family {
                return "request \(call) went out with tokens of session \(family) and of session \(token.family)"
            }
            families[call] = token.family
        }
        return nil
    }
}

// MARK: - The refresh token

extension Invariant {
    static let oneRefreshAtATime = Invariant(rule: "No refresh token is under way twice at the same time.") { facts in
        for (index, send) in facts.sends.enumerated() {
            for other in facts.sends[..<index] where other.token == send.token && other.end > send.place {
                if other.life != send.life, facts.lockTrouble.contains(where: { $0 < send.place }) { continue }
                return "refresh \(send.number) sent \(send.token.text) while refresh \(other.number) had it under way"
            }
        }
        return nil
    }

    static let spentTokensStayHome = Invariant(
        rule: "A refresh token that is known to be spent is not sent again, except within the grace."
    ) { facts in
        for send in facts.sends {
            guard let known = facts.whereKnownAsSpent(send) else { continue }
            if let spent = facts.whereSpent(send), facts.time(send.place) - facts.time(spent) <= facts.script.grace,
                facts.script.grace > .zero
            {
                continue
            }
            return "refresh \(send.number) sent \(send.token.text), whose successor was known since "
                + "\(facts.time(known).text)"
        }
        return nil
    }

    static let reuseHasACause = Invariant(
        rule: "Without a crash, a lost answer or trouble with the disk the server sees no token twice."
    ) { facts in
        for send in facts.sends where send.refused?.why == .spent && !facts.isExcused(send) {
            return "refresh \(send.number) sent \(send.token.text), which was spent, and nothing explains why"
        }
        return nil
    }

    static let lateRefusalsCostNothing = Invariant(
        rule: "A refusal of an older token starts no refresh: the newer one is there already."
    ) { facts in
        var refused: Set<Refused> = []
        for entry in facts.history.entries {
            switch entry.what {
            case .request(let life, _, let token, false): refused.insert(Refused(life: life, token: token))
            case .event(let life, .refreshStarted(let stamp, .rejected)):
                guard let family = facts.family(of: stamp.session) else { continue }
                // Here the server counts as the client does.
                let token = TokenName(family: family, number: stamp.rotation)
                if refused.contains(Refused(life: life, token: token)) { continue }
                return "process \(life.process) renews \(token.text) as if it had been refused"
            default: break
            }
        }
        return nil
    }

    private struct Refused: Hashable {
        let life: Life
        let token: TokenName
    }

    static let lostHasACause = Invariant(rule: "Whoever loses a rotation lost an answer or a process before.") {
        facts in
        for (place, life, family, reason) in facts.expiries where reason == .rotationLost {
            let cause = facts.sends.contains { send in
                send.token.family == family && send.place < place && (!send.isClear || facts.isUnsaved(send))
            }
            if cause || facts.lockTrouble.contains(where: { $0 < place }) { continue }
            // A note says that a refresh is under way. It stays where its process died or was signed out before it sent
            // anything, or where the disk was so slow that it was given up and written all the same.
            if facts.isNotedElsewhere(family, by: life, before: place) || facts.isOverdue(life, at: place) { continue }
            return "process \(life.process) lost a rotation of session \(family), and nothing explains how"
        }
        return nil
    }

    static let lostIsSaid = Invariant(
        rule: "Where a token turns out spent after a crash or a lost answer, that is the reason that is given."
    ) { facts in
        guard facts.diskTrouble.isEmpty, facts.lockTrouble.isEmpty else { return nil }
        for (place, life, family, reason) in facts.expiries where reason != .rotationLost {
            let refusal = facts.sends.last { $0.life == life && $0.token.family == family && $0.place < place }
            if let refusal, refusal.refused?.why == .spent, !facts.isAnybodyOverdue(at: place) {
                return "process \(life.process) says \"\(reason)\" of session \(family), whose token was spent"
            }
        }
        return nil
    }
}

// MARK: - Sessions

extension Invariant {
    static let nothingComesBack = Invariant(
        rule: "Who has signed out, or in as somebody else, gets no token of the session before."
    ) { facts in
        if facts.hasMisled, facts.script.processes.count > 1 { return nil }
        for over in facts.endings {
            for (life, family, asked, place) in facts.handouts
            where life == over.life && family == over.family && asked > over.place {
                return "at \(facts.time(place).text) process \(life.process) handed out a token of session \(family), "
                    + "which was over there since \(facts.time(over.place).text)"
            }
        }
        return nil
    }

    static let endedStaysEnded = Invariant(rule: "Nothing that was signed out is stored in the end.") { facts in
        if facts.hasMisled, facts.script.processes.count > 1 { return nil }
        guard case .rests(_, _, _, let stored?) = facts.history.entries.last?.what,
            let family = facts.family(of: stored.id)
        else { return nil }
        for over in facts.endings
        where over.family == family && facts.deaths[over.life].map({ $0 > over.place }) != true {
            // Another process may go on with a session that only this one has left for another.
            if !over.isSignOut, facts.script.processes.count > 1 { continue }
            return "session \(family) is stored though process \(over.life.process) ended it "
                + "at \(facts.time(over.place).text)"
        }
        return nil
    }

    static let durableBeforeVisible = Invariant(
        rule: "A token is on the disk before anybody sees it, unless the disk has failed."
    ) { facts in
        for (life, token, place) in facts.visible {
            if let written = facts.durable[token], written < place { continue }
            if token.number == 0, facts.script.start != .nothing, token.family == 1 { continue }
            if facts.diskTrouble.contains(where: { $0.life == life && $0.place < place }) { continue }
            if facts.isOverdue(life, at: place) || facts.isKeptWaiting(life, for: token, at: place) { continue }
            return "process \(life.process) handed out \(token.text) at \(facts.time(place).text) before it was written"
        }
        return nil
    }

    static let endedForAReason = Invariant(
        rule: "A session ends only by the user's wish or the server's final word."
    ) { facts in
        for (place, life, family, reason) in facts.expiries
        where !facts.sends.contains(where: { $0.token.family == family && ($0.refused?.place ?? .max) < place }) {
            return "process \(life.process) ended session \(family) (\(reason)), and the server had refused nothing"
        }
        for (place, entry) in facts.history.entries.enumerated() {
            guard case .event(let life, .signedOutElsewhere(let session)) = entry.what,
                let family = facts.family(of: session), !facts.isAnybodyRefused.contains(family),
                !facts.calls.contains(where: { $0.place < place && $0.wish.endsSessions })
            else { continue }
            return "process \(life.process) gave up session \(family), which nobody had signed out"
        }
        return nil
    }

    static let restIsTrue = Invariant(rule: "At rest, what a process says is what is stored.") { facts in
        if facts.hasMisled, facts.script.processes.count > 1 { return nil }
        for entry in facts.history.entries {
            guard case .rests(let life, let state, let reply, let stored) = entry.what else { continue }
            let token = stored.flatMap { TokenName(of: $0.bundle) }
            switch (state, stored) {
            case (.signedIn(let session), let stored?):
                guard session.id == stored.id, session.isSaved else { break }
                if case .token(let handedOut) = reply, handedOut != token { break }
                if case .token = reply { continue }
            case (.signedOut, nil), (.expired, nil): continue
            default: break
            }
            return "process \(life.process) says \"\(state.text)\" and hands out \(reply.text), and what is stored is "
                + (token?.text ?? "nothing")
        }
        return nil
    }
}

extension Wish {
    var endsSessions: Bool {
        switch self {
        case .signIn, .signOut: true
        case .token, .renewal, .request: false
        }
    }
}
