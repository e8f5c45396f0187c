#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// What the stored record means to somebody who has one in hand.
enum RecordComparison: Hashable, Sendable {
    /// The same rotation of the same session.
    case same(StoredSession)
    /// The store is behind: a write has failed.
    case older
    /// Somebody else has renewed the tokens.
    case newer(StoredSession)
    /// Somebody else has signed in.
    case otherSession(StoredSession)
    /// Nothing is there.
    case gone
    case unreadable(StorageFailure)

    init(_ reading: StoreReading, with record: StoredSession) {
        switch reading {
        case .empty: self = .gone
        case .unavailable(let failure): self = .unreadable(failure)
        case .found(let found):
            if found.id != record.id {
                self = .otherSession(found)
            } else if found.rotation < record.rotation {
                self = .older
            } else if found.rotation == record.rotation, found.bundle.hasTokens(of: record.bundle) {
                self = .same(found)
            } else {
                // The same count with other tokens is a sibling, bought by somebody who took the lock over. It is the
                // stored one that everybody agrees on.
                self = .newer(found)
            }
        }
    }
}

extension TokenBundle {
    /// Dates lose digits on their way through a store, tokens do not.
    fileprivate func hasTokens(of other: TokenBundle) -> Bool {
        accessToken == other.accessToken && refreshToken == other.refreshToken
    }
}

// MARK: - What is written

/// What is to become of the stored record at each step that others could have been before.
extension SessionStateMachine {
    /// Notes in the record that its refresh token is about to be spent, where nobody was faster.
    static func note(_ journal: RefreshJournal, for order: RefreshOrder) -> @Sendable (StoreReading) -> StoreUpdate {
        { reading in
            switch RecordComparison(reading, with: order.record) {
            case .same(var found):
                // The first time counts: it is since then that nobody knows.
                found.journal = (found.journal ?? order.record.journal ?? journal).ofSentToken
                return .write(found)
            case .gone where order.isStored, .otherSession where order.isStored: return .keep
            case .older, .gone, .otherSession:
                var record = order.record
                record.journal = (record.journal ?? journal).ofSentToken
                return .write(record)
            case .newer, .unreadable: return .keep
            }
        }
    }

    /// Writes the record, where nobody was faster.
    /// - Parameter doubtfulSince: Since when the old token may have been sent by another process as well; `nil` if it
    ///   cannot have been.
    static func write(
        _ order: SaveOrder, doubtfulSince: @escaping @Sendable () -> Date? = { nil }
    ) -> @Sendable (StoreReading) -> StoreUpdate {
        { reading in
            switch RecordComparison(reading, with: order.record) {
            case .same(let found):
                var record = doubtfulSince().map { order.record.doubted(since: $0) } ?? order.record
                // A note that its token is being spent may have been made since the first try.
                record.journal = record.journal ?? found.journal
                return .write(record)
            case .older: return .write(doubtfulSince().map { order.record.doubted(since: $0) } ?? order.record)
            // A write that was reported as failed may have been done, and others have gone on from there.
            case .newer: return .keep
            case .otherSession, .gone, .unreadable: return order.isStored ? .keep : .write(order.record)
            }
        }
    }

    /// Notes in a record that has taken the place of this one that its token may be worth nothing.
    static func doubtSuccessor(
        of order: RefreshOrder, since date: Date
    ) -> @Sendable (StoreReading) -> StoreUpdate {
        { reading in
            guard case .newer(let found) = RecordComparison(reading, with: order.record), found.doubt == nil else {
                return .keep
            }
            return .write(found.doubted(since: date))
        }
    }

    /// Deletes a record whose refresh token was refused, unless there is a newer one.
    static func condemn(_ order: RefreshOrder) -> @Sendable (StoreReading) -> StoreUpdate {
        { reading in
            switch RecordComparison(reading, with: order.record) {
            case .same, .older: .delete
            case .newer, .otherSession, .gone, .unreadable: .keep
            }
        }
    }

    /// Deletes whose record it is to be; one that cannot be read as well, where the user asked for it.
    static func delete(_ deletion: Deletion) -> @Sendable (StoreReading) -> StoreUpdate {
        { reading in
            switch reading {
            case .found(let record): deletion.scope.includes(record) ? .delete : .keep
            case .empty: .keep
            case .unavailable: deletion.sparesUnreadable ? .keep : .delete
            }
        }
    }

    /// Takes the journal off the record, where it still is the same one.
    static func clearJournal(of record: StoredSession) -> @Sendable (StoreReading) -> StoreUpdate {
        { reading in
            guard case .same(var found) = RecordComparison(reading, with: record), found.journal != nil else {
                return .keep
            }
            found.journal = nil
            return .write(found)
        }
    }
}
