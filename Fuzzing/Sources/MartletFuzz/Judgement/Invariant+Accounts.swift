import Martlet
import MartletTesting

// MARK: - Several accounts at the same time

extension Invariant {
    static let accountsStayApart = Invariant(
        rule: "A call or refresh of an account carries that account's token, and gets its response."
    ) { facts in
        for (_, life, number, refreshed, token) in facts.accountRequests {
            guard let account = refreshed ?? facts.call(number)?.accountStep?.account else { continue }
            if let token, token.family != account {
                return "process \(life.process) sent \(token.text) for account \(account)"
            }
        }
        for call in facts.calls {
            guard let account = call.accountStep?.account, case .accountContent(let content)? = call.response?.reply,
                content != account
            else { continue }
            return "call \(call.number) of account \(account) got the response for account \(content)"
        }
        return nil
    }

    static let accountsStaySignedIn = Invariant(
        rule: "An account stays signed in until it is signed out itself."
    ) { facts in
        for call in facts.calls {
            guard case .call(let account)? = call.accountStep, let reply = call.response?.reply, reply.tellsOfNoSession
            else { continue }
            let changes = facts.calls.filter { other in
                switch other.accountStep {
                case .signIn(account), .signOut(account):
                    other.life.process == call.life.process && other.position < call.response?.position ?? .max
                default: false
                }
            }
            // Consider only a sign-in that had returned before the call began and was followed by no other change.
            guard let last = changes.last, case .signIn? = last.accountStep, last.isDone, last.end < call.position,
                changes.dropLast().allSatisfy({ $0.end < last.position })
            else { continue }
            return "call \(call.number) was told that account \(account) is not signed in, but it has not signed out"
        }
        return nil
    }

    static let signedOutAccountsSendNothing = Invariant(
        rule: "After an account has signed out, no request carries its former tokens, even after a restart."
    ) { facts in
        for call in facts.calls {
            guard case .signOut(let account)? = call.accountStep, let end = call.response?.position else { continue }
            let first = facts.firstToken(of: account, after: call)
            let late = facts.accountRequests.first { position, life, _, _, token in
                guard life.process == call.life.process, let token, token.family == account else { return false }
                // A request that has passed its last check may leave at the same time.
                return token.number < first && position > end && facts.elapsed(from: end, to: position) > .zero
            }
            guard let late, let token = late.token else { continue }
            return "process \(late.life.process) sent token \(token.number) of account \(account) at "
                + "\(facts.time(late.position).text), which had signed out at \(facts.time(end).text)"
        }
        return nil
    }

    static let currentAccountIsKept = Invariant(
        rule: "The current account is the one that was made current last, even after a restart."
    ) { facts in
        for call in facts.calls {
            guard case .current? = call.accountStep, case .current(let current)? = call.response?.reply else {
                continue
            }
            let possible = facts.possibleAccounts(at: call)
            if possible.contains(current) { continue }
            let names = possible.map { "\($0 ?? 0)" }.sorted().joined(separator: " or ")
            return "call \(call.number) was told that account \(current ?? 0) is current, but it is \(names)"
        }
        return nil
    }
}

extension Facts {
    /// The number of the first token of an account that a sign-out may not have ended, because its sign-in had not
    /// returned when the sign-out began. All later tokens have higher numbers.
    fileprivate func firstToken(of account: Int, after signOut: Call) -> Int {
        let later = accountSignIns.compactMap { number, token -> Int? in
            guard token.family == account, let signIn = call(number), signIn.life.process == signOut.life.process
            else { return nil }
            return signIn.response.map { $0.position < signOut.position } == true ? nil : token.number
        }
        return later.min() ?? .max
    }

    /// The accounts that may be current when a call asks; `nil` for none. A change that failed, was cancelled, or was
    /// in progress during another change or the call itself, may have had no effect.
    fileprivate func possibleAccounts(at call: Call) -> Set<Int?> {
        let changes = calls.filter { other in
            guard other.life.process == call.life.process, other.position < call.end else { return false }
            return switch other.accountStep {
            case .makeCurrent, .signOut: true
            default: false
            }
        }
        var possible: Set<Int?> = [nil]
        for change in changes {
            let isAlone = changes.allSatisfy {
                $0.number == change.number || $0.end < change.position || change.end < $0.position
            }
            let isCertain = change.isDone && change.end < call.position && isAlone
            switch change.accountStep {
            case .makeCurrent(let account):
                if isCertain { possible = [] }
                possible.insert(account)
            case .signOut(let account):
                if isCertain, possible.remove(account) == nil { continue }
                possible.insert(nil)
            default: break
            }
        }
        return possible
    }
}

extension Facts.Call {
    /// Whether the call has had its effect.
    fileprivate var isDone: Bool {
        if case .done? = response?.reply { cancelled == nil } else { false }
    }

    /// The step that the call takes with one of several accounts; `nil` if it is for the app's own session.
    var accountStep: AccountStep? { if case .account(let step) = kind { step } else { nil } }
}

extension Reply {
    /// Whether the reply says that the account is not signed in.
    fileprivate var tellsOfNoSession: Bool {
        switch self {
        case .failed(.signInRequired), .failed(.sessionExpired), .failed(.sessionChanged): true
        default: false
        }
    }
}
