internal import Martlet

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Announces transfers to the app, and knows which of them have ended with their owner.
///
/// One lock guards both, so that nothing about a transfer is announced after its owner has ended.
final class TransferAnnouncements: Sendable {
    private struct State {
        /// The announcements that the app has received, or will receive when it subscribes.
        var announced: [UUID: TransferAnnouncement] = [:]
        var events = Broadcast<TransferAnnouncement>()
        /// The transfers that belonged to the current user at some time in this process.
        var owned: Set<UUID> = []
        /// The transfers that have ended with their owner. They stay ended, even if the same user signs in again.
        var ended: Set<UUID> = []
        /// The sessions that have ended for good in this process.
        var endedSessions: Set<SessionID> = []

        func hasEnded(_ record: TransferRecord) -> Bool {
            ended.contains(record.id) || record.owner.session.map(endedSessions.contains) == true
        }
    }

    private let list: TransferList
    private let folder: TransferFolder
    private let tokens: TokenManager?
    private let state = Locked(State())

    init(of list: TransferList, in folder: TransferFolder, tokens: TokenManager?) {
        self.list = list
        self.folder = folder
        self.tokens = tokens
    }

    // MARK: - Owners

    /// The standing of a transfer's owner in the current state of the session. Waits until the store has been read.
    func standing(of record: TransferRecord) async -> StoredOwner.Standing {
        let session = await tokens?.loadedState
        return hasEnded(record) ? .ended : record.owner.standing(in: session)
    }

    /// Whether the owner of a transfer has ended for good in this process.
    func hasEnded(_ record: TransferRecord) -> Bool {
        state.withLock { $0.hasEnded(record) }
    }

    /// Whether the result of a transfer may go to the app now.
    func mayDeliver(_ record: TransferRecord) -> Bool {
        guard case .current = record.owner.standing(in: tokens?.state) else { return false }
        return !hasEnded(record)
    }

    /// Whether a transfer has belonged to the current user in this process.
    func isOwned(_ id: UUID) -> Bool { state.withLock { $0.owned.contains(id) } }

    /// Notes that a transfer belongs to the current user.
    func own(_ id: UUID) {
        state.withLock { state in
            if !state.ended.contains(id) { state.owned.insert(id) }
        }
    }

    /// Notes that a new transfer belongs to the current user, even if an earlier one with its ID has ended.
    func ownNew(_ id: UUID) {
        state.withLock { state in
            state.ended.remove(id)
            state.owned.insert(id)
        }
    }

    /// Notes that the app removes a transfer for good. Announcements of it that a subscriber has not taken yet are
    /// dropped.
    func drop(_ id: UUID) {
        state.withLock { state in
            state.announced[id] = nil
            state.owned.remove(id)
            state.ended.insert(id)
        }
    }

    /// Notes that a transfer is no longer in the list.
    func disown(_ id: UUID) {
        _ = state.withLock { $0.owned.remove(id) }
    }

    /// Ends all transfers of sessions that have ended for good.
    func end(with sessions: Set<SessionID>) {
        state.withLock { $0.endedSessions.formUnion(sessions) }
        for record in list.known where record.owner.hasEnded(with: sessions) { end(record) }
    }

    /// Reports the end of a transfer with its owner, once. If the owner had ended before this process knew the
    /// transfer, no subscriber learns of it.
    func end(_ record: TransferRecord) {
        let transfer = BackgroundTransfer(
            record, .failed(.sessionEnded), response: nil, path: folder.path(of: record))
        let wakeups = state.withLock { state in
            state.announced[record.id] = nil
            guard state.ended.insert(record.id).inserted, state.owned.remove(record.id) != nil, !record.hasEnded else {
                return Wakeups()
            }
            return state.events.send(TransferAnnouncement(transfer: transfer, record: record))
        }
        wakeups.wake()
    }

    // MARK: - Subscribers

    /// The announcements so far, then every further one that a subscriber may still receive.
    func subscribe() -> AsyncStream<BackgroundTransfer> {
        endOwned()
        let announcements = state.withLock { state in
            state.events.subscribe(first: Array(state.announced.values), buffering: { $0.append($1) })
        }
        return AsyncStream { [state, tokens, list] in
            for await announcement in announcements {
                guard await announcement.isDue(in: tokens) else { continue }
                let record = announcement.record
                // A later transfer may have the same ID.
                let isReused = list.record(record.id).map { $0.run != record.run } ?? false
                let isOver = !announcement.isEnd && (isReused || state.withLock { $0.hasEnded(record) })
                if !isOver { return announcement.transfer }
            }
            return nil
        }
    }

    /// Reports the end of all transfers whose owner has ended. Only the current subscribers may receive it, not a later
    /// one.
    private func endOwned() {
        let session = tokens?.state
        for id in state.withLock(\.owned) {
            guard let record = list.record(id), case .ended = record.owner.standing(in: session) else { continue }
            end(record)
        }
    }

    /// Whether the app does not know the stage of a transfer yet.
    func isNews(_ stage: BackgroundTransfer.Stage, of id: UUID) -> Bool {
        let known = state.withLock { $0.announced[id]?.transfer.stage }
        return known != stage && (known != nil || stage != .underWay)
    }

    /// Announces a transfer to the subscribers, unless it was removed or its owner has ended in the meantime.
    func announce(_ transfer: BackgroundTransfer, of record: TransferRecord) {
        let wakeups = state.withLock { state in
            guard list.record(record.id) != nil, !state.hasEnded(record) else { return Wakeups() }
            let announcement = TransferAnnouncement(transfer: transfer, record: record)
            state.announced[record.id] = transfer.stage == .underWay ? nil : announcement
            return state.events.send(announcement)
        }
        wakeups.wake()
    }

    /// Forgets the announcement of a transfer, so that later subscribers do not receive it.
    func forget(_ id: UUID) {
        state.withLock { $0.announced[id] = nil }
    }

    /// Ends all subscriptions.
    func finish() {
        state.withLock { $0.events.finish() }.wake()
    }
}

/// The announcement of a transfer to subscribers.
private struct TransferAnnouncement: Sendable {
    let transfer: BackgroundTransfer
    let record: TransferRecord

    /// Whether the announcement says that the transfer has ended with its owner.
    var isEnd: Bool { transfer.stage == .failed(.sessionEnded) }

    /// Whether a subscriber may learn of the transfer now. Waits while the store cannot be read.
    func isDue(in tokens: TokenManager?) async -> Bool {
        // The end of a session goes to earlier subscribers only.
        guard let tokens, !isEnd else { return true }
        for await state in tokens.states {
            switch record.owner.standing(in: state) {
            case .current, .renewed, .expired: return true
            case .ended: return false
            case .unknown: continue
            }
        }
        return false
    }
}
