internal import Martlet

/// The attempts whose tasks are missing at launch. The ends of these tasks may still arrive.
final class LostTasks: Sendable {
    private let list: TransferList
    private let folder: TransferFolder
    private let names = Locked<Set<BackgroundTask.Name>>([])

    init(of list: TransferList, in folder: TransferFolder) {
        self.list = list
        self.folder = folder
    }

    /// Compares the list with the tasks of the system, and resumes the tasks that are in both.
    /// - Returns: Whether a task is missing.
    func find(among tasks: [BackgroundTask]) async -> Bool {
        var alive: Set<BackgroundTask.Name> = []
        for task in tasks {
            guard let name = task.name, list.record(name.id)?.awaits(name) == true else {
                // A killed process had not yet recorded that it would resume this task, or it had removed the transfer.
                task.cancel()
                continue
            }
            alive.insert(name)
            // A process may have been killed before it resumed the task.
            task.resume()
        }
        var missing: Set<BackgroundTask.Name> = []
        for record in list.known where record.phase == .started && !alive.contains(record.name) {
            if await !adoptKeptDownload(of: record) { missing.insert(record.name) }
        }
        names.withLock { $0 = missing }
        return !missing.isEmpty
    }

    /// Continues the work of a process that was killed after it had taken the file from the system, and before it had
    /// recorded that.
    private func adoptKeptDownload(of record: TransferRecord) async -> Bool {
        guard let status = await list.run({ [folder] in folder.keptStatus(of: record.name) }) else { return false }
        let changed = try? await list.change(record) { $0.receive(status: status) }
        return changed != nil
    }

    /// Gives up the tasks whose ends have not arrived: the system has lost them, or the process was killed while it
    /// handled the end.
    /// - Returns: Whether there were any.
    func giveUp() async -> Bool {
        let lost = names.withLock { names in
            defer { names = [] }
            return names
        }
        for name in lost {
            _ = try? await list.change(name.id) { record in
                guard record.name == name, record.phase == .started else { return false }
                record.interrupt()
                return true
            }
        }
        return !lost.isEmpty
    }
}
