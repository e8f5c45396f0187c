import Martlet
import MartletTesting

extension Facts {
    /// The end of a session in one process, caused by its own sign-out or sign-in.
    struct Ending {
        let life: Life
        let family: Int
        /// The position at which the sign-out or sign-in began.
        let asked: Int
        /// The position from which no call of the session is sent.
        let effect: Int
        /// The position in the history from which the session is over.
        let position: Int
        let isSignOut: Bool
    }

    /// Sessions that a process ended itself, by signing out or by signing in to another session.
    var endings: [Ending] {
        calls.flatMap { call -> [Ending] in
            guard call.isWithdrawn, let family = call.family, let end = call.response?.position else {
                return ending(by: call).map { [$0] } ?? []
            }
            let former = call.held.map { call.ending(of: $0, at: end, isSignOut: false) }
            return [call.ending(of: family, at: end, isSignOut: true)] + (former.map { [$0] } ?? [])
        }
    }

    private func ending(by call: Call) -> Ending? {
        guard let held = call.held, let response = call.response else { return nil }
        switch (call.kind, response.reply) {
        case (.signOut, .done): return call.ending(of: held, at: response.position, isSignOut: true)
        case (.signIn, .signedIn(let family)) where family != held,
            (.login, .signedIn(let family)) where family != held:
            return call.ending(of: held, at: response.position, isSignOut: false)
        default: return nil
        }
    }

    /// Tokens that callers received or requests carried.
    var visible: [(life: Life, token: TokenName, asked: Int, position: Int)] {
        let returned = calls.compactMap { call -> (life: Life, token: TokenName, asked: Int, position: Int)? in
            guard case (let position, .token(let token))? = call.response else { return nil }
            return (call.life, token, call.position, position)
        }
        return returned
            + requests.compactMap { position, exchange in
                exchange.token.map { (exchange.life, $0, call(exchange.call)?.position ?? 0, position) }
            }
    }

    /// Sessions that a process reported as expired.
    var expiries: [(position: Int, life: Life, family: Int, reason: ExpiryReason)] {
        events.compactMap { position, life, event in
            guard case .expired(let session, let reason) = event, let family = family(of: session) else { return nil }
            return (position, life, family, reason)
        }
    }

    /// The call that started a session; `nil` for the session that was stored at the beginning.
    func start(of family: Int) -> Call? { calls.first { $0.family == family } }

    /// Whether a session was started before a sign-in or sign-out had ended, or at the same moment. A former library's
    /// session precedes all of them, no matter when it is adopted.
    func precedes(_ family: Int, endOf call: Call) -> Bool {
        if family == former?.family { return true }
        guard let start = start(of: family)?.position, start > call.end else { return true }
        return time(start) == time(call.end)
    }

    /// Whether a session may have started after another one.
    func isFollowed(_ family: Int, by other: Int) -> Bool {
        guard let later = start(of: other) else { return false }
        return start(of: family).map { $0.position < later.end } ?? true
    }

    /// The sessions whose sign-ins were in progress in a process at a position.
    func startingSessions(in life: Life, at position: Int) -> Set<Int> {
        Set(changes(in: life, at: position).compactMap(\.family))
    }

    /// The sign-ins and sign-outs of a process that were in progress at a position.
    func changes(in life: Life, at position: Int) -> [Call] {
        calls.filter { $0.life == life && ($0.effect ?? .max) < position && position < $0.end }
    }
}

// MARK: - What the server and the clock excuse

extension Facts {
    /// Whether the server had refused a session before a position. A refusal of a spent token concerns the session only
    /// if the server then ends it, or if its newer tokens were not in the store.
    func isRefused(_ family: Int, before position: Int = .max) -> Bool {
        sends.contains { send in
            guard send.token.family == family, let refused = send.refused, refused.position < position
            else { return false }
            if refused.reason != .spent || script.endsReusedSessions { return true }
            return (store.durable[send.token.next] ?? .max) > refused.position
        }
    }

    /// Whether a process takes a token for older than it is, because the wall clock was set forward; see
    /// ``looksYounger(_:in:before:)``.
    func looksOlder(_ token: TokenName, in life: Life, before last: Int) -> Bool {
        isRead(token, by: life, after: advances, before: last)
    }

    /// Whether a process takes a token for younger than it is, because the wall clock was set back after the token was
    /// issued and before the process read it, or a newer one, from the disk. The process estimates the age of what it
    /// reads by that clock.
    func looksYounger(_ token: TokenName, in life: Life, before last: Int) -> Bool {
        isRead(token, by: life, after: setbacks, before: last)
    }

    private func isRead(_ token: TokenName, by life: Life, after changes: [Int], before last: Int) -> Bool {
        let issued = sends.filter { $0.token.next == token }.compactMap(\.committed).min()
        // A former library's session is older than all else.
        let start = token.family == former?.family ? nil : start(of: token.family)
        let stored = issued ?? start?.position ?? -1
        return events.contains { position, other, event in
            guard other == life, time(position) <= time(last) else { return false }
            switch event {
            case .restored(let stamp?), .adopted(let stamp):
                return stamp.rotation >= token.number && family(of: stamp.session) == token.family
                    && changes.contains { stored < $0 && $0 < position }
            default: return false
            }
        }
    }
}

