import Martlet
import MartletTesting

/// The history of a schedule as readable text, one line for each entry.
struct Transcript {
    let world: World

    var lines: [String] {
        world.history.entries.compactMap { entry in
            text(entry.what).map { "\(entry.at.text.leftPadded(to: 12))  \($0)" }
        }
    }

    /// A summary of the schedule.
    var introduction: String {
        let script = world.script
        let lifetime = script.lifetime.map { "live for \($0) s" } ?? "have an unstated lifetime"
        let grace = script.grace > .zero ? "accepted for another \(script.grace.text)" : "not accepted again"
        let start =
            switch script.start {
            case .nothing: "No session is stored."
            case .fresh: "Session 1 is stored."
            case .expired: "Session 1 is stored, and its access token has expired."
            }
        let many = script.processes.count == 1 ? "One process" : "\(script.processes.count) processes"
        let disk = script.isShared ? "with a lock" : script.keepsMark ? "without a lock" : "without a lock and a mark"
        let slots = script.slots.map { ", at most \($0) requests at once" } ?? ""
        return "\(many)\(slots), a disk \(disk) that fails in \(script.diskFailurePercent) % of all cases, "
            + "a network that fails in \(script.networkFailurePercent) %.\n"
            + "Access tokens \(lifetime); a replaced refresh token is \(grace)"
            + "\(script.endsReusedSessions ? ", and ends its session" : "").\n\(start)"
    }

    private func text(_ occurrence: Occurrence) -> String? {
        switch occurrence {
        case .starts(let life): life.number == 1 ? "\(life.text) starts" : "\(life.text) starts again"
        case .asks(let life, let call, let caller, let kind, _): text(life, call, caller, kind)
        case .returns(let life, let call, let reply): "\(life.text): call \(call) gets \(reply.text)"
        case .cancels(let life, let call): "\(life.text): call \(call) is cancelled"
        case .disk(let life, let event): text(event).map { "\(life.text): \($0)" }
        case .event(let life, let event): "\(life.text) reports: \(text(event))"
        case .sends(let life, let send, let token, _): "\(life.text) sends \(token.text) (refresh \(send))"
        case .commits(let send, let token): "server: refresh \(send) is granted, the next token is \(token.text)"
        case .repeats(let send, let token):
            "server: refresh \(send) is granted again within the grace period, \(token.text)"
        case .refuses(let send, let reason): "server: refresh \(send) is rejected, \(reason.text)"
        case .breaks(let send, let reason, let retryAfter, _):
            "server: refresh \(send): \(reason)" + (retryAfter.map { ", try again after \($0.text)" } ?? "")
        case .delivers(let send): "network: the response to refresh \(send) arrives"
        case .abandons(let send): "network: the client stops waiting for refresh \(send)"
        case .request(let exchange): text(exchange)
        case .issues(let call, let family): "server: call \(call) creates session \(family)"
        case .arrives(let call): "network: the response to the sign-in of call \(call) arrives"
        case .streams(let call, let piece): "server: sends piece \(piece) for call \(call)"
        case .receives(let life, let call, let piece): "\(life.text): call \(call) gets piece \(piece)"
        case .revokes(let life, let family): "server: session \(family) is revoked at the request of \(life.text)"
        case .missesRevocation(let life, let family): "network: \(life.text) cannot revoke session \(family)"
        case .withdraws(let family): "server: the access tokens of session \(family) are no longer accepted"
        case .forgets(let family): "server: session \(family) ends"
        case .plainRequest(let life, let cookie, let generation): text(life, cookie: cookie, emptied: generation)
        case .empties(let life, _): "\(life.text): the client without a manager is emptied"
        case .accountRequest(let life, let call, let account, let token): text(life, call, account, token)
        case .accountTokens(let call, let token): "server: call \(call) gets \(ofAccount(token))"
        case .removesFormer(let life): "\(life.text) deletes the former tokens"
        case .notesAdoption(let life): "\(life.text) notes that the former tokens were taken over"
        case .connects(let isConnected): isConnected ? "the network is back" : "the network is gone"
        case .jumps(let duration): "the clock jumps by \(duration.text)"
        case .setsWallClock(let seconds): "the wall clock is changed by \(Int(seconds)) s"
        case .repairs: "all faults end"
        case .settles(let life, let state, let reply, let stored):
            "\(life.text) at the end: \(state.text), a caller gets \(reply.text), the store contains \(text(stored))"
        }
    }

    private func text(_ life: Life, _ call: Int, _ caller: Int, _ kind: CallKind) -> String {
        "\(life.text): caller \(caller) \(kind.text) (call \(call))"
    }

    private func text(_ life: Life, _ call: Int, _ account: Int?, _ token: TokenName?) -> String {
        "\(life.text): \(account.map { "a refresh of account \($0)" } ?? "call \(call)") sends "
            + (token.map(ofAccount) ?? "no token")
    }

    private func ofAccount(_ token: TokenName) -> String { "token \(token.number) of account \(token.family)" }

    private func text(_ stored: StoredSession?) -> String {
        stored.flatMap { TokenName(of: $0.tokens) }?.text ?? "nothing"
    }

    private func text(_ life: Life, cookie: Int?, emptied generation: Int) -> String {
        "\(life.text): the client without a manager sends a request "
            + "(cookie \(cookie.map(String.init) ?? "none"), emptied \(generation) times)"
    }

