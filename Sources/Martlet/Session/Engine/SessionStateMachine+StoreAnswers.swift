/// The consequences of the answers of the store.
extension SessionStateMachine {
    /// The store has answered a task.
    /// - Parameters:
    ///   - snapshot: The content of the store before the task.
    ///   - decision: The decision about that content.
    ///   - failure: The reason why the task failed.
    mutating func storeAnswered(
        _ task: StoreTask, _ decision: StoreDecision, over snapshot: StoreSnapshot, failure: StorageError?,
        at moment: Moment
    ) {
        learn(snapshot.reading)
        if failure == nil, case .write(let record) = decision.update {
            learn(.found(record))
            coverWritten(record, in: decision.epoch)
        }
        if case .prepare(let job) = task {
            return prepared(job, decision, over: snapshot, failure: failure, at: moment)
        }
        // A sign-in or sign-out has started another task since, which brings newer knowledge.
        guard decision.epoch == epoch else { return outdated(task, decision, failure) }
        switch task {
        case .read: looked(snapshot)
        case .write: wrote(decision, over: snapshot, failure, at: moment)
        case .confirmExpiry: confirmedExpiry(decision, over: snapshot, failure)
        case .end: ended(decision, over: snapshot, failure)
        case .prepare, .clearJournal: break
        }
        // Until its record has gone, another process would take the rejection of a session's tokens for an expiry.
        if task == .end || task == .write && ending == nil { startRevocations() }
        if failure == nil, snapshot.reading.wasReadable, !needsStore { storeFailures = 0 }
    }

    /// A task was answered after another session had begun or ended.
    private mutating func outdated(_ task: StoreTask, _ decision: StoreDecision, _ failure: StorageError?) {
        if failure == nil { revokeFormer(of: task, decision) }
        // The session of another process was adopted, and the ending of the earlier ones is still to be confirmed.
        guard task == .end, let ending, ending.mark == decision.ending?.mark else { return }
        if failure == nil { actions.append(.store(.end)) } else { scheduleStoreRetry() }
    }

    /// Revokes the tokens of a session after its record was overwritten by a sign-in, or deleted by a sign-out, that is
    /// over or was reported as failed. No other process may know the session.
    private mutating func revokeFormer(of task: StoreTask, _ decision: StoreDecision) {
        guard task == .write || task == .end, let former = decision.former, former.id != decision.subject?.id,
            former.id != session?.record.id, former.id != lastEnded
        else { return }
        actions.append(.revoke(former.bundle, expiresAt: nil))
    }

    /// The user signed out while this write was under way. The write found a higher place than this process knew, and
    /// stored the session above it. The sign-out ends the session all the same.
    private mutating func coverWritten(_ record: StoredSession, in writtenEpoch: Int) {
        guard let ending, let signOutEpoch = ending.signOutEpoch, writtenEpoch < signOutEpoch else { return }
        let mark = EndMark(.end(ofGeneration: record.generation))
        self.ending?.mark = EndMark.later(ending.mark, mark) ?? mark
        self.mark = EndMark.later(self.mark, mark)
    }

    private mutating func startRevocations() {
        actions += revocations
        revocations = []
    }

    /// A task that had been reported as failed has ended after all.
    /// - Parameter snapshot: The content of the store now.
    mutating func storeAnsweredLate(_ task: StoreTask, _ decision: StoreDecision, _ snapshot: StoreSnapshot) {
        guard snapshot.reading.wasReadable else { return }
        learn(snapshot.reading)
        if task == .write || decision.epoch != epoch { revokeFormer(of: task, decision) }
        if case .write(let record) = decision.update, snapshot.reading == .found(record) {
            coverWritten(record, in: decision.epoch)
        }
        guard decision.epoch == epoch else { return }
        if task == .confirmExpiry, session?.refusal != nil { return confirmedExpiry(decision, over: snapshot, nil) }
        if let session, case .found(let record) = snapshot.reading, record.id == session.record.id {
            self.session?.base = .stored
            // A sign-in becomes visible only with the answer to its own write, which is still to come.
            if session.isVisible, session.isStored(as: record) { markWritten() }
            // Clear the journal of a refresh that has failed since without having sent its token.
            if case .prepare = task, decision.subject != nil, session.record.journal == nil {
                actions.append(.store(.clearJournal(record)))
            }
        }
        // The retry could delete a later sign-in of another process.
        if task == .end, let ended = decision.ending, ended.mark == ending?.mark {
            self.ended(decision, over: decision.former.map { StoreSnapshot(reading: .found($0)) } ?? snapshot, nil)
            return startRevocations()
        }
        // The reading may be older than the last change by another process.
        let hadNews = hasNews
        looked(snapshot)
        hasNews = hadNews
    }