// MARK: - The fate of a refresh token

extension Facts {
    /// The other refresh that spent the token of this refresh.
    func spender(of send: Send) -> Send? {
        sends.first { $0.token == send.token && $0.number != send.number && $0.committed != nil }
    }

    /// The position at which the server replaced the token, if that was before this refresh sent it.
    func spentPosition(_ send: Send) -> Int? {
        sends.first { $0.token == send.token && ($0.committed ?? .max) < send.position }?.committed
    }

    /// The position from which the sending process knew that the token is spent; `nil` if it did not.
    func knownSpentPosition(_ send: Send) -> Int? {
        if let own = sends.first(where: {
            $0.life == send.life && $0.token == send.token && $0.receivedSuccessor && $0.end < send.decidedAt
        }) {
            return own.end
        }
        return store.operations.first { operation in
            guard operation.life == send.life, let found = operation.found, let completed = operation.completed,
                found.family == send.token.family, found.number > send.token.number, completed < send.decidedAt,
                !hasTrouble(send.life, from: operation.requested, to: completed)
            else { return false }
            // The process must have found the record when it wrote the journal, or earlier. While it sends, a record
            // comes too late.
            return operation.requested == send.prepared && operation.written == nil
                || time(completed) < time(send.decidedAt)
        }?.completed
    }

    /// The server's refusal of the last refresh token that a process sent for a session, if the process received it.
    func lastRefusal(of family: Int, in life: Life, before position: Int) -> Send? {
        let last = sends.filter { $0.life == life && $0.token.family == family && $0.decidedAt < position }
            .max { $0.decidedAt < $1.decidedAt }
        // The process may have taken the response although it was late.
        guard let last, last.refused != nil, last.brokeOff == nil, last.delivered == last.end, last.end < position
        else { return nil }
        return last
    }

    /// Whether a process has read the mark of an expiry since the session started and the process last read its record.
    func hasReadExpiry(of family: Int, in life: Life, before position: Int) -> Bool {
        let last = store.operations.last {
            $0.life == life && $0.found?.family == family && $0.requested < position
        }
        let first = last?.requested ?? start(of: family)?.position ?? -1
        return history.entries[(first + 1)..<position].contains { entry in
            guard case .disk(life, .read(.ended(let mark))) = entry.what else { return false }
            return mark.expiry != nil
        }
    }

    /// Whether the successor that this refresh returned, or should have returned, was not stored in time.
    func isUnsaved(_ send: Send) -> Bool {
        guard send.committed != nil else { return false }
        guard let stored = store.durable[send.token.next] else { return true }
        return hasTrouble(send.life, from: send.position, to: stored)
    }

    /// Whether the process had no way to know that the token it sends is spent.
    func isExcused(_ send: Send) -> Bool {
        guard let refused = send.refused?.position, let spender = spender(of: send) else { return false }
        // The process stopped waiting before the request arrived, or never received the successor.
        if send.end < refused || !spender.receivedSuccessor { return true }
        if store.hasLockTrouble(send, before: refused) || store.hasLockTrouble(spender, before: refused) { return true }
        // The successor was not stored in time. Or it was no longer wanted, and neither the journal nor the deletion of
        // the record could be written.
        guard let stored = store.durable[send.token.next], stored < send.position else {
            let write = store.operations.first {
                $0.life == spender.life && $0.isUpdate && $0.requested > spender.end
            }
            let isKilled = spender.death.map { $0 < send.position && (write?.completed ?? .max) > $0 } ?? false
            return isKilled || hasTrouble(spender.life, from: spender.prepared, to: write?.completed ?? send.position)
        }
        return hasTrouble(spender.life, from: spender.position, to: stored)
            || hasTrouble(send.life, from: stored, to: send.position)
    }
}

extension Facts.Call {
    fileprivate func ending(of family: Int, at position: Int, isSignOut: Bool) -> Facts.Ending {
        Facts.Ending(
            life: life, family: family, asked: self.position,
            effect: kind == .signOut ? self.position : position, position: position,
            isSignOut: isSignOut)
    }

    /// Whether a user signs in to the session of the process.
    var startsSession: Bool {
        switch kind {
        case .signIn, .login: true
        default: false
        }
    }

    /// Whether the call is a sign-in that was withdrawn because it could not be saved.
    var isWithdrawn: Bool {
        switch (kind, response?.reply) {
        case (.signIn, .refused(.unavailable)), (.login, .failed(.storageUnavailable)): true
        default: false
        }
    }
}

extension CallKind {
    var endsSessions: Bool {
        switch self {
        case .signIn, .login, .signOut: true
        case .token, .renewal, .request, .adoption, .shared, .plain, .download, .account: false
        }
    }
}
