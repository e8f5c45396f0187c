#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Takes the next step of each transfer, as far as its session allows.
extension BackgroundTransfers {
    /// Waits until the store was read.
    private func standing(of record: TransferRecord) async -> LastingOwner.Standing {
        let session = await client.tokens?.loadedState
        return state.withLock { $0.hasEnded(record) } ? .ended : record.owner.standing(in: session)
    }

    /// Settles after the current work, without waiting.
    func requestSettlement() {
        Task { [weak self] in await self?.settle() }
    }

    /// Settles all transfers, one after another: they share the refresh that they may need. A settlement that is asked for
    /// while one runs begins after it, because the running one may have passed what has changed.
    func settle() async {
        let settlement = state.withLock { state in
            if let next = state.nextSettling { return next }
            let next = Task { [previous = state.settling] in
                await previous?.value
                self.state.withLock { state in
                    state.settling = state.nextSettling
                    state.nextSettling = nil
                }
                await self.settleAll()
            }
            state.nextSettling = next
            return next
        }
        await settlement.value
    }

    private func settleAll() async {
        guard let session = await session(), let records = try? await list.all() else { return }
        await list.retryRemovals()
        for record in records where !state.withLock({ $0.starting.contains(record.id) }) {
            // A full disk is met again by the next settlement.
            try? await settle(record, in: session)
        }
    }

    private func settle(_ record: TransferRecord, in session: BackgroundSession) async throws {
        switch await standing(of: record) {
        case .unknown: return
        case .ended: return await end(record)
        case .expired:
            noteOwned(record.id)
            await announce(record, isExpired: true)
        case .renewed(let next):
            noteOwned(record.id)
            let renewed = try await list.change(record.id) { current in
                guard current == record, !self.state.withLock({ $0.hasEnded(current) }) else { return false }
                current.owner = LastingOwner(next)
                current.rotation = nil
                return true
            }
            if let renewed { try await settle(renewed, in: session) }
        case .current:
            noteOwned(record.id)
            try await advance(record, in: session)
        }
    }

    private func advance(_ record: TransferRecord, in session: BackgroundSession) async throws {
        switch record.phase {
        case .started: break
        case .planned, .rejected:
            do {
                try await restart(record, in: session)
            } catch SessionError.expired {
                return await announce(record, isExpired: true)
            } catch is SessionError {
                // Without a network, or a readable store, the transfer waits. If the session has changed, its state has
                // too, which starts another settlement.
                return
            }
            if let current = list.record(record.id) { await announce(current) }
        case .received(let status):
            let path = record.path.map { PortablePath.absolute($0, home: home) }
            let folder = list.folder
            let tokens = client.tokens
            let delivered = try await list.change(record.id) { current in
                // The file must not appear for another user. If the session has just ended, that starts another settlement.
                guard current == record, case .current = current.owner.standing(in: tokens?.state),
                    !self.state.withLock({ $0.hasEnded(current) })
                else { return false }
                do throws(FileError) {
                    if record.kind == .download, let path {
                        try folder.publishDownload(of: record.name, status: status, to: path)
                    }
                    current.phase = .finished(status: status)
                } catch {
                    current.phase = .failed(.file(error.description))
                }
                return true
            }
            if let delivered { await announce(delivered) }
        case .finished, .failed: await announce(record)
        }
    }

    // MARK: - What the app sees

    /// Tells the app what it does not know yet.
    private func announce(_ record: TransferRecord, isExpired: Bool = false) async {
        let shown = shownStage(of: record, isExpired: isExpired)
        let known = state.withLock { $0.announced[record.id]?.transfer.stage }
        guard known != shown, known != nil || shown != .underWay else { return }
        let transfer = await show(record, shown)
        if transfer.hasEnded { await list.run { [folder = list.folder] in folder.removeBodies(of: record.id) } }
        let wakeups = state.withLock { state in
            // The transfer may have been removed, or its owner may have ended, while its response was read.
            guard list.record(record.id) != nil, !state.hasEnded(record) else { return Wakeups() }
            let announcement = TransferAnnouncement(transfer: transfer, record: record)
            state.announced[record.id] = shown == .underWay ? nil : announcement
            return state.events.send(announcement)
        }
        wakeups.wake()
    }

