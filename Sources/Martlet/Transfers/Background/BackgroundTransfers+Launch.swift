#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The steps when the app is launched: the list is read, then the session is created, which delivers the events of the
/// tasks that ended while the app was not running.
extension BackgroundTransfers {
    /// The time in which the end of a task without a trace may still arrive, if the system does not say that it has
    /// delivered all events. It says so only if it has launched or woken the app.
    private static let patience = Duration.seconds(60)

    /// The session, or `nil` if the list cannot be read now.
    func session() async -> BackgroundSession? {
        try? await launched()
    }

    /// The session, which is created once.
    func launched() async throws -> BackgroundSession {
        let launch = state.withLock { state in
            if let launch = state.launch { return launch }
            let launch = Task { try await self.launch() }
            state.launch = launch
            return launch
        }
        do {
            return try await launch.value
        } catch {
            // Before the device is unlocked for the first time, the list cannot be read.
            state.withLock { state in
                if state.launch == launch { state.launch = nil }
            }
            throw error
        }
    }

    private func launch() async throws -> BackgroundSession {
        _ = try await list.all()
        let session = await BlockingQueue.run { self.makeSession(self) }
        await reconcile(with: session)
        if let states = client.tokens?.states {
            let watch = Task { [weak self] in
                for await _ in states { self?.requestSettlement() }
            }
            state.withLock { $0.watch = watch }
        }
        requestSettlement()
        return session
    }

    /// Compares the list with the tasks of the system.
    private func reconcile(with session: BackgroundSession) async {
        var alive: Set<BackgroundTask.Name> = []
        for task in await session.tasks() {
            guard let name = task.name, list.record(name.id)?.awaits(name) == true else {
                // A killed process had not recorded that it would resume this task, or has removed the transfer.
                task.cancel()
                continue
            }
            alive.insert(name)
            // A process may have been killed before it resumed the task.
            task.resume()
        }
        var missing: Set<BackgroundTask.Name> = []
        for record in (try? await list.all()) ?? [] where record.phase == .started && !alive.contains(record.name) {
            if await !adoptKeptDownload(of: record.name) { missing.insert(record.name) }
        }
        guard !missing.isEmpty else { return }
        state.withLock { $0.missing = missing }
        let time = client.pipeline.time
        Task { [weak self] in
            guard (try? await time.sleep(until: time.uptime + Self.patience)) != nil else { return }
            await self?.resolveMissing()
        }
    }

    /// Continues after a process that was killed when it had taken the file from the system, and before it recorded
    /// that.
    private func adoptKeptDownload(of name: BackgroundTask.Name) async -> Bool {
        let folder = list.folder
        let changed = try? await list.change(name.id) { record in
            guard record.awaits(name), let status = folder.keptStatus(of: name) else { return false }
            record.phase = .received(status: status)
            return true
        }
        return changed != nil
    }

    /// Gives up the tasks whose ends have not arrived: the system has lost them, or the process was killed while it
    /// handled the end.
    private func resolveMissing() async {
        let missing = state.withLock { state in
            defer { state.missing = [] }
            return state.missing
        }
        guard !missing.isEmpty else { return }
        for name in missing {
            _ = try? await list.change(name.id) { record in
                guard record.name == name, record.phase == .started else { return false }
                record.phase = record.phaseAfterInterruption
                return true
            }
        }
        requestSettlement()
    }

    /// The system has delivered the events for which it has launched or woken the app.
    func systemDidDeliverEvents() {
        Task {
            _ = await session()
            await resolveMissing()
            // The system ends an app that takes about half a minute.
            _ = await limits.run(within: .seconds(25)) { await self.settle() }
            let waiting = state.withLock { state in
                defer { state.waiting = [:] }
                state.hasDeliveredEvents = state.waiting.isEmpty
                return Array(state.waiting.values)
            }
            for each in waiting { each.resume() }
        }
    }
}
