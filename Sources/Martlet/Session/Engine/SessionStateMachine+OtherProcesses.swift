extension SessionStateMachine {
    /// What the machine did with a snapshot of the store.
    enum SnapshotOutcome: Sendable {
        /// The state was compared with it and adapted if necessary.
        case reconciled
        /// Ignored: a sign-in or sign-out happened while it was taken.
        case outdated
        /// Ignored: the store cannot be read, or a deletion is pending.
        case unavailable
    }

    /// The store was read because another process may have changed the record.
    /// - Parameter epoch: The epoch when the snapshot was taken.
    @discardableResult
    mutating func snapshotTaken(_ snapshot: StoreSnapshot, since epoch: Int) -> SnapshotOutcome {
        guard epoch == self.epoch else { return .outdated }
        if case .signedIn(var session) = state, case .found(let record) = snapshot.reading,
            record.id == session.record.id
        {
            // A write that was reported as failed may have succeeded.
            session.hasBeenStored = true
            state = .signedIn(session)
        }
        if case .unavailable = snapshot.reading { return .unavailable }
        guard deletion == nil else { return .unavailable }
        reconcile(snapshot)
        return .reconciled
    }

    /// Adapts the state to what another process may have changed in the store.
    mutating func reconcile(_ snapshot: StoreSnapshot) {
        switch state {
        case .notLoaded, .loading:
            break
        case .unavailable:
            // The store can be read again, for example because the device was unlocked.
            state = .loading(waiters: [])
            loaded(snapshot)
        case .signedOut, .expired:
            if case .found(let record) = snapshot.reading, record.id != lastEnded {
                activate(record, snapshot.deadlines)
            }
        case .signedIn(var session):
            // The pending update compares the stored record itself.
            switch session.phase {
            case .saving, .confirmingExpiry: return
            case .settled, .preparing, .sending: break
            }
            switch RecordComparison(snapshot.reading, with: session.record) {
            case .newer(let found): adopt(found, snapshot.deadlines, &session)
            case .otherSession(let found):
                if session.yields(to: found) { switchTo(found, snapshot.deadlines, from: session) }
            case .gone: if session.hasBeenStored { signedOutElsewhere(session) }
            case .same, .older, .unreadable: break
            }
        }
    }

    /// Uses the tokens that another process has stored for the same session.
    mutating func adopt(_ record: StoredSession, _ deadlines: TokenDeadlines?, _ session: inout ActiveSession) {
        session.record = record
        session.deadlines = deadlines
        session.resetForNewTokens()
        session.saveFailure = nil
        session.hasBeenStored = true
        session.saveFailures = 0
        session.saveRetry = nil
        actions.append(.emit(.adopted(record.stamp)))
        resume(session.waiters, .refreshedElsewhere(record.id))
        session.waiters = []
        state = .signedIn(session)
    }

    /// Replaces the session with one that another process has started, unless that one has already ended here.
    mutating func switchTo(_ record: StoredSession, _ deadlines: TokenDeadlines?, from session: ActiveSession) {
        guard record.id != lastEnded else { return signedOutElsewhere(session) }
        activate(record, deadlines)
    }

    /// Makes a session from the store the current one.
    mutating func activate(_ record: StoredSession, _ deadlines: TokenDeadlines?) {
        epoch += 1
        endSession(.sessionChanged)
        state = .signedIn(ActiveSession(record: record, deadlines: deadlines))
        actions.append(.emit(.adopted(record.stamp)))
    }

    /// Another process has deleted the record.
    mutating func signedOutElsewhere(_ session: ActiveSession) {
        epoch += 1
        endSession(.signedOut)
        state = .signedOut
        actions.append(.emit(.signedOutElsewhere(session.record.id)))
    }
}