    /// Ends a transfer with its owner. Its result must not reach another user.
    private func end(_ record: TransferRecord) async {
        reportEnd(of: record)
        await discard(record.id)
    }

    /// Ends all transfers of sessions whose user has gone, while the change of user is still under way: if the same user
    /// comes back before the next settlement, the transfers stay ended.
    func userHasGone(endOf sessions: Set<SessionID>) {
        state.withLock { $0.endedSessions.formUnion(sessions) }
        for record in list.known where record.owner.hasEnded(with: sessions) { reportEnd(of: record) }
        requestSettlement()
    }

    /// Reports the ends of all transfers whose owner has ended to the current subscribers.
    func reportEnds(in session: SessionState?) {
        for id in state.withLock(\.owned) {
            guard let record = list.record(id), case .ended = record.owner.standing(in: session) else { continue }
            reportEnd(of: record)
        }
    }

    /// Reports the end of a transfer with its owner, once. If the owner had ended before this process knew the transfer,
    /// no subscriber learns of it.
    private func reportEnd(of record: TransferRecord) {
        let transfer = shown(record, .failed(.sessionEnded), response: nil)
        let wakeups = state.withLock { state in
            state.announced[record.id] = nil
            guard state.ended.insert(record.id).inserted, state.owned.remove(record.id) != nil, !record.hasEnded else {
                return Wakeups()
            }
            return state.events.send(TransferAnnouncement(transfer: transfer, record: record))
        }
        wakeups.wake()
    }

    private func noteOwned(_ id: UUID) {
        state.withLock { state in
            if !state.ended.contains(id) { state.owned.insert(id) }
        }
    }

    /// Removes a transfer from the list, then from the system: the end of a cancelled task must find no record.
    func discard(_ id: UUID) async {
        let hasEnded = list.record(id)?.hasEnded == true
        // A record that the disk keeps is not in the list any more, and its removal is tried again.
        try? await list.remove(id)
        state.withLock { state in
            state.resumeData[id] = nil
            state.owned.remove(id)
        }
        guard !hasEnded, let session = await session() else { return }
        for task in await session.tasks() where task.name?.id == id { task.cancel() }
    }

    /// The transfers of the list that the current user may see.
    func shown(_ records: [TransferRecord]) async -> [BackgroundTransfer] {
        var transfers: [BackgroundTransfer] = []
        for record in records {
            switch await standing(of: record) {
            case .current, .renewed: transfers.append(await show(record, shownStage(of: record, isExpired: false)))
            case .expired: transfers.append(await show(record, shownStage(of: record, isExpired: true)))
            case .ended, .unknown: break
            }
        }
        return transfers
    }

    private func shownStage(of record: TransferRecord, isExpired: Bool) -> BackgroundTransfer.Stage {
        switch record.phase {
        case .finished(let status): .finished(status: status)
        case .failed(let error): .failed(error)
        case .started: .underWay
        case .planned, .rejected, .received: isExpired ? .waitingForSignIn : .underWay
        }
    }

    private func show(
        _ record: TransferRecord, _ stage: BackgroundTransfer.Stage
    ) async -> BackgroundTransfer {
        let folder = list.folder
        let response = record.hasEnded ? await list.run { folder.response(of: record.id) } : nil
        return shown(record, stage, response: response)
    }

    private func shown(
        _ record: TransferRecord, _ stage: BackgroundTransfer.Stage, response: Data?
    ) -> BackgroundTransfer {
        BackgroundTransfer(
            id: record.id, call: CallDescription(method: record.method, url: record.shownURL, attempts: record.attempt),
            path: record.path.map { PortablePath.absolute($0, home: home) }, stage: stage, response: response)
    }
}
