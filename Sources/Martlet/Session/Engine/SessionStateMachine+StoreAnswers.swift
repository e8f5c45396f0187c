/// What follows from the answers of the store.
extension SessionStateMachine {
    /// The store has answered a task, except for a preparation (see `prepared`).
    /// - Parameters:
    ///   - snapshot: What the store contained before.
    ///   - decision: What was decided about it.
    ///   - failure: Why the task failed.
    mutating func storeAnswered(
        _ task: StoreTask, _ decision: StoreDecision, over snapshot: StoreSnapshot, failure: StorageError?
    ) {
        // Since a sign-in or sign-out there is another task, which brings newer knowledge.
        guard decision.epoch == epoch else { return failure == nil ? revokeFormer(of: task, decision) : () }
        switch task {
        case .read: looked(snapshot)
        case .write: wrote(decision, over: snapshot, failure)
        case .confirmExpiry: confirmedExpiry(over: snapshot, failure)
        case .delete: deleted(over: snapshot, failure)
        case .prepare, .clearJournal: break
        }
        if task == .write || task == .delete { startRevocations() }
        if failure == nil, snapshot.reading.wasReadable, !needsStore { storeFailures = 0 }
    }

    /// Revokes the tokens of a session whose record a sign-in has overwritten, or a sign-out deleted, that is over or was
    /// reported as failed. No other process may know the session.
    private mutating func revokeFormer(of task: StoreTask, _ decision: StoreDecision) {
        guard task == .write || task == .delete, let former = decision.former, former.id != decision.subject?.id,
            former.id != session?.record.id, former.id != lastEnded
        else { return }
        actions.append(.revoke(former.bundle, expiresAt: nil))
    }

    private mutating func startRevocations() {
        actions += revocations
        revocations = []
    }

    /// A task that had been reported as failed has ended after all.
    /// - Parameter snapshot: What the store contains now.
    mutating func storeAnsweredLate(_ task: StoreTask, _ decision: StoreDecision, _ snapshot: StoreSnapshot) {
        guard snapshot.reading.wasReadable else { return }
        if task == .write || decision.epoch != epoch { revokeFormer(of: task, decision) }
        guard decision.epoch == epoch else { return }
        if var session, case .found(let record) = snapshot.reading, record.id == session.record.id {
            session.claim = .stored
            // A sign-in becomes visible only with the answer to its own write, which is still to come.
            if session.isVisible, record.hasTokens(of: session.record) { markWritten(&session) }
            identity = .signedIn(session)
            // The journal of a refresh that has failed meanwhile, without having sent its token.
            if case .prepare = task, decision.subject != nil, session.record.journal == nil {
                actions.append(.store(.clearJournal(record)))
            }
        }
        // The retry could delete a later sign-in of another process.
        if task == .delete, decision.scope == deletion?.scope {
            deleted(over: decision.former.map { StoreSnapshot(reading: .found($0)) } ?? snapshot, nil)
            return startRevocations()
        }
        // What was read may be older than the last change by another process.
        let hadNews = hasNews
        looked(snapshot)
        hasNews = hadNews
    }

    /// The delay after a failure of the store is over.
    mutating func storeRetryDue() {
        awaitsStoreRetry = false
        if needs(.write), session?.isStoring == false { actions.append(.store(.write)) }
        if needs(.delete) { actions.append(.store(.delete)) }
        if needsReading { actions.append(.store(.read)) }
    }

    private var needsReading: Bool {
        if case .unknown(let failure?) = identity { return failure.kind.isTransient && readsByItself }
        return hasNews
    }

    private var needsStore: Bool { needs(.write) || needs(.delete) || needsReading }

    private mutating func scheduleStoreRetry(hasWork: Bool = true) {
        storeFailures += 1
        guard !awaitsStoreRetry else { return }
        awaitsStoreRetry = true
        actions.append(.retryStore(after: policy.saveRetry(afterFailures: storeFailures), hasWork: hasWork))
    }

    /// The store was read: at the start, or because another process may have changed the record.
    private mutating func looked(_ snapshot: StoreSnapshot) {
        hasNews = !snapshot.reading.wasReadable
        if case .unknown = identity { return loaded(snapshot) }
        if hasNews { return scheduleStoreRetry(hasWork: false) }
        // The answer to a pending deletion brings newer knowledge, except of the session that it spares.
        if case .found(let record) = snapshot.reading, record.id == session?.record.id { return reconcile(snapshot) }
        if deletion == nil { reconcile(snapshot) }
    }

    private mutating func loaded(_ snapshot: StoreSnapshot) {
        switch snapshot.reading {
        case .found(let record):
            start(record, snapshot.deadlines)
            emit(.restored(record.stamp))
            if record.unresolvedJournal != nil { emit(.refreshInterrupted(record.stamp)) }
            resumeWaiters(.askAgain)
        case .empty:
            identity = .signedOut
            emit(.restored(nil))
            resumeWaiters(.askAgain)
        case .unavailable(let failure):
            identity = .unknown(failure)
            emit(.storeReadFailed(failure))
            resumeWaiters(.failure(.unavailable(failure)))
            // The app may be waiting for the state without making a call.
            if needsReading { scheduleStoreRetry(hasWork: false) }
        }
    }

