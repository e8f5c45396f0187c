#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Takes the next step of each transfer, as far as its session allows.
extension BackgroundTransfers {
    /// Whether a transfer belongs to the current session.
    private enum Ownership {
        case current
        /// The same user has signed in again after the session had expired.
        case renewed(SessionID)
        /// The session has expired, and no user has signed in since.
        case expired
        case ended
        /// The store cannot be read now.
        case unknown
    }

    private func ownership(of record: TransferRecord) async -> Ownership {
        guard let owner = record.session else { return .current }
        switch await client.tokens?.loadedState {
        case .signedIn(let session) where session.id == owner: return .current
        case .signedIn(let session):
            let isSameUser = record.userID != nil && record.userID == session.account.userID
            return isSameUser && !session.account.isGuest ? .renewed(session.id) : .ended
        case .expired: return .expired
        case .signedOut, nil: return .ended
        case .loading, .unavailable, .unreadable: return .unknown
        }
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
        for record in records where !state.withLock({ $0.starting.contains(record.id) }) {
            // A full disk is met again by the next settlement.
            try? await settle(record, in: session)
        }
    }

    private func settle(_ record: TransferRecord, in session: BackgroundSession) async throws {
        switch await ownership(of: record) {
        case .unknown: return
        case .ended: return await end(record)
        case .expired: return await announce(record, isExpired: true)
        case .renewed(let id):
            let renewed = try await list.change(record.id) { current in
                guard current == record else { return false }
                (current.session, current.rotation) = (id, nil)
                return true
            }
            if let renewed { try await settle(renewed, in: session) }
        case .current: try await advance(record, in: session)
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
            let delivered = try await list.change(record.id) { current in
                guard current == record else { return false }
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
        let known = state.withLock { $0.announced[record.id]?.stage }
        guard known != shown, known != nil || shown != .underWay else { return }
        let transfer = await show(record, shown)
        if transfer.hasEnded { await list.run { [folder = list.folder] in folder.removeBodies(of: record.id) } }
        let wakeups = state.withLock { state in
            // It may have been removed meanwhile.
            guard list.record(record.id) != nil else { return Wakeups() }
            state.announced[record.id] = shown == .underWay ? nil : transfer
            return state.events.send(transfer)
        }
        wakeups.wake()
    }

    /// Ends a transfer with its session. Its result must not reach another user.
    private func end(_ record: TransferRecord) async {
        await discard(record.id)
        guard list.record(record.id) == nil else { return }
        let transfer = await show(record, .failed(.sessionEnded), isDeleted: true)
        let wakeups = state.withLock { state in
            state.announced[record.id] = nil
            return record.hasEnded ? Wakeups() : state.events.send(transfer)
        }
        wakeups.wake()
    }

    /// Removes a transfer from the list, then from the system: the end of a cancelled task must find no record.
    func discard(_ id: UUID) async {
        let hasEnded = list.record(id)?.hasEnded == true
        try? await list.remove(id)
        state.withLock { $0.resumeData[id] = nil }
        guard !hasEnded, let session = await session() else { return }
        for task in await session.tasks() where task.name?.id == id { task.cancel() }
    }

    /// The transfers of the list that the current user may see.
    func shown(_ records: [TransferRecord]) async -> [BackgroundTransfer] {
        var transfers: [BackgroundTransfer] = []
        for record in records {
            switch await ownership(of: record) {
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
        _ record: TransferRecord, _ shown: BackgroundTransfer.Stage, isDeleted: Bool = false
    ) async -> BackgroundTransfer {
        let folder = list.folder
        let response =
            record.hasEnded && !isDeleted ? await list.run { folder.response(of: record.id) } : nil
        return BackgroundTransfer(
            id: record.id, call: CallDescription(method: record.method, url: record.shownURL, attempts: record.attempt),
            path: record.path.map { PortablePath.absolute($0, home: home) }, stage: shown, response: response)
    }
}
