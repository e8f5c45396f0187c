/// The meaning of the store's content for a session.
indirect enum StoreVerdict: Hashable, Sendable {
    /// The session counts. Its newest record is there, or is to be written over the one that was found.
    case ours(found: StoredSession?)
    /// Another process has refreshed the tokens of the session.
    case newer(StoredSession)
    /// Another process has started another session.
    case otherSession(StoredSession)
    /// Another process has ended the session, as the mark says if there is one.
    case gone(EndMark?)
    /// Nothing is known.
    case unreadable(StorageError)

    /// The reason why nothing is known.
    var readFailure: StorageError? {
        if case .unreadable(let failure) = self { failure } else { nil }
    }
}

extension SessionStateMachine.ActiveSession {
    /// The one rule for which record counts: compares the content of the store with a record of this session.
    func verdict(on reading: StoreReading, for record: StoredSession) -> StoreVerdict {
        switch reading {
        case .unavailable(let failure): .unreadable(failure)
        case .empty: base == .stored ? .gone(nil) : .ours(found: nil)
        case .ended(let mark) where mark.isEstimate && base != .stored:
            mark.covers(record) && base != .anything ? .gone(mark) : .ours(found: nil)
        // The cause of an earlier session's end is not the cause of this one's.
        case .ended(let mark):
            mayReplace(mark.order) ? .ours(found: nil) : .gone(mark.covers(record) ? mark : nil)
        case .found(let found) where found.id != record.id:
            mayReplace(found.order) ? .ours(found: found) : .otherSession(found)
        case .found(let found): found.isNewer(than: record) ? .newer(found) : .ours(found: found)
        }
    }

    /// Whether nothing is left to write. A sign-in that was written without a reading may stand below the sessions that it
    /// has replaced. It is written again, above them.
    func isStored(as found: StoredSession) -> Bool {
        found.hasTokens(of: record) && found.order >= record.order
    }

    private func mayReplace(_ found: SessionOrder) -> Bool {
        switch base {
        case .anything: true
        case .upTo(let known): found <= known
        case .stored: false
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
        id == other.id && rotation == other.rotation && tokens.accessToken == other.tokens.accessToken
            && tokens.refreshToken == other.tokens.refreshToken
    }
}