    private func text(_ exchange: Exchange) -> String {
        let target = exchange.isElsewhere ? "to another origin " : ""
        let token = exchange.token.map { "with \($0.text)" } ?? "without a token"
        let cookie = exchange.cookie.map { " and the cookie of session \($0)" } ?? ""
        let status = exchange.status.map { "response \($0)" } ?? "no response"
        return "\(exchange.life.text): call \(exchange.call) sends a request \(target)\(token)\(cookie) (\(status))"
    }

    private func text(_ event: SimulatedDisk.Event) -> String? {
        switch event {
        case .requested, .completed: nil
        case .read(let reading): "reads the disk and finds \(text(reading))"
        case .wrote(let session): "writes \(text(session))"
        case .deleted(let session): "deletes \(session.map(text) ?? "nothing")"
        case .failed(let operation, let failure, let update):
            "the disk fails to \(operation == .lock ? "lock" : operation == .read ? "read" : text(update)) "
                + "(\(failure.description))"
        case .locked: "acquires the lock"
        case .tookOverLock(let name): "takes the lock away from process \(Life(named: name).process)"
        case .unlocked: "releases the lock"
        case .killed: "is killed"
        }
    }

    private func text(_ reading: StoreReading) -> String {
        switch reading {
        case .found(let session): text(session)
        case .empty: "nothing"
        case .ended(let mark): "nothing, and a mark (\(mark.expiry.map { "\($0)" } ?? "signed out"))"
        case .unavailable(let failure): "an error (\(failure.description))"
        }
    }

    private func text(_ update: StoreUpdate?) -> String {
        switch update {
        case .write(let session): "write \(text(session))"
        case .delete, .end: "delete the record"
        case .mark: "raise the mark"
        case .keep: "keep the record"
        case nil: "perform the operation"
        }
    }

    private func text(_ session: StoredSession) -> String {
        let token = TokenName(of: session.tokens)?.text ?? "a record"
        return session.hasRefreshJournal ? "\(token) with a journal entry" : token
    }

    private func text(_ event: SessionEvent) -> String {
        var text = String(describing: event)
        for (session, family) in world.history.families {
            text = text.replacing("Martlet.SessionStamp(session: \(session), rotation: ", with: "(session \(family), ")
            text = text.replacing("\(session)", with: "session \(family)")
        }
        // The ID of a session that never reached the disk is random, but two runs of a seed must give equal
        // transcripts.
        return text.replacing("Martlet.", with: "").replacing(/\b[0-9A-F]{8}\b/, with: "a session that is not stored")
    }
}

extension CallKind {
    var text: String {
        switch self {
        case .token: "asks for a token"
        case .renewal: "asks for a refresh"
        case .request(let plan): "makes a request (\(plan.text))"
        case .login: "signs in at the server"
        case .adoption(let family): "takes over the former tokens of session \(family)"
        case .signIn(let family): "signs in to session \(family)"
        case .signOut: "signs out"
        case .shared(let resource): "reads a shared resource (\(resource.text))"
        case .download: "downloads the film"
        case .account(let step): "uses its accounts (\(step))"
        case .plain(let resource, let owner): "reads as \(owner.text) without a manager (\(resource.text))"
        }
    }
}

extension RequestPlan {
    var text: String {
        let kind =
            switch kind {
            case .plain, .login, .guest, .shared, .film: isPost ? "POST" : "GET"
            case .stream: "stream"
            case .events: "event stream"
            case .inner: "of an interceptor"
            case .refresher: "of the refresher"
            case .signed: "signed for another client"
            case .repeated: "signed for another client that repeats it"
            }
        let token =
            switch authentication {
            case .none: "without a token"
            case .ifSignedIn: "with a token if signed in"
            case .required: "with a token"
            }
        let refresh = allowsRefresh ? "" : ", without a refresh"
        let target = (isPicky ? ", to an endpoint that rejects every token" : "") + refresh
        switch redirect {
        case .sameOrigin: return "\(kind) \(token)\(target), redirected"
        case .otherOrigin: return "\(kind) \(token)\(target), redirected to another origin"
        case nil: return "\(kind) \(token)\(target)"
        }
    }
}

extension Resource {
    var text: String {
        let token =
            switch authentication {
            case .none: "without a token"
            case .ifSignedIn: "with a token if signed in"
            case .required: "with a token"
            }
        return "\(freshness), \(token)"
    }
}

extension Reply {
    var text: String {
        switch self {
        case .token(let token): token.text
        case .done: "success"
        case .signedIn(let family): "session \(family)"
        case .content(let family): "the response for session \(family)"
        case .plainContent(let owner): "the response for \(owner.text)"
        case .accountContent(let account): "the response for account \(account)"
        case .current(let account): account.map { "account \($0)" } ?? "no account"
        case .cancelled: "nothing, because it was cancelled"
        case .film(let families, let size, let resumed):
            "a film of \(size) bytes, \(resumed) of them kept, for sessions \(families.sorted())"
        case .refused(let error): "an error: \(error.description)"
        case .failed(let error): "an error: \(error.description)"
        }
    }
}

extension Rejection {
    var text: String {
        switch self {
        case .spent: "because the token was spent"
        case .signedOut: "because the session was signed out"
        case .withdrawn: "because the session has ended"
        }
    }
}

extension SessionState {
    var text: String {
        switch self {
        case .loading: "loading"
        case .unavailable: "store unavailable"
        case .unreadable: "record unreadable"
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