    /// The newest record was written, or was not because another process was faster, or the write failed.
    private mutating func wrote(_ decision: StoreDecision, over snapshot: StoreSnapshot, _ writeFailure: StorageError?)
    {
        guard var session, let record = decision.subject, record.id == session.record.id else { return }
        guard session.unwritten?.stamp == record.stamp else {
            // A refresh has got newer tokens meanwhile, and writes them next.
            if writeFailure == nil, case .write = decision.update { session.claim = .stored }
            identity = .signedIn(session)
            return
        }
        let verdict = session.verdict(on: snapshot.reading, for: record)
        if writeFailure == nil, follow(verdict, snapshot.deadlines, &session) { return }
        var failure = writeFailure
        let isNewToken = session.isStoring
        let isSignIn = !session.isVisible
        switch verdict {
        case .unreadable(let error) where session.claim != .overAnything:
            failure = failure ?? error
        case .unreadable(let error) where failure == nil:
            session.replacedRecord = error
            emit(.replacedUnreadableRecord(error))
        case .ours(let replaced?) where replaced.id != record.id && replaced.id != lastEnded:
            // No process revokes the tokens of a session that this one has not known.
            if isSignIn || session.claim == .overEarlier {
                actions.append(.revoke(replaced.bundle, expiresAt: nil))
            }
        default: break
        }
        if isNewToken {
            // With the journal of a lost lock, if there is one.
            let deadlines = session.newest.deadlines
            session.install(record, deadlines)
            lastGeneration = max(lastGeneration, record.generation)
            emit(isSignIn ? .signedIn(record.stamp) : .refreshSucceeded(record.stamp))
        }
        if let failure {
            session.persistence = .behind(failure)
            if isSignIn, session.claim != .stored { makeRoom(for: &session, over: snapshot) }
            emit(.storeWriteFailed(failure))
            scheduleStoreRetry()
        } else {
            markWritten(&session)
        }
        if isNewToken, !isSignIn, policy.requiresSavedTokens {
            session.withheld = failure.map(RefreshError.init(notSaved:))
        }
        identity = .signedIn(session)
        guard isNewToken else { return }
        resumeWaiters(session.withheld.map { .failure(.refreshFailed($0)) } ?? .token(session.credential))
    }

    /// The store contains the session's newest record.
    mutating func markWritten(_ session: inout ActiveSession) {
        if case .behind = session.persistence { emit(.storeRecovered(session.record.stamp)) }
        session.persistence = .written
        session.claim = .stored
        session.withheld = nil
        // The new record has overwritten those of other sessions.
        if let scope = deletion?.scope, !scope.includes(session.record) { deletion = nil }
    }

    /// Starts deleting the record of an earlier session, which would be restored after a restart. A later sign-in, in
    /// another process, must survive.
    private mutating func makeRoom(for session: inout ActiveSession, over snapshot: StoreSnapshot) {
        session.claim = .overEarlier
        switch snapshot.reading {
        case .empty: break
        case .found(let record) where record.id != session.record.id: startDeletion(.session(record.id))
        // An attempt that was reported as failed has succeeded.
        case .found: session.claim = .stored
        case .unavailable: startDeletion(.earlier(than: session.record.generation, except: session.record.id))
        }
    }

    /// The server rejected the refresh token, and the store was asked to delete the record. It is kept if it is newer or
    /// belongs to another session.
    private mutating func confirmedExpiry(over snapshot: StoreSnapshot, _ failure: StorageError?) {
        guard var session, case .confirmingExpiry(let reason) = session.refresh else { return }
        var verdict = session.verdict(on: snapshot.reading, for: session.record)
        if case .newer(var found) = verdict, let sentAt = session.record.journal?.startedAt {
            // The server has received a token that had been replaced, and may refuse its successors for that.
            found.journal = found.unresolvedJournal ?? RefreshJournal(of: found, sentAt: sentAt)
            verdict = .newer(found)
        }
        // A record that is gone has been deleted for the same reason.
        if verdict != .gone, follow(verdict, snapshot.deadlines, &session) { return }
        expire(session, because: reason)
        var failure = failure
        if case .unreadable(let error) = verdict { failure = failure ?? error }
        if let failure {
            emit(.storeDeleteFailed(failure))
            startDeletion(.upTo(session.record))
        } else if deletion == nil {
            // This session was never written, so there may be a later sign-in of another process.
            reconcile(snapshot)
        }
    }

    /// The deletion has succeeded or failed.
    private mutating func deleted(over snapshot: StoreSnapshot, _ failure: StorageError?) {
        guard let deletion else { return }
        var failure = failure
        if !deletion.coversUnreadable, case .unavailable(let error) = snapshot.reading { failure = failure ?? error }
        if session == nil { resumeWaiters(.askAgain) }
        if let failure {
            self.deletion?.hasFailed = true
            emit(.storeDeleteFailed(failure))
            return scheduleStoreRetry()
        }
        self.deletion = nil
        if deletion.hasFailed { emit(.storeRecovered(nil)) }
        guard case .found(let record) = snapshot.reading else { return reconcile(snapshot) }
        if deletion.scope.includes(record) {
            // No process revokes the tokens of a session that this one has signed out without having known it.
            if deletion.isSignOut, record.id != lastEnded { actions.append(.revoke(record.bundle, expiresAt: nil)) }
            if deletion.isSignOut { lastEnded = record.id }
            return
        }
        // A session that ended while its record was unreadable continues if the store contains a newer record, whose
        // tokens were not rejected.
        if case .expired(_, record.id) = identity { lastEnded = nil }
        reconcile(snapshot)
    }

    /// Starts deleting the records in a scope.
    mutating func startDeletion(_ scope: DeletionScope, isSignOut: Bool = false) {
        // If an earlier deletion is still pending, delete all that both cover and what lies between: none may survive
        // both.
        deletion = Deletion(
            scope: deletion == nil ? scope : .earlier(than: lastGeneration + 1, except: nil),
            isSignOut: isSignOut || deletion?.isSignOut == true)
        actions.append(.store(.delete))
    }
}
