// MARK: - Results of the store

extension SessionStateMachine {
    /// The store was read, for the first time or again after a failure.
    mutating func loaded(_ snapshot: StoreSnapshot) {
        guard case .loading(let waiters) = state else { return }
        if snapshot.reading.wasReadable { readFailures = 0 }
        switch snapshot.reading {
        case .found(let record):
            state = .signedIn(ActiveSession(record: record, deadlines: snapshot.deadlines))
            actions.append(.emit(.restored(record.stamp)))
            if record.unresolvedJournal?.isInherited == false {
                actions.append(.emit(.refreshInterrupted(record.stamp)))
            }
            resume(waiters, .askAgain)
        case .empty:
            state = .signedOut
            actions.append(.emit(.restored(nil)))
            resume(waiters, .askAgain)
        case .unavailable(let failure):
            state = .unavailable(failure)
            actions.append(.emit(.storeFailed(.read, failure)))
            resume(waiters, .failure(.unavailable(failure)))
            readFailures += 1
            // The app may be waiting for the state without making a call.
            if failure.kind.isTransient, !awaitsReadRetry, readsByItself {
                awaitsReadRetry = true
                actions.append(.retryRead(after: policy.saveRetry(afterFailures: readFailures)))
            }
        }
    }

    /// A write has finished: the record was written, or the stored one was kept because another process was faster, or
    /// the write failed.
    mutating func saveFinished(_ job: SaveJob, over snapshot: StoreSnapshot, failure: StorageError?) {
        guard case .signedIn(var session) = state else { return }
        let isFirstTry = session.isSaving(job)
        guard isFirstTry || session.saveRetry == job.id else { return }
        var failure = failure
        if failure == nil {
            switch RecordComparison(snapshot.reading, with: job.record) {
            case .same, .older: break
            case .unreadable where !job.hasBeenStored, .gone where !job.hasBeenStored: break
            case .otherSession(let found) where !job.yields(to: found): break
            case .unreadable(let error): failure = error
            case .newer(let found):
                if isFirstTry { actions.append(.emit(.refreshDiscarded(session.record.stamp, .superseded))) }
                return adopt(found, snapshot.deadlines, &session)
            case .otherSession(let found):
                if isFirstTry { discard(job.record.bundle, of: session.record.stamp, because: .sessionChanged) }
                return switchTo(found, snapshot.deadlines, from: session)
            case .gone:
                if isFirstTry { discard(job.record.bundle, of: session.record.stamp, because: .signedOut) }
                return signedOutElsewhere(session)
            }
        }
        if isFirstTry {
            let isNew = install(&session, with: job, failure: failure)
            if failure != nil, isNew { makeRoom(for: &session, over: snapshot) }
        } else {
            session.saveRetry = nil
            if failure == nil { actions.append(.emit(.storeRecovered(session.record.stamp))) }
        }
        session.saveFailure = failure
        if failure == nil, isFirstTry, !job.hasBeenStored, case .unavailable(let error) = snapshot.reading {
            session.replacedRecord = error
            actions.append(.emit(.replacedUnreadableRecord(error)))
        }
        session.hasBeenStored = session.hasBeenStored || failure == nil
        if failure == nil { dropDeletion(replacedBy: job.record) }
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

    /// An earlier operation blocks the store for too long. The waiters continue with the tokens in memory; the record
    /// is written after that operation.
    mutating func saveDelayed(_ job: SaveJob, _ failure: StorageError) {
        guard case .signedIn(var session) = state, session.isSaving(job) else { return }
        let isNew = install(&session, with: job, failure: failure)
        if isNew { makeRoom(for: &session, over: .unavailable(failure)) }
        session.saveFailure = failure
        session.saveFailures += 1
        session.saveRetry = job.id
        actions.append(.emit(.storeFailed(.write, failure)))
        state = .signedIn(session)
    }

    /// The job with the current value of `hasBeenStored`. Asked when the job's operation starts in the store queue.
    /// - Returns: `nil` if its session has ended and was never stored: writing it could overwrite a later session.
    func pending(_ job: SaveJob) -> SaveJob? {
        guard case .signedIn(let session) = state, session.isSaving(job) || session.saveRetry == job.id
        else { return job.hasBeenStored ? job : nil }
        var current = job
        current.hasBeenStored = session.hasBeenStored
        current.replaceable = session.replaceable
        return current
    }

    /// A record was written after the write had been reported as failed. From now on other processes can see the
    /// session.
    mutating func savedLate(_ record: StoredSession) {
        guard case .signedIn(var session) = state, session.record.id == record.id else { return }
        session.hasBeenStored = true
        state = .signedIn(session)
        dropDeletion(replacedBy: record)
    }

    /// Drops the pending deletion of other records: the new record has overwritten them.
    private mutating func dropDeletion(replacedBy record: StoredSession) {
        switch deletion?.scope {
        case .allRecordsExcept(record.id): deletion = nil
        case .session(let id) where id != record.id: deletion = nil
        default: break
        }
    }

    /// Whether a deletion is no longer needed, because the record that it spares has overwritten the others.
    func isObsolete(_ deletion: Deletion) -> Bool {
        guard case .allRecordsExcept = deletion.scope else { return false }
        return self.deletion?.id != deletion.id
    }

    /// Makes the job's tokens the current ones, after they were written or the write failed.
    /// - Returns: Whether they are those of a sign-in.
    private mutating func install(
        _ session: inout ActiveSession, with job: SaveJob, failure: StorageError?
    ) -> Bool {
        if session.saveFailure != nil, failure == nil { actions.append(.emit(.storeRecovered(job.record.stamp))) }
        let isNew = !session.isVisible
        session.record = job.record
        session.deadlines = job.deadlines
        session.resetForNewTokens()
        session.isVisible = true
        session.saveFailures = 0
        session.saveRetry = nil
        actions.append(.emit(isNew ? .signedIn(job.record.stamp) : .refreshSucceeded(job.record.stamp)))
        resume(session.waiters, .token(session.credential))
        session.waiters = []
        return isNew
    }

    /// Starts deleting the record of an earlier session, which would be restored after a restart. A later sign-in, in
    /// another process, must survive.
    private mutating func makeRoom(for session: inout ActiveSession, over snapshot: StoreSnapshot) {
        switch snapshot.reading {
        case .empty:
            session.replaceable = .only(nil)
        case .found(let earlier):
            session.replaceable = .only(earlier.id)
            startDeletion(.session(earlier.id))
        case .unavailable:
            startDeletion(.allRecordsExcept(session.record.id))
        }
    }

    /// The delay after a failed write is over.
    mutating func saveRetryDue() {
        guard case .signedIn(var session) = state else { return }
        defer { state = .signedIn(session) }
        session.awaitsSaveRetry = false
        guard session.saveFailure != nil, session.saveRetry == nil else { return }
        if case .saving = session.phase { return }
        let job = SaveJob(
            id: makeID(), record: session.record, deadlines: session.deadlines, hasBeenStored: session.hasBeenStored,
            replaceable: session.replaceable)
        session.saveRetry = job.id
        actions.append(.save(job))
    }

    /// The server rejected the refresh token, and the store was asked to delete the record. `snapshot` is what it
    /// contained: the record is kept if it is newer or belongs to another session.
    mutating func expiryCheckFinished(_ job: RefreshJob, over snapshot: StoreSnapshot, failure: StorageError?) {
        guard case .signedIn(var session) = state, case .confirmingExpiry(let current, let reason) = session.phase,
            current.id == job.id
        else { return }
        switch RecordComparison(snapshot.reading, with: job.record) {
        case .newer(let found):
            adopt(found, snapshot.deadlines, &session)
        case .otherSession(let found) where session.yields(to: found):
            switchTo(found, snapshot.deadlines, from: session)
        case .otherSession:
            // This session was never written, so the record belongs to an earlier session whose deletion is already
            // pending, or to a later sign-in in another process.
            expire(session, because: reason)
            if deletion == nil { reconcile(snapshot) }
        case .same, .older, .gone:
            expire(session, because: reason)
            if let failure {
                actions.append(.emit(.storeFailed(.delete, failure)))
                startDeletion(.rejectedOrOlder(session.record), sparesUnreadable: true)
            }
        case .unreadable(let error):
            expire(session, because: reason)
            actions.append(.emit(.storeFailed(.delete, failure ?? error)))
            startDeletion(.rejectedOrOlder(session.record), sparesUnreadable: true)
        }
    }

    /// A deletion has succeeded or failed.
    /// - Parameter snapshot: What the store contained before.
    mutating func deletionFinished(_ id: JobID, over snapshot: StoreSnapshot? = nil, failure: StorageError?) {
        guard var deletion, deletion.id == id else { return }
        if let failure {
            deletion.failures += 1
            self.deletion = deletion
            actions.append(.emit(.storeFailed(.delete, failure)))
            actions.append(.retryDelete(id, after: policy.saveRetry(afterFailures: deletion.failures)))
        } else {
            if deletion.failures > 0 { actions.append(.emit(.storeRecovered(nil))) }
            self.deletion = nil
            if let snapshot { restoreNewerRecord(snapshot, over: deletion) }
            // Snapshots were ignored while the deletion was pending, so take this record into account now.
            if let snapshot, case .found(let record) = snapshot.reading, !deletion.scope.includes(record) {
                reconcile(snapshot)
            }
        }
    }

    /// An earlier operation blocks the store for too long. The deletion still runs after that operation.
    mutating func deletionDelayed(_ id: JobID, _ failure: StorageError) {
        guard var deletion, deletion.id == id else { return }
        deletion.failures += 1
        self.deletion = deletion
        actions.append(.emit(.storeFailed(.delete, failure)))
    }

    /// Restores a session that ended while its record was unreadable, if the store turns out to contain a newer record
    /// whose tokens were not rejected.
    private mutating func restoreNewerRecord(_ snapshot: StoreSnapshot, over deletion: Deletion) {
        guard case .expired(_, let id) = state, case .rejectedOrOlder(let rejected) = deletion.scope,
            rejected.id == id, case .newer(let found) = RecordComparison(snapshot.reading, with: rejected)
        else { return }
        lastEnded = nil
        activate(found, snapshot.deadlines)
    }

    /// The delay after a failed deletion is over.
    mutating func deleteRetryDue(_ id: JobID) {
        guard let deletion, deletion.id == id else { return }
        actions.append(.delete(deletion))
    }

    /// Starts deleting the records in a scope.
    /// - Parameter sparesUnreadable: Whether to keep a record that cannot be read; `false` if the user asked to sign
    ///   out.
    mutating func startDeletion(_ scope: DeletionScope, sparesUnreadable: Bool = false) {
        // If an earlier deletion is still pending, delete every record: none may survive both.
        let job = Deletion(
            id: makeID(), scope: deletion == nil ? scope : .allRecords,
            sparesUnreadable: sparesUnreadable && deletion?.sparesUnreadable != false)
        deletion = job
        actions.append(.delete(job))
    }
}
