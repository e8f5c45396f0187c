// MARK: - Changes by other processes

extension SessionStateMachine {
    /// Adapts the state to what another process may have changed in the store.
    mutating func reconcile(_ snapshot: StoreSnapshot) {
        guard let session else { return isUnread ? () : reconcileWithoutSession(snapshot) }
        // The pending update compares the stored record itself.
        guard !session.isStoring, session.refusal == nil else { return }
        let verdict = session.verdict(on: counted(snapshot.reading), for: session.record)
        if follow(verdict, snapshot.deadlines) { return }
        // A write that was reported as failed has succeeded.
        if case .ours(let found?) = verdict, session.isStored(as: found) { markWritten() }
    }

    private mutating func reconcileWithoutSession(_ snapshot: StoreSnapshot) {
        switch snapshot.reading {
        case .found(let record) where mark?.covers(record) != true:
            activate(record, snapshot.deadlines)
        case .found:
            // Another process has repeated a write that it took to have failed, or died while it ended the session.
            if let mark, ending == nil { startEnding(mark) }
        case .ended(let found) where found == mark && found.expiry == nil:
            // The user has signed out there since, perhaps of a later session that this process has not seen.
            guard case .expired(_, let expired) = absence else { break }
            endSession(.signedOut)
            emit(.signedOutElsewhere(expired))
        case .ended, .empty, .unavailable:
            break
        }
    }

    /// Follows another process that has refreshed the tokens, signed a user in, or signed out. New tokens that are still
    /// being stored will never be used.
    /// - Returns: Whether there was anything to follow.
    mutating func follow(_ verdict: StoreVerdict, _ deadlines: TokenDeadlines?) -> Bool {
        guard let session else { return false }
        switch verdict {
        case .ours, .unreadable:
            return false
        case .newer(let found):
            if session.isStoring { emit(.refreshDiscarded(session.record.stamp)) }
            adopt(found, deadlines)
        case .otherSession(let found):
            abandonUnwritten(of: session)
            activate(found, deadlines)
        case .gone(let mark):
            abandonUnwritten(of: session)
            endedElsewhere(session, mark)
        }
        return true
    }

    /// Revokes the tokens that the store does not contain. No other process knows them.
    private mutating func abandonUnwritten(of session: ActiveSession) {
        guard let unwritten = session.unwritten else { return }
        if session.isStoring { emit(.refreshDiscarded(session.record.stamp)) }
        actions.append(.revoke(unwritten.bundle, expiresAt: nil))
    }

    /// Uses the tokens that another process has stored for the same session.
    private mutating func adopt(_ record: StoredSession, _ deadlines: TokenDeadlines?) {
        session?.install(record, deadlines)
        markWritten()
        emit(.adopted(record.stamp))
        resumeWaiters(.refreshedElsewhere(record.id))
    }

    /// Makes a session from the store the current one.
    private mutating func activate(_ record: StoredSession, _ deadlines: TokenDeadlines?) {
        endSession(.sessionChanged)
        start(record, deadlines)
        emit(.adopted(record.stamp))
    }

    /// Starts a session that the store contains.
    mutating func start(_ record: StoredSession, _ deadlines: TokenDeadlines?) {
        learn(.found(record))
        session = ActiveSession(record: record, deadlines: deadlines)
        absence = .signedOut
    }

    /// Another process has ended the session. Without a mark, the record is gone because a user signed out there.
    private mutating func endedElsewhere(_ session: ActiveSession, _ mark: EndMark?) {
        if let reason = mark?.expiry { return expire(because: reason) }
        endSession(.signedOut)
        emit(.signedOutElsewhere(session.record.id))
    }
}
