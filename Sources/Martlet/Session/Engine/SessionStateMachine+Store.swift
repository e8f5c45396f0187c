#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Decides about the record while the store offers it, so that no other process can change it.
extension SessionStateMachine {
    /// Whether a task is still needed. Asked when its turn comes.
    /// - Parameter isLate: Whether it was reported as failed before.
    func needs(_ task: StoreTask, isLate: Bool = false) -> Bool {
        switch task {
        case .read, .prepare: !isLate
        case .clearJournal: true
        case .write: session?.unwritten != nil
        case .confirmExpiry: session?.refusal != nil
        case .end: ending != nil
        }
    }

    /// Decides what a task does with the record that the store contains. Each decision compares the two, because another
    /// process may have been faster.
    /// - Parameters:
    ///   - task: The task.
    ///   - reading: The content of the store.
    ///   - hasLostLock: Whether this process does not hold the lock between processes.
    ///   - wallClock: The time, for a journal.
    func decide(
        _ task: StoreTask, over reading: StoreReading, hasLostLock: Bool, at wallClock: Date
    ) -> StoreDecision {
        var decision = undecided(task)
        decision.hasLostLock = hasLostLock
        switch task {
        case .read:
            break
        case .write:
            guard let session, let unwritten = decision.subject else { break }
            let record = amended(unwritten, of: session, over: reading, hasLostLock: hasLostLock, at: wallClock)
            decision.subject = record
            decision.update = merge(record, of: session, with: reading)
        case .prepare(let job):
            guard !hasLostLock, isPreparing(job), let session else { break }
            var record = session.record
            record.journal = record.journal ?? RefreshJournal(of: record, sentAt: wallClock)
            decision.update = merge(record, of: session, with: reading)
            if case .write(let record) = decision.update, !reading.hasJournal { decision.subject = record }
        case .clearJournal(let record):
            // Another process may have sent the token since, and relies on the journal.
            guard !hasLostLock, case .found(var found) = reading, found.hasTokens(of: record), found.journal != nil
            else { break }
            found.journal = nil
            decision.update = .write(found)
        case .confirmExpiry:
            decision.update = confirmExpiry(over: reading, hasLostLock: hasLostLock, at: wallClock)
        case .end:
            if let ending { decision.update = end(ending, over: reading, at: wallClock) }
        }
        if case .found(let found) = reading, decision.update != .keep { decision.former = found }
        return decision
    }

    /// The record to write, adapted to what the store contains.
    private func amended(
        _ record: StoredSession, of session: ActiveSession, over reading: StoreReading, hasLostLock: Bool,
        at wallClock: Date
    ) -> StoredSession {
        var record = record
        if hasLostLock, session.isVisible, session.isStoring {
            // Another process may have read the old record and sent the same refresh token.
            record.journal = RefreshJournal(of: record, sentAt: wallClock)
        }
        if session.base == .anything, reading != .empty, !reading.contains(record.id), let found = reading.order,
            found.generation >= record.generation
        {
            // The order in the store counts, whatever the clocks say.
            record.generation = min(found.generation + 1, StoredSession.highestGeneration)
        }
        return record
    }

    /// The decision about a record that the store has not offered. It confirms no refusal.
    func undecided(_ task: StoreTask) -> StoreDecision {
        StoreDecision(
            update: .keep, subject: task == .write ? session?.unwritten : nil,
            ending: task == .end ? ending : nil, epoch: epoch,
            hasLostLock: task == .confirmExpiry && sharesStore)
    }

    /// Writes a record of the session if it is the later one.
    private func merge(_ record: StoredSession, of session: ActiveSession, with reading: StoreReading) -> StoreUpdate {
        switch session.verdict(on: counted(reading), for: record) {
        case .ours(let found):
            // The earliest journal counts: the fate of the refresh token has been unknown since then.
            var record = record
            record.journal = found?.journal(of: record) ?? record.journal
            if let found, found.id == record.id { record.raiseGeneration(to: found.generation) }
            return .write(record)
        // Only the first write of a sign-in may replace an unreadable record. A retry must not: the record may belong to
        // a later sign-in.
        case .unreadable: return session.base == .anything ? .write(record) : .keep
        case .newer, .otherSession, .gone: return .keep
        }
    }

    /// Ends the session whose refresh token the server has rejected, unless another process was faster.
    private func confirmExpiry(over reading: StoreReading, hasLostLock: Bool, at wallClock: Date) -> StoreUpdate {
        guard let session, let reason = session.refusal, case .found(var found) = reading,
            found.id == session.record.id
        else { return .keep }
        // Without the lock, another process may be refreshing the tokens of this record.
        guard found.isNewer(than: session.record) else {
            return hasLostLock ? .keep : .end(EndMark(found.order, expiry: reason))
        }
        guard hasLostLock else { return .keep }
        // Both processes have sent the same token. A server that detects the reuse may end the session.
        found.journal = found.journal ?? RefreshJournal(of: found, sentAt: wallClock)
        return .write(found)
    }

    /// Ends the sessions that a pending ending covers, and raises the mark.
    private func end(_ ending: Ending, over reading: StoreReading, at wallClock: Date) -> StoreUpdate {
        var mark = ending.mark
        if let signOut = ending.signOut {
            let found = reading.order ?? signOut.order
            if found > mark.order, signOut.covers(found, at: wallClock) {
                mark = EndMark(.end(ofGeneration: found.generation), isEstimate: reading.order == nil)
            }
        }
        switch reading {
        case .found(let record):
            if ending.withdrawn.contains(record.id), !mark.covers(record) {
                mark = EndMark(.end(ofGeneration: record.generation))
            }
            return hasEnded(record, at: mark) ? .end(mark) : .keep
        case .empty: return sharesStore && mark.order.generation > 0 ? .mark(mark) : .keep
        case .ended(let former): return former.order < mark.order ? .mark(mark) : .keep
        case .unavailable: return ending.signOut != nil ? .end(mark) : .mark(mark)
        }
    }

    /// The part of a reading that counts: a record at or below the mark has ended.
    func counted(_ reading: StoreReading) -> StoreReading {
        guard case .found(let record) = reading, let mark, hasEnded(record, at: mark) else { return reading }
        return .ended(mark)
    }

    /// Whether a mark that this process knows ends a record of the store. The session of this process may have been written
    /// without a reading, below the sessions that it has replaced. It stays, and is written again above their mark.
    private func hasEnded(_ record: StoredSession, at mark: EndMark) -> Bool {
        guard mark.covers(record) else { return false }
        guard let newest = session?.newest.record, newest.id == record.id else { return true }
        return mark.covers(newest)
    }

    /// Remembers a reading.
    mutating func learn(_ reading: StoreReading) {
        guard let order = reading.order else { return }
        known = max(known ?? order, order)
        if case .ended(let found) = reading { mark = EndMark.later(mark, found) }
        // A write that was reported as failed may have taken a higher one.
        if case .found(let record) = reading, record.id == session?.record.id {
            session?.raiseGeneration(to: record.generation)
        }
    }
}

extension StoreReading {
    /// The place of the content; `nil` if nothing was read.
    var order: SessionOrder? {
        switch self {
        case .found(let record): record.order
        case .ended(let mark): mark.order
        case .empty: SessionOrder(generation: 0, rotation: 0)
        case .unavailable: nil
        }
    }

    fileprivate func contains(_ session: SessionID) -> Bool {
        if case .found(let record) = self { record.id == session } else { false }
    }

    fileprivate var hasJournal: Bool {
        if case .found(let record) = self { record.journal != nil } else { false }
    }
}
