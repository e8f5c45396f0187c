import Martlet
import MartletTesting

extension Facts {
    struct Ending {
        let life: Life
        let family: Int
        /// From here on it is over.
        let place: Int
        let isSignOut: Bool
    }

    /// Sessions that a process was told to end: by signing out, or by signing in as somebody else.
    var endings: [Ending] {
        calls.compactMap { call in
            guard let held = call.held, let answer = call.answer else { return nil }
            switch (call.wish, answer.reply) {
            case (.signOut, .done) where call.cancelled == nil:
                return Ending(life: call.life, family: held, place: answer.place, isSignOut: true)
            case (.signIn, .signedIn(let family)) where family != held:
                return Ending(life: call.life, family: held, place: answer.place, isSignOut: false)
            default: return nil
            }
        }
    }

    /// Tokens that callers got or requests carried, each with the place at which it was asked for.
    var handouts: [(life: Life, family: Int, asked: Int, place: Int)] {
        var asked: [Int: Int] = [:]
        for call in calls { asked[call.number] = call.place }
        return history.entries.enumerated().compactMap { place, entry in
            switch entry.what {
            case .answers(let life, let call, .token(let token)): (life, token.family, asked[call] ?? 0, place)
            case .request(let life, let call, let token, _): (life, token.family, asked[call] ?? 0, place)
            default: nil
            }
        }
    }

    /// Tokens that callers got or requests carried.
    var visible: [(life: Life, token: TokenName, place: Int)] {
        history.entries.enumerated().compactMap { place, entry in
            switch entry.what {
            case .answers(let life, _, .token(let token)): (life, token, place)
            case .request(let life, _, let token, _): (life, token, place)
            default: nil
            }
        }
    }

    /// Sessions that the server ended, as the processes say.
    var expiries: [(place: Int, life: Life, family: Int, reason: ExpiryReason)] {
        history.entries.enumerated().compactMap { place, entry in
            guard case .event(let life, .expired(let session, let reason)) = entry.what,
                let family = family(of: session)
            else { return nil }
            return (place, life, family, reason)
        }
    }
}

// MARK: - What is known of a refresh token

extension Facts {
    /// Where the server replaced the token, if it had when this refresh sent it.
    func whereSpent(_ send: Send) -> Int? {
        sends.first { $0.token == send.token && ($0.committed ?? .max) < send.place }?.committed
    }

    /// Where the successor of the token came to where the process that sends it could have seen it.
    func whereKnownAsSpent(_ send: Send) -> Int? {
        if let own = sends.first(where: {
            $0.life == send.life && $0.token == send.token && $0.brought && $0.end < send.place
        }) {
            return own.end
        }
        // Whoever holds the lock has looked, and nobody but one whose write had failed before comes in between.
        guard let stored = durable[send.token.next], stored < send.look,
            !lockTrouble.contains(where: { $0 < send.place })
        else { return nil }
        return stored
    }

    /// Whether the successor that this refresh brought, or was to bring, was not on the disk in time.
    func isUnsaved(_ send: Send) -> Bool {
        guard send.committed != nil else { return false }
        guard let stored = durable[send.token.next] else { return true }
        return diskTrouble.contains { send.place < $0.place && $0.place < stored }
    }

    /// Whether there is a reason to send a spent token: nobody could know.
    func isExcused(_ send: Send) -> Bool {
        if lockTrouble.contains(where: { $0 < send.refused?.place ?? send.place }) { return true }
        // The request was on its way for longer than the process waited for it.
        if let refused = send.refused, send.end < refused.place { return true }
        guard let stored = durable[send.token.next] else {
            // Its successor never came to the disk: it was lost on the way, or with its process, or the disk failed.
            return sends.contains { other in
                guard other.token == send.token, other.place < send.place, other.committed != nil else { return false }
                return !other.brought || other.death != nil || diskTrouble.contains { $0.place > other.place }
            }
        }
        return stored > send.look
    }

    /// Whether a process has waited longer for the disk than it is willing to.
    func isOverdue(_ life: Life, at place: Int) -> Bool {
        var asked: [Duration] = []
        for entry in history.entries[..<place] {
            switch entry.what {
            case .disk(life, .asked(.update)): asked.append(entry.at)
            case .disk(life, .told(.update)):
                if let first = asked.first, entry.at - first >= .seconds(10) { return true }
                if !asked.isEmpty { asked.removeFirst() }
            default: break
            }
        }
        return asked.contains { time(place) - $0 >= .seconds(10) } || jumps.contains { $0 < place }
    }

    /// Whether the disk has not come to rest for as long as a process is willing to wait for a turn with it, and did not before
    /// a token came.
    func isKeptWaiting(_ life: Life, for token: TokenName, at place: Int) -> Bool {
        let coming = sends.first { $0.life == life && $0.token.next == token }?.place ?? 0
        var (asked, busySince, restsSince) = (0, Duration.zero, nil as Duration?)
        for (index, entry) in history.entries[..<place].enumerated() {
            switch entry.what {
            case .disk(life, .asked(.read)), .disk(life, .asked(.update)):
                if asked == 0, restsSince != entry.at { busySince = entry.at }
                asked += 1
            case .disk(life, .told(.read)), .disk(life, .told(.update)):
                if asked > 0, entry.at - busySince >= .seconds(10), index > coming { return true }
                asked -= 1
                restsSince = entry.at
            default: break
            }
        }
        return asked > 0 && time(place) - busySince >= .seconds(10)
    }

    /// Whether another process has noted that it is about to renew a token of the session.
    func isNotedElsewhere(_ family: Int, by life: Life, before place: Int) -> Bool {
        history.entries[..<place].contains { entry in
            guard case .disk(let other, .wrote(let session)) = entry.what, other != life, session.journal != nil
            else { return false }
            return self.family(of: session.id) == family
        }
    }

    /// Whether any process has waited longer for the disk than it is willing to, and so may not have written its notes.
    func isAnybodyOverdue(at place: Int) -> Bool {
        history.entries[..<place].contains { entry in
            guard case .starts(let life) = entry.what else { return false }
            return isOverdue(life, at: place)
        }
    }
}
