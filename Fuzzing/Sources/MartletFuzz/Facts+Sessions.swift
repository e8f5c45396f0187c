import Martlet
import MartletTesting

extension Facts {
    /// The end of a session in one process, caused by its own sign-out or sign-in.
    struct Ending {
        let life: Life
        let family: Int
        /// The position in the history from which the session is over.
        let position: Int
        let isSignOut: Bool
    }

    /// Sessions that a process ended itself, by signing out or by signing in to another session.
    var endings: [Ending] {
        calls.compactMap { call in
            guard let held = call.held, let response = call.response else { return nil }
            switch (call.kind, response.reply) {
            case (.signOut, .done) where call.cancelled == nil:
                return Ending(life: call.life, family: held, position: response.position, isSignOut: true)
            case (.signIn, .signedIn(let family)) where family != held:
                return Ending(life: call.life, family: held, position: response.position, isSignOut: false)
            default: return nil
            }
        }
    }

    /// Tokens that callers received or requests carried, with the positions of the call and of the token.
    var handouts: [(life: Life, family: Int, asked: Int, position: Int)] {
        var asked: [Int: Int] = [:]
        for call in calls { asked[call.number] = call.position }
        return history.entries.enumerated().compactMap { position, entry in
            switch entry.what {
            case .returns(let life, let call, .token(let token)): (life, token.family, asked[call] ?? 0, position)
            case .request(let life, let call, let token, _): (life, token.family, asked[call] ?? 0, position)
            default: nil
            }
        }
    }

    /// Tokens that callers received or requests carried.
    var visible: [(life: Life, token: TokenName, position: Int)] {
        history.entries.enumerated().compactMap { position, entry in
            switch entry.what {
            case .returns(let life, _, .token(let token)): (life, token, position)
            case .request(let life, _, let token, _): (life, token, position)
            default: nil
            }
        }
    }

    /// Sessions that a process reported as expired.
    var expiries: [(position: Int, life: Life, family: Int, reason: ExpiryReason)] {
        history.entries.enumerated().compactMap { position, entry in
            guard case .event(let life, .expired(let session, let reason)) = entry.what,
                let family = family(of: session)
            else { return nil }
            return (position, life, family, reason)
        }
    }
}

// MARK: - The fate of a refresh token

extension Facts {
    /// The position at which the server replaced the token, if that was before this refresh sent it.
    func spentPosition(_ send: Send) -> Int? {
        sends.first { $0.token == send.token && ($0.committed ?? .max) < send.position }?.committed
    }

    /// The position from which the sending process could have known that the token is spent; `nil` if it could not.
    func knownSpentPosition(_ send: Send) -> Int? {
        if let own = sends.first(where: {
            $0.life == send.life && $0.token == send.token && $0.receivedSuccessor && $0.end < send.position
        }) {
            return own.end
        }
        // The holder of the lock has read the record. Without a lost lock, no other process writes in between.
        guard let stored = durable[send.token.next], stored < send.lastReadPosition,
            !lockTrouble.contains(where: { $0 < send.position })
        else { return nil }
        return stored
    }

    /// Whether the successor that this refresh returned, or should have returned, was not stored in time.
    func isUnsaved(_ send: Send) -> Bool {
        guard send.committed != nil else { return false }
        guard let stored = durable[send.token.next] else { return true }
        return diskTrouble.contains { send.position < $0.position && $0.position < stored }
    }

    /// Whether the process had no way to know that the token it sends is spent.
    func isExcused(_ send: Send) -> Bool {
        if lockTrouble.contains(where: { $0 < send.refused?.position ?? send.position }) { return true }
        // The process stopped waiting before the request arrived.
        if let refused = send.refused, send.end < refused.position { return true }
        guard let stored = durable[send.token.next] else {
            // The successor was never stored: the response or the process was lost, or the disk failed.
            return sends.contains { other in
                guard other.token == send.token, other.position < send.position, other.committed != nil else {
                    return false
                }
                return !other.receivedSuccessor || other.death != nil
                    || diskTrouble.contains { $0.position > other.position }
            }
        }
        return stored > send.lastReadPosition
    }

    /// Whether an update of the disk took longer than the process waits for it.
    func isOverdue(_ life: Life, at position: Int) -> Bool {
        var asked: [Duration] = []
        for entry in history.entries[..<position] {
            switch entry.what {
            case .disk(life, .requested(.update)): asked.append(entry.at)
            case .disk(life, .completed(.update)):
                if let first = asked.first, entry.at - first >= .seconds(10) { return true }
                if !asked.isEmpty { asked.removeFirst() }
            default: break
            }
        }
        return asked.contains { time(position) - $0 >= .seconds(10) } || jumps.contains { $0 < position }
    }

    /// Whether the disk was continuously busy for longer than an operation waits in the store queue, after the token
    /// was requested.
    func isQueuedTooLong(_ life: Life, for token: TokenName, at position: Int) -> Bool {
        let requested = sends.first { $0.life == life && $0.token.next == token }?.position ?? 0
        var (pending, busySince, idleSince) = (0, Duration.zero, nil as Duration?)
        for (index, entry) in history.entries[..<position].enumerated() {
            switch entry.what {
            case .disk(life, .requested(.read)), .disk(life, .requested(.update)):
                if pending == 0, idleSince != entry.at { busySince = entry.at }
                pending += 1
            case .disk(life, .completed(.read)), .disk(life, .completed(.update)):
                if pending > 0, entry.at - busySince >= .seconds(10), index > requested { return true }
                pending -= 1
                idleSince = entry.at
            default: break
            }
        }
        return pending > 0 && time(position) - busySince >= .seconds(10)
    }

    /// Whether another process has stored a journal: it was about to refresh a token of the session.
    func isJournaledElsewhere(_ family: Int, by life: Life, before position: Int) -> Bool {
        history.entries[..<position].contains { entry in
            guard case .disk(let other, .wrote(let session)) = entry.what, other != life, session.hasRefreshJournal
            else { return false }
            return self.family(of: session.id) == family
        }
    }

    /// Whether any process waited too long for the disk, so that its journal may be missing.
    func isAnyProcessOverdue(at position: Int) -> Bool {
        history.entries[..<position].contains { entry in
            guard case .starts(let life) = entry.what else { return false }
            return isOverdue(life, at: position)
        }
    }
}
