import Martlet
import MartletTesting

/// The history of a schedule, to be read from top to bottom.
struct Story {
    let world: World

    var lines: [String] {
        world.history.entries.compactMap { entry in
            text(entry.what).map { "\(entry.at.text.leftPadded(to: 12))  \($0)" }
        }
    }

    /// What the schedule is about.
    var introduction: String {
        let script = world.script
        let lifetime = script.lifetime.map { "live for \($0) s" } ?? "live for nobody knows how long"
        let grace = script.grace > .zero ? "for \(script.grace.text) more" : "never again"
        let start =
            switch script.start {
            case .nothing: "Nobody is signed in."
            case .fresh: "Session 1 is signed in."
            case .expired: "Session 1 is signed in, and its access token has expired."
            }
        let many = script.processes.count == 1 ? "One process" : "\(script.processes.count) processes"
        let disk = script.isShared ? "with a lock" : "without a lock"
        return "\(many), a disk \(disk) that fails in \(script.roughDisk) % of all cases, a network that fails in "
            + "\(script.roughNetwork) %.\nAccess tokens \(lifetime); a replaced refresh token is taken \(grace).\n\(start)"
    }

    private func text(_ happening: Happening) -> String? {
        switch happening {
        case .starts(let life): life.number == 1 ? "\(life.text) starts" : "\(life.text) starts again"
        case .asks(let life, let call, let caller, let wish, _):
            "\(life.text): caller \(caller) \(wish.text) (call \(call))"
        case .answers(let life, let call, let reply): "\(life.text): call \(call) gets \(reply.text)"
        case .cancels(let life, let call): "\(life.text): call \(call) is cancelled"
        case .disk(let life, let incident): text(incident).map { "\(life.text): \($0)" }
        case .event(let life, let event): "\(life.text) reports: \(text(event))"
        case .sends(let life, let send, let token): "\(life.text) sends \(token.text) to be renewed (refresh \(send))"
        case .commits(let send, let token): "server: refresh \(send) is granted, the next token is \(token.text)"
        case .repeats(let send, let token):
            "server: refresh \(send) is granted once more within the grace, \(token.text)"
        case .refuses(let send, let why): "server: refresh \(send) is refused, \(why.text)"
        case .breaks(let send, let why): "server: refresh \(send): \(why)"
        case .delivers(let send): "network: refresh \(send) is answered"
        case .abandons(let send): "network: nobody waits for refresh \(send) any more"
        case .request(let life, let call, let token, let isAccepted):
            "\(life.text): request of call \(call) goes out with \(token.text)\(isAccepted ? "" : ", and is refused")"
        case .revokes(let family): "server: session \(family) is revoked, as it was asked to"
        case .withdraws(let family): "server: the access tokens of session \(family) are worth nothing any more"
        case .forgets(let family): "server: session \(family) is over"
        case .jumps(let duration): "the clock jumps by \(duration.text)"
        case .setsWallClock(let seconds): "somebody sets the wall clock by \(Int(seconds)) s"
        case .repairs: "all is well from now on"
        case .rests(let life, let state, let reply, let stored):
            "\(life.text) comes to rest: \(state.text), a caller gets \(reply.text), and stored is "
                + (stored.flatMap { TokenName(of: $0.bundle) }?.text ?? "nothing")
        }
    }

    private func text(_ incident: SimulatedDisk.Incident) -> String? {
        switch incident {
        case .asked, .told: nil
        case .kept(let reading): "looks at the disk and finds \(text(reading))"
        case .wrote(let session): "writes \(text(session))"
        case .deleted(let session): "deletes \(session.map(text) ?? "nothing")"
        case .failed(let operation, let failure, let update):
            "the disk fails to \(operation == .lock ? "lock" : operation == .read ? "read" : text(update)) "
                + "(\(failure.description))"
        case .locked: "has the lock"
        case .tookLock(let name): "takes the lock away from process \(Life(named: name).process)"
        case .unlocked: "gives the lock back"
        case .killed: "is killed"
        }
    }

    private func text(_ reading: StoreReading) -> String {
        switch reading {
        case .found(let session): text(session)
        case .empty: "nothing"
        case .unavailable(let failure): "that it cannot be read (\(failure.description))"
        }
    }

    private func text(_ update: StoreUpdate?) -> String {
        switch update {
        case .write(let session): "write \(text(session))"
        case .delete: "delete"
        case .keep: "leave it as it is"
        case nil: "do anything"
        }
    }

    private func text(_ session: StoredSession) -> String {
        let token = TokenName(of: session.bundle)?.text ?? "a record"
        return session.journal == nil ? token : "\(token) with a note that it is being renewed"
    }

    private func text(_ event: SessionEvent) -> String {
        // The id of a sign-in that was cut short is another one each time, and a story is the same each time.
        if case .signedOut(let session?) = event, world.history.families[session] == nil {
            return "signedOut(a session that was still being stored)"
        }
        var text = String(describing: event)
        for (session, family) in world.history.families {
            text = text.replacing("Martlet.SessionStamp(session: \(session), rotation: ", with: "(session \(family), ")
            text = text.replacing("\(session)", with: "session \(family)")
        }
        return text.replacing("Martlet.", with: "")
    }
}

extension Wish {
    var text: String {
        switch self {
        case .token: "asks for a token"
        case .renewal: "asks for a new token"
        case .request: "makes a request"
        case .signIn(let family): "signs in to session \(family)"
        case .signOut: "signs out"
        }
    }
}

extension Reply {
    var text: String {
        switch self {
        case .token(let token): token.text
        case .done: "what it asked for"
        case .signedIn(let family): "session \(family)"
        case .refused(let error): "an error: \(error.description)"
        case .failed(let error): "an error: \(error.description)"
        }
    }
}

extension Refusal {
    var text: String {
        switch self {
        case .spent: "since the token was spent before"
        case .signedOut: "since the session was signed out"
        case .withdrawn: "since the session is over"
        }
    }
}

extension SessionState {
    var text: String {
        switch self {
        case .loading: "nothing read yet"
        case .unavailable: "the disk cannot be read"
        case .signedOut: "signed out"
        case .signedIn(let session):
            "signed in to session \(session.account.userID ?? "?")\(session.isSaved ? "" : ", not saved")"
        case .expired(let reason): "expired, \(reason)"
        }
    }
}

extension TokenName {
    var text: String { "token \(number) of session \(family)" }
}

extension Life {
    var text: String { "process \(process)" }
}

extension Duration {
    /// `12.250 s`.
    var text: String {
        let milliseconds = components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
        let rest = String(milliseconds % 1000)
        return "\(milliseconds / 1000).\(String(repeating: "0", count: 3 - rest.count))\(rest) s"
    }
}

extension String {
    func leftPadded(to width: Int) -> String {
        String(repeating: " ", count: max(width - count, 0)) + self
    }

    func rightPadded(to width: Int) -> String {
        self + String(repeating: " ", count: max(width - count, 0))
    }
}
