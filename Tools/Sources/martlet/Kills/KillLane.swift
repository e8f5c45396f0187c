internal import Dispatch
internal import Foundation
internal import Martlet
internal import MartletTesting

/// One folder with its records, and one writer after another.
struct KillLane {
    private let kills: Kills
    private let folder: String
    private let queue = DispatchQueue(label: "martlet.kills")
    /// The newest rotation that a writer has said to be stored, of all writers so far.
    private var told: [KilledStore: Int] = [:]
    private var tallies: [KilledStore: KillTally] = [:]
    private var downloads = DownloadTally()

    /// Plays rounds, and leaves nothing behind.
    static func play(_ rounds: some Sequence<Int>, of kills: Kills) async -> (
        stores: [KilledStore: KillTally], downloads: DownloadTally
    ) {
        let folder = FileManager.default.temporaryDirectory.appending(path: "martlet-kills-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var lane = KillLane(kills: kills, folder: folder.path)
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            for round in rounds {
                if Task.isCancelled { break }
                try await lane.play(round)
            }
        } catch {
            for store in KilledStore.allCases { lane.tallies[store, default: KillTally()].trouble.append("\(error)") }
        }
        return (lane.tallies, lane.downloads)
    }

    private init(kills: Kills, folder: String) {
        self.kills = kills
        self.folder = folder
    }

    private mutating func play(_ round: Int) async throws {
        let moment = KillMoment(seed: kills.seed, round: round)
        let program = Program(path: Bundle.main.executablePath ?? CommandLine.arguments[0])
        let writer = try program.spawn(["kills-worker", folder] + (kills.writesInPlace ? ["--in-place"] : []))
        let (reports, wasKilled) = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: writer.kill(at: moment)) }
        }
        for report in reports {
            told[report.store] = max(told[report.store] ?? 0, report.rotation)
            tallies[report.store, default: KillTally()].stored += 1
        }
        let remains = try await KilledDownload.remains(in: folder)
        if wasKilled { downloads.kills += 1 }
        if remains.isTorn { downloads.torn += 1 }
        downloads.left += remains.leftovers.count
        downloads.cleared += remains.cleared
        for store in KilledStore.allCases {
            var tally = tallies[store] ?? KillTally()
            if wasKilled {
                tally.kills += 1
            } else {
                tally.trouble.append("round \(round): the writer had ended itself")
            }
            await judge(store, round, &tally)
            tallies[store] = tally
        }
    }

    private mutating func judge(_ store: KilledStore, _ round: Int, _ tally: inout KillTally) async {
        let newest = told[store] ?? 0
        let start = ".session.\(store.rawValue)."
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        if names.contains(where: { $0.hasPrefix(start) && !$0.contains(".lock.") }) { tally.caught += 1 }
        // The one that writes in place has plain files only.
        let reader: any TokenStore =
            kills.writesInPlace ? FileTokenStore(path: store.path(in: folder)) : store.store(in: folder)
        switch await reader.read() {
        case .found(let record) where record != KilledStore.record(record.rotation):
            tally.torn += 1
            tally.trouble.append("round \(round): rotation \(record.rotation) is not as it was written")
        case .found(let record) where record.rotation < newest:
            tally.lost += 1
            tally.trouble.append("round \(round): rotation \(record.rotation) is there, \(newest) was stored")
            told[store] = record.rotation
        case .found(let record):
            // It may have been stored right before the writer could say so; none can be newer than that.
            if record.rotation > newest + 1 {
                tally.trouble.append("round \(round): rotation \(record.rotation) is there, \(newest) was the last one")
            }
            told[store] = record.rotation
        case .empty where newest == 0:
            break
        case .empty:
            tally.lost += 1
            tally.trouble.append("round \(round): nothing is there, \(newest) was stored")
            told[store] = 0
        case .unavailable(let failure):
            tally.torn += 1
            tally.trouble.append("round \(round): \(failure)")
            // The next writer begins anew.
            try? FileManager.default.removeItem(atPath: store.path(in: folder))
            told[store] = 0
        }
    }
}

/// When a writer is killed: so many reports after its first one, or after its start, and a little later.
struct KillMoment: Sendable, Equatable {
    let reports: Int
    let delay: Duration

    init(seed: UInt64, round: Int) {
        var random = SeededGenerator(seed: seed, round)
        // Most of a process's life before its first report is spent on starting it, which concerns nobody here.
        reports = random.chance(0.05) ? 0 : Int.random(in: 1...12, using: &random)
        // A write takes one or a few milliseconds, a start some tens of them.
        delay = .microseconds(Int.random(in: 0...(reports == 0 ? 60_000 : 4000), using: &random))
    }
}

extension Program.Started {
    /// Waits for the moment and kills the process. Blocks until it is gone.
    /// - Returns: What it has said until its end, and whether it was this kill that has ended it.
    fileprivate func kill(at moment: KillMoment) -> (reports: [KilledStore.Report], wasKilled: Bool) {
        var text = ""
        var buffer = [UInt8](repeating: 0, count: 4096)
        var count = 0
        func take() -> Bool {
            let got = read(output, &buffer, buffer.count)
            if got < 0, errno == EINTR { return true }
            guard got > 0 else { return false }
            text += String(decoding: buffer[..<got], as: UTF8.self)
            count += buffer[..<got].count { $0 == UInt8(ascii: "\n") }
            return true
        }
        while count < moment.reports, take() {}
        // Sleeping would hand the moment over to the system's scheduler.
        let clock = ContinuousClock()
        let end = clock.now + moment.delay
        while clock.now < end {}
        Foundation.kill(pid, SIGKILL)
        while take() {}
        close(output)
        close(input)
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        // The lower bits are the signal that has ended a process.
        let lines = text.split(separator: "\n").compactMap { KilledStore.Report(line: $0) }
        return (lines, status & 0x7F == SIGKILL)
    }
}
