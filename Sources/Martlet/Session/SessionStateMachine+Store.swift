// MARK: - Events of the store

extension SessionStateMachine {
    /// The store has been read for the first time, or again after it could not be.
    mutating func loaded(_ seen: Sighting) {
        guard case .loading(let waiters) = state else { return }
        switch seen.reading {
        case .found(let record):
            state = .signedIn(ActiveSession(record: record, life: seen.life))
            actions.append(.emit(.restored(record.stamp)))
            if record.doubt?.isInherited == false { actions.append(.emit(.refreshWasCutShort(record.stamp))) }
            resume(waiters, .askAgain)
        case .empty:
            state = .signedOut
            actions.append(.emit(.restored(nil)))
            resume(waiters, .askAgain)
        case .unavailable(let failure):
            state = .unavailable(failure)
            actions.append(.emit(.storeFailed(.read, failure)))
            resume(waiters, .failure(.unavailable(failure)))
        }
    }

    /// A record has been written, or left as it was for what was seen there, or neither.
    mutating func saved(_ order: SaveOrder, over seen: Sighting, failure: StorageFailure?) {
        guard case .signedIn(var session) = state else { return }
        let isFirstTry = session.isSaving(order)
        guard isFirstTry || session.saveRetry == order.id else { return }
        var failure = failure
        if failure == nil {
            switch RecordComparison(seen.reading, with: order.record) {
            case .same, .older: break
            case .unreadable where !order.isStored, .otherSession where !order.isStored, .gone where !order.isStored:
                break
            case .unreadable(let why): failure = why
            case .newer(let found):
                if isFirstTry { actions.append(.emit(.refreshDiscarded(session.record.stamp, .superseded))) }
                return adopt(found, seen.life, &session)
            case .otherSession(let found):
                if isFirstTry { discard(order.record.bundle, of: session.record.stamp, because: .sessionChanged) }
                return switchTo(found, seen.life, from: session)
            case .gone:
                if isFirstTry { discard(order.record.bundle, of: session.record.stamp, because: .signedOut) }
                return signedOutElsewhere(session)
            }
        }
        if isFirstTry {
            settle(&session, with: order, failure: failure)
        } else {
            session.saveRetry = nil
            if failure == nil { actions.append(.emit(.storeRecovered(session.record.stamp))) }
        }
        session.isSaved = failure == nil
        session.isStored = session.isStored || failure == nil
        if failure == nil { hasWrittenOver(order.record) }
        if let failure {
            session.saveFailures += 1
            actions.append(.emit(.storeFailed(.write, failure)))
            if !session.awaitsSaveRetry {
                actions.append(.retrySave(after: policy.saveRetry(afterFailures: session.saveFailures)))
            }
            session.awaitsSaveRetry = true
        }
        state = .signedIn(session)
    }

    /// The store does not get to the order, since it does not come back from what it was asked before. Whoever waits goes on
    /// with what is in memory; it is written when its turn comes.
    mutating func saveDelayed(_ order: SaveOrder, _ failure: StorageFailure) {
        guard case .signedIn(var session) = state, session.isSaving(order) else { return }
        settle(&session, with: order, failure: failure)
        session.isSaved = false
        session.saveFailures += 1
        session.saveRetry = order.id
        actions.append(.emit(.storeFailed(.write, failure)))
        state = .signedIn(session)
    }

    /// The order as it stands now that its turn with the store has come; `nil` where the session is over and its record
    /// would be written over whatever others have done meanwhile.
    func current(_ order: SaveOrder) -> SaveOrder? {
        guard case .signedIn(let session) = state, session.isSaving(order) || session.saveRetry == order.id
        else { return order.isStored ? order : nil }
        var current = order
        current.isStored = session.isStored
        return current
    }

    /// A record has been written after writing it was reported as failed: from now on others may know the session.
    mutating func writtenLate(_ record: StoredSession) {
        guard case .signedIn(var session) = state, session.record.id == record.id else { return }
        session.isStored = true
        state = .signedIn(session)
        hasWrittenOver(record)
    }

    /// What was to go for the record's sake is not there any more.
    private mutating func hasWrittenOver(_ record: StoredSession) {
        if deletion?.scope == .everybodyBut(record.id) { deletion = nil }
    }

