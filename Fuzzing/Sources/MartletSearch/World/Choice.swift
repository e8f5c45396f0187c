/// One event from outside the engine. Everything that follows from it happens before the next one, except for
/// ``overtaken(_:by:after:)``.
indirect enum Choice: Hashable, Sendable {
    case asks(Ask)
    /// A server returned 401 to a request signed with this token. The caller does not wait for another token.
    case reportsRejection
    /// The server accepts the request of a caller that went out with a rejected token.
    case acceptsProbe
    case signsIn
    case signsOut
    /// The oldest waiting caller of a kind is cancelled.
    case isCancelled(Ask.Kind)
    /// The oldest operation of the store ends.
    case store(SearchDisk.Outcome)
    /// The server responds to a refresh, by index.
    case server(Int, SearchServer.Outcome)
    /// Time passes until the next sleeping task wakes.
    case timerFires
    /// Time passes until the newest token is about to expire or has expired, or until a backoff is over.
    case timePasses
    case anotherProcessRefreshes
    case anotherProcessSignsOut
    case anotherProcessSignsIn
    case changeIsReported
    case anotherProcessLocks
    case anotherProcessUnlocks
    /// The process was stopped for longer than its lease.
    case lockIsLost
    case lockBreaks
    case recordIsDamaged
    /// The process is killed and starts again.
    /// - `commits`: whether the store still completes its oldest operation.
    /// - `spends`: whether the server still processes the refresh.
    case restarts(commits: Bool, spends: Bool)
    /// An event resumes a task. After this number of the following steps, another event happens with all its
    /// consequences.
    case overtaken(Choice, by: Choice, after: Int)

    /// The request of a caller.
    enum Ask: Hashable {
        case token
        /// A token for a request that takes nearly as long as the lifetime of a token.
        case lastingToken
        /// A token that may be one that the server has rejected for another caller.
        case probing
        case forced
        /// A replacement for a token that the server has rejected.
        case replacement(Held)

        enum Kind: Int, Hashable { case token, lastingToken, probing, forced, replacement, signIn, signOut }
    }

    /// A token that callers have received.
    enum Held: Hashable, CaseIterable {
        case newest
        /// The previous token of the same session.
        case older
        /// The newest token of another session.
        case ofEndedSession
    }
}

extension Choice {
    /// Whether the choice is of a kind that a sequence may contain only a few times.
    /// - Parameter isBusy: Whether the process waits for its store or its server.
    func isDisturbance(isBusy: Bool) -> Bool {
        switch self {
        case .asks, .acceptsProbe, .signsIn, .signsOut, .store(.works), .server(_, .answers), .changeIsReported,
            .anotherProcessUnlocks:
            false
        case .timePasses, .timerFires: isBusy
        case .reportsRejection, .isCancelled, .store, .server, .anotherProcessRefreshes, .anotherProcessSignsOut,
            .anotherProcessSignsIn, .anotherProcessLocks, .lockIsLost, .lockBreaks, .recordIsDamaged, .restarts,
            .overtaken:
            true
        }
    }
}

extension Choice {
    /// Whether the event resumes a task that has waited for the store or the server.
    var isResumption: Bool {
        switch self {
        case .store(.works), .server(_, .answers), .server(_, .refuses): true
        default: false
        }
    }

    /// Whether the event may happen before a task that was resumed runs.
    var mayOvertake: Bool {
        switch self {
        case .signsIn, .signsOut, .asks(.token), .asks(.forced), .isCancelled: true
        default: false
        }
    }
}

extension Choice: CustomStringConvertible {
    var description: String {
        switch self {
        case .asks(let ask): "a caller asks for \(ask.words)"
        case .reportsRejection: "a request with the newest token is rejected"
        case .acceptsProbe: "the server accepts the probe"
        case .signsIn: "a user signs in"
        case .signsOut: "the user signs out"
        case .isCancelled(let kind): "a caller is cancelled (\(kind))"
        case .store(.works): "the store completes its operation"
        case .store(.isUnavailable): "the store is locked"
        case .store(.cannotWrite): "the store cannot be written"
        case .store(.failsAfterCommit): "the store changes the record and reports a failure"
        case .server(let index, let outcome): "the server \(outcome.words)\(index == 0 ? "" : " (\(index))")"
        case .timerFires: "the next sleeping task wakes"
        case .timePasses: "time passes"
        case .anotherProcessRefreshes: "another process refreshes"
        case .anotherProcessSignsOut: "another process signs out"
        case .anotherProcessSignsIn: "another process signs a user in"
        case .changeIsReported: "the change by another process is reported"
        case .anotherProcessLocks: "another process takes the lock"
        case .anotherProcessUnlocks: "another process releases the lock"
        case .lockIsLost: "the lock is lost"
        case .lockBreaks: "the lock cannot be used from now on"
        case .recordIsDamaged: "the record is damaged"
        case .restarts(let commits, let spends):
            "the process is killed and starts again"
                + (commits ? "; the store completes its operation" : "")
                + (spends ? "; the server processes the refresh" : "")
        case .overtaken(let first, let second, let steps):
            "\(first), and after \(steps) steps of what follows, \(second)"
        }
    }
}

extension Choice.Ask {
    var kind: Kind {
        switch self {
        case .token: .token
        case .lastingToken: .lastingToken
        case .probing: .probing
        case .forced: .forced
        case .replacement: .replacement
        }
    }

    var words: String {
        switch self {
        case .token: "a token"
        case .lastingToken: "a lasting token"
        case .probing: "a token, and may probe a rejected one"
        case .forced: "a forced refresh"
        case .replacement(.newest): "a token in place of the newest one"
        case .replacement(.older): "a token in place of an older one"
        case .replacement(.ofEndedSession): "a token in place of one of an earlier session"
        }
    }
}

extension SearchServer.Outcome {
    var words: String {
        switch self {
        case .answers: "answers the refresh"
        case .refuses: "ends the session"
        case .isBusy: "is busy"
        case .asksToWait: "is busy and says for how long"
        case .isOffline: "is never reached"
        case .losesRequest: "loses the connection before it processes the refresh"
        case .losesResponse: "spends the refresh token, and the response is lost"
        }
    }
}
