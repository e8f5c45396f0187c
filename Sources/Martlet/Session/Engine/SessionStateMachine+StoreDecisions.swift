#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The decisions that the store calls within its read-modify-write. Each one compares the stored record with the
/// expected one, because another process may have been faster.
extension SessionStateMachine {
    /// Writes the journal, which says that the record's refresh token is about to be sent.
    static func journalDecision(_ journal: RefreshJournal, for job: RefreshJob)
        -> @Sendable (StoreReading) -> StoreUpdate
    {
        { reading in
            switch RecordComparison(reading, with: job.record) {
            case .same(var found):
                // Keep the earliest timestamp: the token's fate has been unknown since then.
                found.journal = (found.journal ?? job.record.journal ?? journal).markedAsSent
                return .write(found)
            case .gone where job.hasBeenStored: return .keep
            case .otherSession(let found) where job.yields(to: found): return .keep
            case .older, .gone, .otherSession:
                var record = job.record
                record.journal = (record.journal ?? journal).markedAsSent
                return .write(record)
            case .newer, .unreadable: return .keep
            }
        }
    }

    /// Writes the record unless another process was faster.
    /// - Parameter inDoubtSince: Since when another process may also have sent the old refresh token; `nil` if none
    ///   can have.
    static func saveDecision(
        _ job: SaveJob, inDoubtSince: @escaping @Sendable () -> Date? = { nil }
    ) -> @Sendable (StoreReading) -> StoreUpdate {
        { reading in
            switch RecordComparison(reading, with: job.record) {
            case .same(let found):
                var record = inDoubtSince().map { job.record.markingTokenInDoubt(since: $0) } ?? job.record
                // A refresh may have written its journal since the first attempt of this write.
                record.journal = record.journal ?? found.journal
                return .write(record)
            case .older: return .write(inDoubtSince().map { job.record.markingTokenInDoubt(since: $0) } ?? job.record)
            // Another process has refreshed since, even if this session is new: an earlier write of it that was
            // reported as failed may have succeeded.
            case .newer: return .keep
            case .otherSession(let found): return job.yields(to: found) ? .keep : .write(job.record)
            case .gone, .unreadable: return job.hasBeenStored ? .keep : .write(job.record)
            }
        }
    }

    /// Marks the refresh token of a newer record as in doubt, because its predecessor may have been sent twice.
    static func inDoubtDecision(
        of job: RefreshJob, since date: Date
    ) -> @Sendable (StoreReading) -> StoreUpdate {
        { reading in
            guard case .newer(let found) = RecordComparison(reading, with: job.record), found.unresolvedJournal == nil
            else {
                return .keep
            }
            return .write(found.markingTokenInDoubt(since: date))
        }
    }

    /// Deletes a record whose refresh token was rejected, unless there is a newer one.
    static func expiryDecision(_ job: RefreshJob) -> @Sendable (StoreReading) -> StoreUpdate {
        { reading in
            switch RecordComparison(reading, with: job.record) {
            case .same, .older: .delete
            case .newer, .otherSession, .gone, .unreadable: .keep
            }
        }
    }

    /// Deletes the records in the deletion's scope, and an unreadable one unless it must be kept.
    static func deletionDecision(_ deletion: Deletion) -> @Sendable (StoreReading) -> StoreUpdate {
        { reading in
            switch reading {
            case .found(let record): deletion.scope.includes(record) ? .delete : .keep
            case .empty: .keep
            case .unavailable: deletion.sparesUnreadable ? .keep : .delete
            }
        }
    }

    /// Removes the journal from the record if it is still the same one.
    static func journalClearingDecision(of record: StoredSession) -> @Sendable (StoreReading) -> StoreUpdate {
        { reading in
            guard case .same(var found) = RecordComparison(reading, with: record), found.journal != nil else {
                return .keep
            }
            found.journal = nil
            return .write(found)
        }
    }
}
