/// The result of comparing the store's content with a record of the session.
indirect enum StoreVerdict: Hashable, Sendable {
    /// The session continues. The store contains its newest record, or the session may overwrite what was found.
    case ours(found: StoredSession?)
    /// Another process has refreshed the tokens of the session.
    case newer(StoredSession)
    /// Another process has started another session.
    case otherSession(StoredSession)
    /// Another process has ended the session. The mark, if there is one, says why.
    case gone(EndMark?)
    /// The store could not be read.
    case unreadable(StorageError)

    /// The reason why the store could not be read.
    var readFailure: StorageError? {
        if case .unreadable(let failure) = self { failure } else { nil }
    }
}

extension SessionStateMachine.ActiveSession {
    /// Compares the content of the store with a record of this session. `judge` calls it, and also considers which
    /// sessions have ended in this process.
    func verdict(on reading: StoreReading, for record: StoredSession) -> StoreVerdict {
        switch reading {
        case .unavailable(let failure): .unreadable(failure)
        case .empty: base == .stored ? .gone(nil) : .ours(found: nil)
        case .ended(let mark) where mark.isEstimate && base != .stored:
            (mark.covers(record) && base != .anything) || isOutdated(by: mark) ? .gone(mark) : .ours(found: nil)
        // A mark of an earlier generation says nothing about why this session ended. One of this generation counts even
        // if its process knew only an older rotation.
        case .ended(let mark):
            mayReplace(mark.position) || ranksAbove(reading)
                ? .ours(found: nil) : .gone(mark.position.generation >= record.generation ? mark : nil)
        case .found(let found) where found.id != record.id:
            mayReplace(found.position) ? .ours(found: found) : .otherSession(found)
        case .found(let found): found.isNewer(than: record) ? .newer(found) : .ours(found: found)
        }
    }

    /// Whether nothing is left to write. A sign-in that was written when the store could not be read may rank below the
    /// sessions that it replaced. It is written again, above them.
    func isStored(as found: StoredSession) -> Bool {
        found.hasTokens(of: record) && found.position >= record.position
    }

    /// Whether the first write of this sign-in takes a position above the content, whatever the clocks say.
    func ranksAbove(_ reading: StoreReading) -> Bool {
        switch (base, reading) {
        case (.anything, _), (.endedOrUpTo, .ended): true
        default: false
        }
    }

    /// Whether the mark has ended a sign-in that came after this one, which was never written.
    private func isOutdated(by mark: EndMark) -> Bool {
        guard case .upTo(let known) = base, let certain = mark.certainPosition else { return false }
        return certain > known
    }

    private func mayReplace(_ found: SessionPosition) -> Bool {
        switch base {
        case .anything: true
        case .upTo(let known), .endedOrUpTo(let known): found <= known
        case .stored: false
        }
    }
}

extension StoredSession {
    /// Whether this is the newer record of the same session.
    ///
    /// A record of the same rotation with other tokens comes from a process that took the lock away. All processes use
    /// the stored record.
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