    /// The delay after a failure of the store is over.
    mutating func storeRetryDue() {
        (awaitsStoreRetry, retryHasWork) = (false, false)
        if needs(.write), session?.isStoring == false { actions.append(.store(.write)) }
        if needs(.end) { actions.append(.store(.end)) }
        if needsReading { actions.append(.store(.read)) }
    }

    private var needsReading: Bool {
        if isUnread, case .unknown(let failure?) = absence { return failure.kind.isTransient && readsByItself }
        return hasNews
    }

    private var needsStore: Bool { needs(.write) || needs(.end) || needsReading }

    private mutating func scheduleStoreRetry(hasWork: Bool = true) {
        storeFailures += 1
        // A delay that began without work does not keep the manager, so work that must not be lost needs a delay of its
        // own.
        guard !awaitsStoreRetry || hasWork && !retryHasWork else { return }
        (awaitsStoreRetry, retryHasWork) = (true, hasWork)
        actions.append(.retryStore(after: policy.saveRetry(afterFailures: storeFailures), hasWork: hasWork))
    }

    /// The store was read: at the start, or because another process may have changed the record.
    private mutating func looked(_ snapshot: StoreSnapshot) {
        hasNews = !snapshot.reading.wasReadable
        if isUnread { return loaded(snapshot) }
        if hasNews { return scheduleStoreRetry(hasWork: false) }
        // The answer to a pending ending brings newer knowledge, except of the session that it spares.
        if case .found(let record) = snapshot.reading, record.id == session?.record.id { return reconcile(snapshot) }
        if ending == nil { reconcile(snapshot) }
    }

    private mutating func loaded(_ snapshot: StoreSnapshot) {
        switch snapshot.reading {
        case .found(let record):
            start(record, snapshot.deadlines)
            emit(.restored(record.stamp))
            if record.unresolvedJournal != nil { emit(.refreshInterrupted(record.stamp)) }
            resumeWaiters(.askAgain)
        case .empty:
            absence = .signedOut
            emit(.restored(nil))
            resumeWaiters(.askAgain)
        case .ended(let mark):
            absence = mark.expiry.map { .expired($0, nil) } ?? .signedOut
            emit(.restored(nil))
            resumeWaiters(.askAgain)
        case .unavailable(let failure):
            absence = .unknown(failure)
            emit(.storeReadFailed(failure))
            resumeWaiters(.failure(.unavailable(failure)))
            // The app may be waiting for the state without making a call.
            if needsReading { scheduleStoreRetry(hasWork: false) }
        }
    }

