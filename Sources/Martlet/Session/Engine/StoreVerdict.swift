/// What the content of the store means for a session.
enum StoreVerdict: Hashable, Sendable {
    /// The session counts. Its newest record is there, or is to be written over what was found.
    case ours(found: StoredSession?)
    /// Another process has refreshed the tokens of the session.
    case newer(StoredSession)
    /// Another process has started another session.
    case otherSession(StoredSession)
    /// Another process has signed out.
    case gone
    /// Nothing is known.
    case unreadable(StorageError)
}

extension SessionStateMachine.ActiveSession {
    /// Compares the content of the store with a record of this session.
    func verdict(on reading: StoreReading, for record: StoredSession) -> StoreVerdict {
        switch reading {
        case .unavailable(let failure): .unreadable(failure)
        case .empty: claim == .stored ? .gone : .ours(found: nil)
        case .found(let found) where found.id != record.id:
            yields(to: found) ? .otherSession(found) : .ours(found: found)
        case .found(let found): found.isNewer(than: record) ? .newer(found) : .ours(found: found)
        }
    }

    /// Whether the record of another session counts more than this session.
    private func yields(to found: StoredSession) -> Bool {
        switch claim {
        case .stored: true
        case .overAnything: false
        // Of two sign-ins in the same millisecond, the one that was stored first counts.
        case .overEarlier: found.generation >= record.generation
        }
    }
}

extension StoredSession {
    /// Whether this is the newer record of the same session.
    ///
    /// The same rotation with other tokens comes from a process that took over the lock. All processes use the stored
    /// record.
    func isNewer(than other: StoredSession) -> Bool {
        id == other.id && rotation >= other.rotation && !hasTokens(of: other)
    }

    /// The journal of this record, if it has the tokens of another one.
    func journal(of other: StoredSession) -> RefreshJournal? {
        hasTokens(of: other) ? unresolvedJournal : nil
    }

    /// Compares only the tokens, because dates lose precision in a store.
    func hasTokens(of other: StoredSession) -> Bool {
        id == other.id && rotation == other.rotation && bundle.accessToken == other.bundle.accessToken
            && bundle.refreshToken == other.bundle.refreshToken
    }
}
