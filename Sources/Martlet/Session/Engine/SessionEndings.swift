/// The work to do when a call or a session ends, such as closing a stream.
struct SessionEndings {
    /// The end that an entry waits for.
    enum Subject: Sendable {
        /// The end of a call: nothing more may be sent or received for it. A call without a session goes on when one
        /// starts.
        case call
        /// The end of the sign-in state in which a response was requested. The response's leftovers, that is, its
        /// cookies and cached copies, never outlive it.
        case leftovers
    }

    private struct Entry {
        let owner: CallOwner
        let subject: Subject
        let perform: @Sendable () -> Void
    }

    private struct Follower {
        var user: SessionLineage
        let perform: @Sendable (Set<SessionID>) -> Void
    }

    private var entries: [Int: Entry] = [:]
    private var followers: [Int: Follower] = [:]

    /// The number of entries that wait for an end.
    var count: Int { entries.count }

    mutating func add(
        _ id: Int, _ owner: CallOwner, _ perform: @escaping @Sendable () -> Void, of subject: Subject = .call
    ) {
        entries[id] = Entry(owner: owner, subject: subject, perform: perform)
    }

    mutating func follow(
        _ id: Int, _ user: SessionLineage, _ perform: @escaping @Sendable (Set<SessionID>) -> Void
    ) {
        followers[id] = Follower(user: user, perform: perform)
    }

    mutating func remove(_ id: Int) {
        entries[id] = nil
        followers[id] = nil
    }

    /// Removes and returns the work that is due.
    mutating func takeDue(_ machine: borrowing SessionStateMachine) -> [@Sendable () -> Void] {
        guard !entries.isEmpty || !followers.isEmpty else { return [] }
        var ids: [Int] = []
        for (id, entry) in entries {
            let isDue =
                switch entry.subject {
                case .call: machine.endError(for: entry.owner) != nil
                case .leftovers: machine.isOver(entry.owner)
                }
            if isDue { ids.append(id) }
        }
        // In the order in which they were added.
        var due = ids.sorted().compactMap { entries.removeValue(forKey: $0)?.perform }
        for (id, follower) in followers.sorted(by: { $0.key < $1.key }) {
            guard let ended = followers[id]?.user.advance(to: machine.lineage) else { continue }
            due.append { follower.perform(ended) }
        }
        return due
    }
}

/// The successive sessions of one user in this process. A user who signs in again, for example after an expiry,
/// continues the work of the earlier sessions.
struct SessionLineage: Sendable {
    private var epoch: Int
    private var sessions: Set<SessionID>
    private var account: SessionAccount?
    /// Whether the store was still unread at some time in the epoch.
    private var wasUnread: Bool
    /// The sessions that have ended for good in this process.
    private var ended: Set<SessionID>

    fileprivate init(epoch: Int, record: StoredSession?, isUnread: Bool, ended: Set<SessionID>) {
        self.epoch = epoch
        self.ended = ended
        sessions = record.map { [$0.id] } ?? []
        account = record?.account
        wasUnread = isUnread
    }

    /// Follows the sign-in state.
    /// - Returns: The sessions that have ended for good, because the user has signed out or another one has signed in;
    ///   `nil` if nothing has ended. The set is empty if only work from before the store was read has ended.
    fileprivate mutating func advance(to next: SessionLineage) -> Set<SessionID>? {
        let former = self
        guard next.epoch != former.epoch else {
            // An expiry keeps the epoch, and the user may come back.
            sessions.formUnion(next.sessions)
            account = next.account ?? account
            wasUnread = wasUnread || next.wasUnread
            return nil
        }
        self = next
        let isSameSession = !former.sessions.isDisjoint(with: next.sessions)
        if isSameSession || next.account?.continues(former.account?.userID) == true {
            sessions.formUnion(former.sessions)
            return nil
        }
        guard former.wasUnread else { return former.sessions.isEmpty ? nil : former.sessions }
        // A sign-out during the reading ends the session that the store turns out to contain.
        return former.sessions.union(next.ended)
    }
}

extension SessionStateMachine {
    /// Whether the sign-in state of an owner is over. Unlike ``endError(for:)``, this includes a sign-in after a call
    /// without a session, and the expiry of a session that was still unread when the call was made.
    func isOver(_ owner: CallOwner) -> Bool {
        guard owner.isBound else { return false }
        if owner.epoch != epoch || endError(for: owner) != nil { return true }
        if session == nil, owner.signInState == .unknown, case .expired(_, .some) = absence { return true }
        return false
    }

    /// The session of the current epoch, even while it is still being saved.
    var lineage: SessionLineage {
        SessionLineage(epoch: epoch, record: session?.record, isUnread: isUnread, ended: endedHere)
    }
}
