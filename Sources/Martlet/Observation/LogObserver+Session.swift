extension LogObserver {
    /// Logs the events of a session too: sign-in, refreshes, sign-out, the end of the session, and failures of the
    /// store.
    ///
    /// ```swift
    /// let log = LogObserver.console()
    /// config.observers = [log]
    /// log.follow(tokens)
    /// ```
    /// - Parameter tokens: The owner of the session. The observer does not retain it.
    /// - Returns: The task that logs. It ends with the manager; cancel it to stop earlier.
    @discardableResult
    public func follow(_ tokens: TokenManager) -> Task<Void, Never> {
        let events = tokens.events
        return Task {
            for await event in events { self.log(LogLine(event)) }
        }
    }
}

extension SessionEvent: CustomStringConvertible {
    /// The line of a log, with secrets masked: `session 1A2B3C4D/4 has a new access token`.
    public var description: String { LogLine(self).description }
}

extension LogLine {
    init(_ event: SessionEvent) {
        let (level, outcome, note) = event.logText
        self.init(level, "session", "", outcome, note: note)
    }
}

extension SessionEvent {
    fileprivate var logText: (LogObserver.Level, outcome: String, note: String) {
        switch self {
        case .restored(nil): (.info, "not found in the store", "")
        case .restored(let stamp?): (.info, "\(stamp) restored", "")
        case .signedIn(let stamp): (.info, "\(stamp) signed in", "")
        case .signedOut(let id): (.info, id.map { "\($0) signed out" } ?? "signed out, and no session was known", "")
        case .refreshStarted(let stamp, let reason):
            (.info, "\(stamp) needs a new access token, because \(reason.logText)", "")
        case .refreshJoined(let stamp): (.debug, "\(stamp) a caller waits for the new access token", "")
        case .refreshSucceeded(let stamp): (.info, "\(stamp) has a new access token", "")
        case .refreshFailed(let stamp, let failure, let backoff):
            (.notice, "\(stamp) refresh failed, backoff \(LogLine.text(of: backoff))", failure.description)
        case .refreshReplayed(let stamp, let failure): (.notice, "\(stamp) repeating the refresh", failure.description)
        case .refreshInterrupted(let stamp):
            // In most cases another process is refreshing now.
            (.debug, "\(stamp) has a refresh without a result yet, of this or another process", "")
        case .adopted(let stamp):
            (.info, "\(stamp) \(stamp.rotation == 0 ? "signed in by" : "adopted from") another process", "")
        case .signedOutElsewhere(let id):
            (.info, (id.map { "\($0) " } ?? "") + "signed out by another process", "")
        case .refreshBudgetExceeded(let stamp): (.notice, "\(stamp) not refreshed, the refresh budget is used up", "")
        case .refreshDiscarded(let stamp):
            (.debug, "\(stamp) gave up a refresh, because the session or its tokens have changed", "")
        case .tokenProbed(let stamp): (.info, "\(stamp) used once more, another endpoint has rejected it", "")
        case .expired(let id, let reason): (.error, "\(id) ended", reason.description)
        case .storeReadFailed(let failure): (.notice, "store failed to read", failure.description)
        case .storeWriteFailed(let failure): (.notice, "store failed to write", failure.description)
        case .storeDeleteFailed(let failure):
            (.notice, "store failed to delete the record of an ended session", failure.description)
        case .storeLockFailed(let failure): (.notice, "store failed to lock", failure.description)
        case .storeWatchFailed(let failure): (.notice, "store cannot be watched", failure.description)
        case .orderedByClock:
            (.notice, "store could not be read or written, so the clock decides which sessions are earlier", "")
        case .replacedUnreadableRecord(let error):
            (.notice, "store had a record that could not be read, which the sign-in replaced", error.description)
        case .storeRecovered: (.info, "store is up to date again", "")
        case .revoked: (.info, "tokens revoked at the server", "")
        case .revocationFailed(let why): (.notice, "tokens not revoked at the server", why)
        }
    }
}

extension SessionEvent.RefreshReason {
    fileprivate var logText: String {
        switch self {
        case .expiringSoon: "the old one expires soon"
        case .expired: "the old one has expired"
        case .rejected: "the server rejected the old one"
        case .forced: "the app requested it"
        }
    }
}
