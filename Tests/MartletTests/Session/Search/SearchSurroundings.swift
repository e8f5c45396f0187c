import Foundation

@testable import Martlet

// MARK: - The store

extension World {
    var reading: StoreReading { stored.map { .found($0) } ?? .empty }

    /// The task as it stands now that its turn has come; `nil` where it need not be done any more.
    func current(_ task: StoreTask) -> StoreTask? {
        switch task {
        case .load, .look, .flush, .condemn, .clearJournal: task
        case .note(let id): order(of: id).flatMap(machine.current).map { _ in task }
        case .save(let order): machine.current(order).map { .save($0) }
        case .delete(let deletion): machine.isObsolete(deletion) ? nil : task
        }
    }

    /// What a task makes of what it finds in the store.
    func change(for task: StoreTask) -> ((StoreReading) -> StoreUpdate)? {
        switch current(task) {
        case .load, .look, .flush, nil: nil
        case .note(let id):
            order(of: id).flatMap(machine.current).map { Machine.note(World.journal(for: $0.record), for: $0) }
        case .save(let order): Machine.write(order)
        case .condemn(let order): Machine.condemn(order)
        case .delete(let deletion): Machine.delete(deletion)
        case .clearJournal(let record): Machine.clearJournal(of: record)
        }
    }

    func order(of id: Machine.OrderID) -> Machine.RefreshOrder? {
        refreshes.first { $0.order.id == id }?.order
    }

    static func journal(for record: StoredSession) -> RefreshJournal {
        RefreshJournal(
            startedAt: Date(timeIntervalSince1970: 0),
            fingerprint: RefreshJournal.fingerprint(of: record.bundle.refreshToken ?? record.bundle.accessToken))
    }
}

// MARK: - The server

extension World {
    /// Whether the server takes the refresh token.
    func accepts(_ bundle: TokenBundle) -> Bool {
        sessions[Names.session(of: bundle) - 1].isAlive && self[bundle].fate != .spent
    }

    /// Spends a refresh token for new ones; one that was spent before ends the session.
    mutating func rotate(_ bundle: TokenBundle) -> TokenBundle? {
        let session = Names.session(of: bundle)
        guard accepts(bundle) else { return nil }
        if self[bundle].fate == .unspent {
            self[bundle].fate = machine.policy.rotationGrace > .zero ? .replaceable : .spent
        }
        sessions[session - 1].tokens.append(Token())
        return Names.bundle(session: session, serial: sessions[session - 1].tokens.count - 1)
    }

    /// The record of a user who signs in.
    mutating func newSession() -> StoredSession {
        sessions.append(Ledger())
        return StoredSession(
            id: Names.session(sessions.count), bundle: Names.bundle(session: sessions.count, serial: 0),
            freshUntil: Time.freshUntil(Time.lifetime), lifetime: Time.lifetime)
    }
}

// MARK: - Other processes

extension World {
    /// Another process takes the lock, refreshes, and writes what it got.
    mutating func rotateElsewhere() {
        guard var record = stored else { return }
        if let bundle = rotate(record.bundle) {
            record.bundle = bundle
            record.rotation += 1
            record.freshUntil = Time.freshUntil(Time.lifetime)
            record.journal = nil
            stored = record
        } else {
            self[record.id].isAlive = false
            stored = nil
        }
        hasNews = isLoaded
    }

    mutating func signOutElsewhere() {
        guard let record = stored else { return }
        self[record.id].isAlive = false
        self[record.id].isLeftElsewhere = true
        stored = nil
        hasNews = isLoaded
    }

    mutating func signInElsewhere() {
        if let record = stored { self[record.id].isLeftElsewhere = true }
        stored = newSession()
        hasNews = isLoaded
    }
}