    /// The newest record was written, or another process was faster, or the write failed.
    private mutating func wrote(
        _ decision: StoreDecision, over snapshot: StoreSnapshot, _ failure: StorageError?, at moment: Moment
    ) {
        guard let session, let record = decision.subject, record.id == session.record.id else { return }
        guard session.unwritten?.stamp == record.stamp else {
            // A refresh has got newer tokens since, and writes them next.
            if failure == nil, case .write = decision.update { self.session?.base = .stored }
            return
        }
        let verdict = session.verdict(on: counted(snapshot.reading), for: record)
        if failure == nil, follow(verdict, snapshot.deadlines) { return }
        reportReplaced(verdict, by: record, failure)
        var failure = failure
        if case .unreadable(let error) = verdict, session.base != .anything { failure = failure ?? error }
        if let failure, policy.requiresSavedTokens, !session.isVisible {
            return withdrawSignIn(failure)
        }
        if session.isStoring {
            // With the journal of a lost lock, if there is one.
            self.session?.install(record, session.newest.deadlines)
            emit(session.isVisible ? .refreshSucceeded(record.stamp) : .signedIn(record.stamp))
        }
        if let failure {
            self.session?.persistence = .behind(failure)
            if !session.isVisible, session.base != .stored { endEarlierSessions(over: snapshot) }
            emit(.storeWriteFailed(failure))
            scheduleStoreRetry()
        } else {
            learn(.found(record))
            markWritten()
        }
        if session.isStoring { handOut(failure: session.isVisible ? failure : nil) }
    }

    /// Takes back a sign-in that could not be saved, because the app uses only saved tokens. It ends only what the
    /// sign-in would have replaced: neither a later sign-in of another process nor a record that cannot be read.
    private mutating func withdrawSignIn(_ failure: StorageError) {
        guard let withdrawn = session?.newest.record else { return }
        emit(.storeWriteFailed(failure))
        resumeWaiters(.failure(.unavailable(failure)))
        let earlier = earlierSessions(than: withdrawn)
        revokeCurrent()
        endSession(.signedOut)
        startEnding(EndMark(earlier, isEstimate: known == nil), coversOwnWrites: true)
        ending?.withdrawn.insert(withdrawn.id)
        emit(.signedOut(withdrawn.id))
    }

    /// Gives the tokens of a refresh or a sign-in to the callers that wait for them, unless they must first be saved.
    private mutating func handOut(failure: StorageError?) {
        if policy.requiresSavedTokens { session?.withheld = failure.map(RefreshError.init(notSaved:)) }
        guard let session else { return }
        resumeWaiters(session.withheld.map { .failure(.refreshFailed($0)) } ?? .token(session.credential))
    }

    /// Reports the record that a write has replaced, if this process did not know it.
    private mutating func reportReplaced(_ verdict: StoreVerdict, by record: StoredSession, _ failure: StorageError?) {
        switch verdict {
        case .unreadable(let error) where session?.base == .anything && failure == nil:
            session?.replacedRecord = error
            emit(.replacedUnreadableRecord(error))
        case .ours(let replaced?)
        where replaced.id != record.id && replaced.id != lastEnded && session?.base != .stored:
            // No other process revokes the tokens.
            actions.append(.revoke(replaced.bundle, expiresAt: nil))
        default: break
        }
    }

    /// The store contains the session's newest record.
    mutating func markWritten() {
        guard let session else { return }
        if case .behind = session.persistence { emit(.storeRecovered(session.record.stamp)) }
        self.session?.persistence = .written
        self.session?.base = .stored
        self.session?.withheld = nil
        // The new record has overwritten those of other sessions.
        if let ending, !ending.mark.covers(session.record) {
            self.ending = nil
            resumeEndingWaiters()
            startRevocations()
        }
    }

    /// The first write of a sign-in has failed. Starts ending the earlier sessions, one of which would be restored after
    /// a restart. A later sign-in, in another process, must survive.
    private mutating func endEarlierSessions(over snapshot: StoreSnapshot) {
        guard let session else { return }
        // An attempt that was reported as failed has succeeded.
        if case .found(let found) = snapshot.reading, found.id == session.record.id {
            self.session?.base = .stored
            return
        }
        let earlier = earlierSessions(than: session.record)
        self.session?.base = .upTo(earlier)
        self.session?.raiseGeneration(to: min(earlier.generation + 1, StoredSession.highestGeneration))
        if snapshot.reading != .empty { startEnding(EndMark(earlier, isEstimate: known == nil)) }
    }

