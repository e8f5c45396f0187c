import Foundation

@testable import Martlet

// MARK: - The store

extension World {
    var reading: StoreReading { stored.map { .found($0) } ?? .empty }

    /// The task with its current values when it starts; `nil` if it is obsolete.
    func pending(_ task: StoreTask) -> StoreTask? {
        switch task {
        case .load, .snapshot, .flush, .confirmExpiry, .clearJournal: task
        case .writeJournal(let id): job(of: id).flatMap(machine.pending).map { _ in task }
        case .save(let job): machine.pending(job).map { .save($0) }
        case .delete(let deletion): machine.isObsolete(deletion) ? nil : task
        }
    }

    /// The store update that a task performs.
    func change(for task: StoreTask) -> ((StoreReading) -> StoreUpdate)? {
        switch pending(task) {
        case .load, .snapshot, .flush, nil: nil
        case .writeJournal(let id):
            job(of: id).flatMap(machine.pending).map { Machine.journalDecision(World.journal(for: $0.record), for: $0) }
        case .save(let job): Machine.saveDecision(job)
        case .confirmExpiry(let job): Machine.expiryDecision(job)
        case .delete(let deletion): Machine.deletionDecision(deletion)
        case .clearJournal(let record): Machine.journalClearingDecision(of: record)
        }
    }

    func job(of id: Machine.JobID) -> Machine.RefreshJob? {
        refreshes.first { $0.job.id == id }?.job
    }

    static func journal(for record: StoredSession) -> RefreshJournal {
        RefreshJournal(
            startedAt: Date(timeIntervalSince1970: 0),
            fingerprint: RefreshJournal.fingerprint(of: record.bundle.refreshToken ?? record.bundle.accessToken))
    }
}

// MARK: - The server

extension World {
    /// Whether the server accepts the refresh token.
    func accepts(_ bundle: TokenBundle) -> Bool {
        sessions[Names.session(of: bundle) - 1].isAlive && self[bundle].fate != .spent
    }

    /// Spends a refresh token for new tokens. A token that was already spent ends the session.
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
            estimatedExpiry: Time.estimatedExpiry(Time.lifetime), lifetime: Time.lifetime)
    }
}

// MARK: - Other processes

extension World {
    /// Another process acquires the lock, refreshes and stores the result.
    mutating func rotateElsewhere() {
        guard var record = stored else { return }
        if let bundle = rotate(record.bundle) {
            record.bundle = bundle
            record.rotation += 1
            record.estimatedExpiry = Time.estimatedExpiry(Time.lifetime)
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
