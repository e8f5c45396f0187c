internal import Dispatch
internal import Foundation
internal import Martlet
internal import MartletTesting

/// Runs rounds in one folder: starts a writer, kills it and checks the records and files that it left.
struct KillRunner {
    private let kills: Kills
    private let folder: String
    private let queue = DispatchQueue(label: "martlet.kills")
    /// The newest rotation that any writer so far has reported as stored.
    private var confirmed: [StoreUnderTest: Int] = [:]
    private var tallies: [StoreUnderTest: KillTally] = [:]
    private var downloads = DownloadTally()

    /// Runs rounds in a temporary folder and deletes the folder afterwards.
    static func run(_ rounds: some Sequence<Int>, of kills: Kills) async -> (
        stores: [StoreUnderTest: KillTally], downloads: DownloadTally
    ) {
        let folder = FileManager.default.temporaryDirectory.appending(path: "martlet-kills-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var runner = KillRunner(kills: kills, folder: folder.path)
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            for round in rounds {
                if Task.isCancelled { break }
                try await runner.play(round)
            }
        } catch {
            for store in StoreUnderTest.allCases {
                runner.tallies[store, default: KillTally()].problems.append("\(error)")
            }
        }
        return (runner.tallies, runner.downloads)
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
            confirmed[report.store] = max(confirmed[report.store] ?? 0, report.rotation)
            tallies[report.store, default: KillTally()].stored += 1
        }
        let found = try await KilledDownload.inspect(folder)
        if wasKilled { downloads.kills += 1 }
        if found.isTorn { downloads.torn += 1 }
        downloads.left += found.leftovers.count
        downloads.removed += found.removed
        for store in StoreUnderTest.allCases {
            var tally = tallies[store] ?? KillTally()
            if wasKilled {
                tally.kills += 1
            } else {
                tally.problems.append("round \(round): the writer exited before it was killed")
            }
            await judge(store, round, &tally)
            tallies[store] = tally
        }
    }

    private mutating func judge(_ store: StoreUnderTest, _ round: Int, _ tally: inout KillTally) async {
        let newest = confirmed[store] ?? 0
        let start = ".session.\(store.rawValue)."
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        if names.contains(where: { $0.hasPrefix(start) && !$0.contains(".lock.") }) { tally.interruptedWrites += 1 }
        // The in-place store writes plain files only.
        let reader: any TokenStore =
            kills.writesInPlace ? AnyTokenStore.file(path: store.path(in: folder)) : store.store(in: folder)
        switch await reader.read() {
        case .found(let record) where record != StoreUnderTest.record(record.stamp.rotation):
            tally.torn += 1
            tally.problems.append("round \(round): the record of rotation \(record.stamp.rotation) is damaged")
        case .found(let record) where record.stamp.rotation < newest:
            tally.lost += 1
            tally.problems.append("round \(round): found rotation \(record.stamp.rotation), but \(newest) was stored")
            confirmed[store] = record.stamp.rotation
        case .found(let record):
            // The writer may be killed between storing a record and reporting it, but never two records ahead.
            if record.stamp.rotation > newest + 1 {
                tally.problems.append("round \(round): found rotation \(record.stamp.rotation) after \(newest)")
            }
            confirmed[store] = record.stamp.rotation
        case .empty where newest == 0, .ended where newest == 0:
            break
        case .empty, .ended:
            tally.lost += 1
            tally.problems.append("round \(round): found no record, but rotation \(newest) was stored")
            confirmed[store] = 0
        case .unavailable(let failure):
            tally.torn += 1
            tally.problems.append("round \(round): \(failure)")
            // Delete the damaged record so that the next writer starts over.
            try? FileManager.default.removeItem(atPath: store.path(in: folder))
            confirmed[store] = 0
        }
    }
}

/// The moment at which a writer is killed: after a number of reports (0: after its start) and a short delay.
struct KillMoment: Sendable, Equatable {
    let reports: Int
    let delay: Duration

    init(seed: UInt64, round: Int) {
        var random = SeededGenerator(seed: seed, round)
        // A kill before the first report mostly hits the start of the process, which is not under test.
        reports = random.chance(0.05) ? 0 : Int.random(in: 1...12, using: &random)
        // A write takes a few milliseconds, a process start some tens of milliseconds.
        delay = .microseconds(Int.random(in: 0...(reports == 0 ? 60_000 : 4000), using: &random))
    }
}

extension Program.Started {
    /// Waits for the moment and kills the process. Blocks until it has exited.
    /// - Returns: The reports up to its end, and whether it ended by SIGKILL.
    fileprivate func kill(at moment: KillMoment) -> (reports: [StoreUnderTest.Report], wasKilled: Bool) {
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
        // Busy-wait: a sleep would let the system's scheduler choose the moment.
        let clock = ContinuousClock()
        let end = clock.now + moment.delay
        while clock.now < end {}
        Foundation.kill(pid, SIGKILL)
        while take() {}
        close(output)
        close(input)
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        // The low 7 bits of the status are the signal that ended the process.
        let lines = text.split(separator: "\n").compactMap { StoreUnderTest.Report(line: $0) }
        return (lines, status & 0x7F == SIGKILL)
    }
}