    /// The sessions that a sign-in has replaced, although its record was not written: those that this process knows,
    /// including those that have ended here. Without any reading the clock decides. A refresh of an earlier session, by
    /// another process, changes nothing.
    private mutating func earlierSessions(than signIn: StoredSession) -> SessionOrder {
        let highest = [known?.generation, mark?.order.generation].compactMap(\.self).max()
        if highest == nil { emit(.orderedByClock) }
        return .end(ofGeneration: highest ?? signIn.generation - 1)
    }

    /// The server rejected the refresh token, and the store was asked to delete the record. It is kept if it is newer or
    /// belongs to another session.
    private mutating func confirmedExpiry(
        _ decision: StoreDecision, over snapshot: StoreSnapshot, _ failure: StorageError?
    ) {
        guard let session, let reason = session.refusal else { return }
        var verdict = session.verdict(on: counted(snapshot.reading), for: session.record)
        // Another process may be refreshing. This one acquires the lock again, and then asks the store once more.
        if decision.hasLostLock {
            switch verdict {
            case .ours, .unreadable: return
            case .newer, .otherSession, .gone: break
            }
        }
        if case .newer(var found) = verdict, let sentAt = session.record.journal?.startedAt {
            // The server has received a token that had been replaced, and may refuse its successors for that.
            found.journal = found.unresolvedJournal ?? RefreshJournal(of: found, sentAt: sentAt)
            verdict = .newer(found)
        }
        switch verdict {
        case .gone(let mark) where !sharesStore || mark?.expiry != nil:
            // Another process has been refused, too. If there is no other process, the app has emptied the store.
            return expire(because: mark?.expiry ?? reason)
        default:
            if follow(verdict, snapshot.deadlines) { return }
        }
        expire(because: reason)
        var failure = failure
        if case .unreadable(let error) = verdict { failure = failure ?? error }
        if let failure {
            emit(.storeDeleteFailed(failure))
            startEnding(EndMark(session.record.order, expiry: reason))
        } else if ending == nil {
            // This session was never written, so there may be a later sign-in of another process.
            reconcile(snapshot)
        }
    }

    /// An ending has succeeded or failed.
    private mutating func ended(_ decision: StoreDecision, over snapshot: StoreSnapshot, _ failure: StorageError?) {
        guard let ending else { return }
        var failure = failure
        if ending.signOut == nil, case .unavailable(let error) = snapshot.reading { failure = failure ?? error }
        resumeEndingWaiters()
        if let failure {
            self.ending?.hasFailed = true
            self.ending?.signOut = nil
            emit(.storeDeleteFailed(failure))
            return scheduleStoreRetry()
        }
        self.ending = nil
        if ending.hasFailed { emit(.storeRecovered(nil)) }
        var mark = ending.mark
        if case .end(let raised) = decision.update { mark = raised }
        self.mark = EndMark.later(self.mark, mark)
        guard case .found(let record) = snapshot.reading else { return reconcile(snapshot) }
        if mark.covers(record) {
            // No other process revokes the tokens of a session that this one has signed out without knowing it.
            if ending.signOutEpoch != nil, record.id != lastEnded {
                actions.append(.revoke(record.bundle, expiresAt: nil))
            }
            if ending.signOutEpoch != nil { lastEnded = record.id }
            return
        }
        reconcile(snapshot)
    }

    /// Starts ending the sessions up to a mark.
    /// - Parameter coversOwnWrites: Whether it also ends the records that this process has written before, and those
    ///   that it may still write late.
    mutating func startEnding(_ mark: EndMark, signOut: SignOut? = nil, coversOwnWrites: Bool = false) {
        // One ending covers the rest of an earlier one.
        let mark = EndMark.later(ending?.mark, mark) ?? mark
        self.mark = EndMark.later(self.mark, mark)
        let coversOwnWrites = coversOwnWrites || signOut != nil
        ending = Ending(
            mark: mark, signOut: signOut, signOutEpoch: coversOwnWrites ? epoch : ending?.signOutEpoch,
            withdrawn: ending?.withdrawn ?? [])
        actions.append(.store(.end))
    }
}
