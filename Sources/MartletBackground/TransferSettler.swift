internal import Martlet

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Settles transfers: takes the next step of each one that its session allows.
struct TransferSettler: Sendable {
    private let list: TransferList
    private let folder: TransferFolder
    private let announcements: TransferAnnouncements
    private let attempts: TransferAttempts

    init(
        _ list: TransferList, _ folder: TransferFolder, _ announcements: TransferAnnouncements,
        _ attempts: TransferAttempts
    ) {
        self.list = list
        self.folder = folder
        self.announcements = announcements
        self.attempts = attempts
    }

    /// Removes a transfer of an ended session, so that a new transfer can use its ID.
    /// - Returns: Whether there is no transfer with this ID.
    func makeWay(for id: UUID, in session: BackgroundSession) async -> Bool {
        guard let record = list.record(id) else { return true }
        guard case .ended = await announcements.standing(of: record) else { return false }
        announcements.end(record)
        await discard(id) { session }
        return list.record(id) == nil
    }

    /// Takes the next step of one transfer.
    func settle(_ record: TransferRecord, in session: BackgroundSession) async throws {
        switch await announcements.standing(of: record) {
        case .unknown: return
        case .ended:
            // A transfer of the next user may have this ID by now.
            guard list.record(record.id)?.run == record.run else { return }
            // Its result must not reach another user.
            announcements.end(record)
            await discard(record.id) { session }
        case .expired:
            guard mayShowExpired(record) else { return }
            await announce(record, isExpired: true)
        case .renewed(let next):
            announcements.own(record.id)
            let renewed = try await list.change(record, if: { [announcements] in !announcements.hasEnded(record) }) {
                $0.pass(to: next)
            }
            if let renewed { try await settle(renewed, in: session) }
        case .current:
            announcements.own(record.id)
            try await advance(record, in: session)
        }
    }

    private func advance(_ record: TransferRecord, in session: BackgroundSession) async throws {
        switch record.phase {
        case .started: break
        case .planned, .rejected: try await restart(record, in: session)
        case .received(let status): try await deliver(record, status: status)
        case .finished, .failed: await announce(record)
        }
    }

    private func restart(_ record: TransferRecord, in session: BackgroundSession) async throws {
        do {
            try await attempts.restart(record, in: session)
        } catch SessionError.expired {
            return await announce(record, isExpired: true)
        } catch is SessionError {
            // Without a network or a readable store, the transfer waits. A change of the session starts another
            // settlement.
            return
        }
        if let current = list.record(record.id) { await announce(current) }
    }

    private func deliver(_ record: TransferRecord, status: Int) async throws {
        // The file must not appear for another user. The end of a session starts another settlement.
        let delivered = try await list.change(record.id) { [folder, announcements] current in
            let isAllowed = { announcements.mayDeliver(record) }
            guard current == record, isAllowed() else { return false }
            do throws(FileError) {
                if current.kind == .download, let path = folder.path(of: current),
                    try !folder.publishDownload(of: current.name, status: status, to: path, if: isAllowed)
                {
                    return false
                }
                current.finish(status: status)
            } catch {
                current.fail(.file(error.description))
            }
            return true
        }
        if let delivered { await announce(delivered) }
    }

    /// Removes a transfer from the list, then from the system: the end of a cancelled task must find no record.
    /// - Parameter session: The session; `nil` if the list cannot be read now.
    func discard(_ id: UUID, in session: () async -> BackgroundSession?) async {
        let hasEnded = list.record(id)?.hasEnded == true
        // If the record stays on the disk, it is no longer in the list, and its removal is tried again.
        try? await list.remove(id)
        attempts.forget(id)
        announcements.disown(id)
        guard !hasEnded, let session = await session() else { return }
        for task in await session.tasks() where task.name?.id == id {
            // The next user may have started a transfer with this ID since.
            if task.name?.run != list.record(id)?.run { task.cancel() }
        }
    }

    // MARK: - The app's view

    /// Whether the app may see a transfer after an expiry. The session that has expired may be another one than that of
    /// the transfer. Unless this process has seen it, a result waits for the next sign-in.
    private func mayShowExpired(_ record: TransferRecord) -> Bool {
        !record.hasEnded || announcements.isOwned(record.id)
    }

    /// Announces a transfer, if the app does not know its stage yet.
    private func announce(_ record: TransferRecord, isExpired: Bool = false) async {
        let stage = record.stage(isExpired: isExpired)
        guard announcements.isNews(stage, of: record.id) else { return }
        let transfer = await show(record, stage)
        if transfer.hasEnded { await list.run { [folder] in folder.removeBodies(of: record.id) } }
        announcements.announce(transfer, of: record)
    }

    /// The transfers of these records that the current user may see.
    func shown(_ records: [TransferRecord]) async -> [BackgroundTransfer] {
        var transfers: [BackgroundTransfer] = []
        for record in records {
            switch await announcements.standing(of: record) {
            case .current, .renewed: transfers.append(await show(record, record.stage(isExpired: false)))
            case .expired where mayShowExpired(record):
                transfers.append(await show(record, record.stage(isExpired: true)))
            case .expired, .ended, .unknown: break
            }
        }
        return transfers
    }

    private func show(_ record: TransferRecord, _ stage: BackgroundTransfer.Stage) async -> BackgroundTransfer {
        let response = record.hasEnded ? await list.run { [folder] in folder.response(of: record.id) } : nil
        return BackgroundTransfer(record, stage, response: response, path: folder.path(of: record))
    }
}
