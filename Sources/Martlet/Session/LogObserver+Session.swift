extension LogObserver {
    /// Tells of a session too: sign-in, refreshes, sign-out, the end that a server makes of it, and trouble with the store.
    ///
    /// ```swift
    /// let log = LogObserver.console()
    /// config.observers = [log]
    /// log.follow(tokens)
    /// ```
    /// - Parameter tokens: Owns the session. It is not kept alive by this.
    /// - Returns: What tells. It ends with the manager; cancel it to end it sooner.
    @discardableResult
    public func follow(_ tokens: TokenManager) -> Task<Void, Never> {
        let events = tokens.events
        return Task {
            for await event in events { self.tell(LogLine(event)) }
        }
    }
}

extension LogLine {
    /// A step of a session's life.
    init(_ event: SessionEvent) {
        let (level, what, note) = event.told
        self.init(level, "session", "", what, note: note)
    }
}

extension SessionEvent {
    fileprivate var told: (LogLine.Level, what: String, note: String) {
        switch self {
        case .restored(nil): (.info, "none is stored", "")
        case .restored(let stamp?): (.info, "\(stamp) restored", "")
        case .signedIn(let stamp): (.info, "\(stamp) signed in", "")
        case .signedOut(let id): (.info, id.map { "\($0) signed out" } ?? "none to sign out of", "")
        case .refreshStarted(let stamp, let reason): (.info, "\(stamp) is being renewed, \(reason.told)", "")
        case .refreshJoined(let stamp): (.debug, "\(stamp) is being renewed, and somebody else waits for it", "")
        case .refreshSucceeded(let stamp): (.info, "\(stamp) has a new token", "")
        case .refreshFailed(let stamp, let failure, let coolDown):
            (
                .notice, "\(stamp) not renewed, and not again for \(LogLine.text(of: coolDown))", failure.description
            )
        case .refreshReplayed(let stamp, let failure):
            (.notice, "\(stamp) is being renewed once more", failure.description)
        case .refreshWasCutShort(let stamp): (.notice, "\(stamp) was being renewed when its process ended", "")
        case .adopted(let stamp): (.info, "\(stamp) taken over from another process", "")
        case .signedOutElsewhere(let id): (.info, "\(id) signed out by another process", "")
        case .refreshRefused(let stamp): (.notice, "\(stamp) not renewed, as it was too often lately", "")
        case .refreshDiscarded(let stamp, let reason):
            (.info, "\(stamp): a new token came too late, \(reason.told)", "")
        case .expired(let id, let reason): (.error, "\(id) is over", reason.description)
        case .storeFailed(let operation, let failure):
            (.notice, "the store failed to \(operation)", failure.description)
        case .storeRecovered: (.info, "the store has the newest tokens again", "")
        case .revoked: (.info, "tokens revoked at the server", "")
        case .revocationFailed(let why): (.notice, "tokens not revoked at the server", why)
        }
    }
}

extension SessionEvent.RefreshReason {
    fileprivate var told: String {
        switch self {
        case .expiringSoon: "before its token expires"
        case .expired: "as its token has expired"
        case .rejected: "as the server refused its token"
        case .forced: "as it was asked for"
        }
    }
}

extension SessionEvent.DiscardReason {
    fileprivate var told: String {
        switch self {
        case .signedOut: "after the sign-out"
        case .sessionChanged: "for another session is signed in"
        case .superseded: "for there is a newer one"
        }
    }
}
