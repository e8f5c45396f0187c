/// How the stored record relates to a record in memory.
enum RecordComparison: Hashable, Sendable {
    /// The same rotation of the same session.
    case same(StoredSession)
    /// An older rotation of the same session, because the newer one has not been written yet.
    case older
    /// A newer rotation of the same session: another process has refreshed the tokens.
    case newer(StoredSession)
    /// The record belongs to another session.
    case otherSession(StoredSession)
    /// The store is empty.
    case gone
    /// The store could not be read, so nothing is known about its record.
    case unreadable(StorageError)

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
                // The same rotation with other tokens comes from a process that took over the lock. All processes use
                // the stored record.
                self = .newer(found)
            }
        }
    }
}

extension TokenBundle {
    /// Compares only the tokens, because dates lose precision in a store.
    fileprivate func hasTokens(of other: TokenBundle) -> Bool {
        accessToken == other.accessToken && refreshToken == other.refreshToken
    }
}
