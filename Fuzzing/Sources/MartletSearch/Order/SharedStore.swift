@testable import Martlet

/// A store that keeps one record and the mark of the sessions that have ended, as the stores with a lock do.
struct SharedStore {
    private var record: StoredSession?
    private var mark: EndMark?

    /// The content, as a process reads it.
    var content: StoreReading {
        guard let record else { return mark.map { .ended($0) } ?? .empty }
        if let mark, mark.covers(record) { return .ended(mark) }
        return .found(record)
    }

    /// The session whose record a process finds.
    var session: SessionID? {
        if case .found(let record) = content { record.id } else { nil }
    }

    mutating func carryOut(_ update: StoreUpdate) {
        switch update {
        case .keep: removeEnded()
        case .write(let new):
            if mark?.covers(new) == true { mark = nil }
            record = new
        case .delete: record = nil
        case .end(let new):
            raise(new)
            record = nil
        case .mark(let new):
            raise(new)
            removeEnded()
        }
    }

    private mutating func raise(_ new: EndMark) {
        mark = EndMark.later(mark, new)
    }

    private mutating func removeEnded() {
        if let record, mark?.covers(record) == true { self.record = nil }
    }
}