    /// Whether a deletion need not be done any more.
    func isObsolete(_ deletion: Deletion) -> Bool {
        guard case .everybodyBut = deletion.scope else { return false }
        return self.deletion?.id != deletion.id
    }

    /// Makes what has been written, or could not be, the session's current state.
    private mutating func settle(_ session: inout ActiveSession, with order: SaveOrder, failure: StorageFailure?) {
        if !session.isSaved, failure == nil { actions.append(.emit(.storeRecovered(order.record.stamp))) }
        let isNew = !session.isAnnounced
        session.record = order.record
        session.life = order.life
        session.renewed()
        session.isAnnounced = true
        session.saveFailures = 0
        session.saveRetry = nil
        actions.append(.emit(isNew ? .signedIn(order.record.stamp) : .refreshSucceeded(order.record.stamp)))
        // What the store still has is somebody else's, and would be back after a restart.
        if isNew, failure != nil { startDeletion(.everybodyBut(order.record.id)) }
        resume(session.waiters, .token(session.credential))
        session.waiters = []
    }

    /// The wait after a failed write is over.
    mutating func saveRetryDue() {
        guard case .signedIn(var session) = state else { return }
        defer { state = .signedIn(session) }
        session.awaitsSaveRetry = false
        guard !session.isSaved, session.saveRetry == nil else { return }
        if case .saving = session.phase { return }
        let order = SaveOrder(
            id: makeID(), record: session.record, life: session.life, isStored: session.isStored)
        session.saveRetry = order.id
        actions.append(.save(order))
    }

    /// The record of a session whose refresh token was refused has been deleted, or left for what was seen there.
    mutating func condemned(_ order: RefreshOrder, over seen: Sighting, failure: StorageFailure?) {
        guard case .signedIn(var session) = state, case .condemning(let current, let reason) = session.phase,
            current.id == order.id
        else { return }
        switch RecordComparison(seen.reading, with: order.record) {
        case .newer(let found):
            adopt(found, seen.life, &session)
        case .otherSession(let found) where session.isStored:
            switchTo(found, seen.life, from: session)
        case .otherSession:
            // It is there only because this one was never written: that it is to go is noted already, or others have
            // signed in since.
            expire(session, because: reason)
            if deletion == nil { heed(seen) }
        case .same, .older, .gone:
            expire(session, because: reason)
            if let failure {
                actions.append(.emit(.storeFailed(.delete, failure)))
                startDeletion(.refused(session.record), sparesUnreadable: true)
            }
        case .unreadable(let why):
            expire(session, because: reason)
            actions.append(.emit(.storeFailed(.delete, failure ?? why)))
            startDeletion(.refused(session.record), sparesUnreadable: true)
        }
    }

    /// A deletion has been done, or has failed.
    /// - Parameter seen: What was there before.
    mutating func deleted(_ id: OrderID, over seen: Sighting? = nil, failure: StorageFailure?) {
        guard var deletion, deletion.id == id else { return }
        if let failure {
            deletion.failures += 1
            self.deletion = deletion
            actions.append(.emit(.storeFailed(.delete, failure)))
            actions.append(.retryDelete(id, after: policy.saveRetry(afterFailures: deletion.failures)))
        } else {
            if deletion.failures > 0 { actions.append(.emit(.storeRecovered(nil))) }
            self.deletion = nil
            if let seen { takeBack(seen, over: deletion) }
            // Until now no look at the store counted, since what was to go could still have been there.
            if let seen, case .found(let record) = seen.reading, !deletion.scope.includes(record) { heed(seen) }
        }
    }

    /// The store does not get to a deletion, since it does not come back from what it was asked before. It is done when its
    /// turn comes.
    mutating func deletionDelayed(_ id: OrderID, _ failure: StorageFailure) {
        guard var deletion, deletion.id == id else { return }
        deletion.failures += 1
        self.deletion = deletion
        actions.append(.emit(.storeFailed(.delete, failure)))
    }

    /// The session has ended while its record could not be read, and now there is one that was not refused.
    private mutating func takeBack(_ seen: Sighting, over deletion: Deletion) {
        guard case .expired(_, let id) = state, case .refused(let refused) = deletion.scope, refused.id == id,
            case .newer(let found) = RecordComparison(seen.reading, with: refused)
        else { return }
        ended = nil
        takeOver(found, seen.life)
    }

    /// The wait after a failed deletion is over.
    mutating func deleteRetryDue(_ id: OrderID) {
        guard let deletion, deletion.id == id else { return }
        actions.append(.delete(deletion))
    }

    /// - Parameter sparesUnreadable: Where nobody asked for it, and a record that cannot be read stays until it can be.
    mutating func startDeletion(_ scope: DeletionScope, sparesUnreadable: Bool = false) {
        // What was to go before is still to go, and nobody is left who could stay.
        let order = Deletion(
            id: makeID(), scope: deletion == nil ? scope : .everybody,
            sparesUnreadable: sparesUnreadable && deletion?.sparesUnreadable != false)
        deletion = order
        actions.append(.delete(order))
    }
}

// MARK: - What other processes do

extension SessionStateMachine {
    /// What became of a look into the store.
    enum LookOutcome: Sendable {
        case heeded
        /// Somebody signed in or out while it was made.
        case outdated
        /// It cannot be read, or has a record that is about to go.
        case notNow
    }

    /// Somebody may have changed the record; this is what was found. `epoch` is that of the moment of looking.
    @discardableResult
    mutating func looked(_ seen: Sighting, since epoch: Int) -> LookOutcome {
        guard epoch == self.epoch else { return .outdated }
        if case .signedIn(var session) = state, case .found(let record) = seen.reading, record.id == session.record.id {
            // It may have come there by a write that was reported as failed.
            session.isStored = true
            state = .signedIn(session)
        }
        if case .unavailable = seen.reading { return .notNow }
        guard deletion == nil else { return .notNow }
        heed(seen)
        return .heeded
    }

    private mutating func heed(_ seen: Sighting) {
        switch state {
        case .notLoaded, .loading:
            break
        case .unavailable:
            // It can be read again: a device was unlocked, say.
            state = .loading(waiters: [])
            loaded(seen)
        case .signedOut, .expired:
            if case .found(let record) = seen.reading, record.id != ended { takeOver(record, seen.life) }
        case .signedIn(var session):
            // A write that is on its way looks for itself.
            switch session.phase {
            case .saving, .condemning: return
            case .settled, .preparing, .sending: break
            }
            switch RecordComparison(seen.reading, with: session.record) {
            case .newer(let found): adopt(found, seen.life, &session)
            case .otherSession(let found): if session.isStored { switchTo(found, seen.life, from: session) }
            case .gone: if session.isStored { signedOutElsewhere(session) }
            case .same, .older, .unreadable: break
            }
        }
    }

    /// Takes over what another process has got for the same session.
    mutating func adopt(_ record: StoredSession, _ life: TokenLife?, _ session: inout ActiveSession) {
        session.record = record
        session.life = life
        session.renewed()
        session.isSaved = true
        session.isStored = true
        session.saveFailures = 0
        session.saveRetry = nil
        actions.append(.emit(.adopted(record.stamp)))
        resume(session.waiters, .renewed(record.id))
        session.waiters = []
        state = .signedIn(session)
    }

    /// Gives up a session for the one that another process has started in its place.
    mutating func switchTo(_ record: StoredSession, _ life: TokenLife?, from session: ActiveSession) {
        guard record.id != ended else { return signedOutElsewhere(session) }
        takeOver(record, life)
    }

    private mutating func takeOver(_ record: StoredSession, _ life: TokenLife?) {
        epoch += 1
        leave(.sessionChanged)
        state = .signedIn(ActiveSession(record: record, life: life))
        actions.append(.emit(.adopted(record.stamp)))
    }

    /// Another process has deleted the record.
    mutating func signedOutElsewhere(_ session: ActiveSession) {
        epoch += 1
        leave(.signedOut)
        state = .signedOut
        actions.append(.emit(.signedOutElsewhere(session.record.id)))
    }
}

extension SessionStateMachine.ActiveSession {
    fileprivate func isSaving(_ order: SessionStateMachine.SaveOrder) -> Bool {
        guard case .saving(let current) = phase else { return false }
        return current.id == order.id
    }

    /// There are new tokens: what was held against the old ones is void.
    mutating func renewed() {
        phase = .settled
        isRejected = false
        coolDown = nil
        failures = 0
    }
}
