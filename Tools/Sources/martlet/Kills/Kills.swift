internal import Dispatch
internal import Foundation
internal import Martlet
internal import MartletTesting

/// The `kills` test: kills writers and downloads, and prints what was lost or left behind.
struct Kills: Sendable {
    let rounds: Int
    let seed: UInt64
    let writesInPlace: Bool
    let console: Console

    /// Rounds run in this many folders in parallel, to use all cores.
    private static let lanes = 2

    /// Runs all rounds and prints the results.
    /// - Returns: Whether no record was torn or lost and no file was left behind.
    func run() async -> Bool {
        console.line(console.paint("Martlet: killing a process that writes to the file stores", .title))
        console.line("\(rounds.grouped) rounds, seed \(seed)")
        let (tallies, downloads) = await withTaskGroup { group in
            for lane in 0..<Self.lanes {
                group.addTask { await KillRunner.run(stride(from: lane, to: rounds, by: Self.lanes), of: self) }
            }
            return await group.reduce(into: ([StoreUnderTest: KillTally](), DownloadTally())) { sum, lane in
                sum.0.merge(lane.stores) { $0 + $1 }
                sum.1 = sum.1 + lane.downloads
            }
        }
        if Task.isCancelled {
            console.line("Interrupted before the last round.")
            return false
        }
        for store in StoreUnderTest.allCases {
            let tally = tallies[store] ?? KillTally()
            let style: Console.Style = tally.passed(after: rounds) ? .good : .bad
            console.line(
                console.paint(
                    "\(store.name): \(tally.kills.grouped) kills, \(tally.torn.grouped) torn,"
                        + " \(tally.lost.grouped) lost", style)
                    + " (\(tally.stored.grouped) records stored; \(tally.interruptedWrites.grouped) kills hit a write)")
            for problem in tally.problems.prefix(4) { console.line("  \(problem)") }
        }
        let all = tallies.values.reduce(KillTally(), +)
        console.line(
            console.paint(
                "Downloads: \(downloads.kills.grouped) kills, \(downloads.torn.grouped) torn,"
                    + " \(downloads.left.grouped) files left behind", downloads.passed ? .good : .bad)
                + " (removed by the next download: \(downloads.removed.grouped))")
        let passed =
            downloads.passed && StoreUnderTest.allCases.allSatisfy { tallies[$0]?.passed(after: rounds) == true }
        console.line(
            "\(passed ? "✓" : "✗") \(StoreUnderTest.allCases.count) stores and the downloads, each with"
                + " \(rounds.grouped) kills, \((all.torn + downloads.torn).grouped) torn, \(all.lost.grouped) lost,"
                + " \(downloads.left.grouped) left behind")
        return passed
    }
}

/// The results of the downloads.
struct DownloadTally: Sendable {
    var kills = 0
    var torn = 0
    var left = 0
    /// Hidden files that the next download to the same path removed.
    var removed = 0

    var passed: Bool { torn == 0 && left == 0 }

    static func + (first: DownloadTally, second: DownloadTally) -> DownloadTally {
        DownloadTally(
            kills: first.kills + second.kills, torn: first.torn + second.torn, left: first.left + second.left,
            removed: first.removed + second.removed)
    }
}

/// The results of one store.
struct KillTally: Sendable {
    var kills = 0
    var torn = 0
    var lost = 0
    /// The number of records that were reported as stored.
    var stored = 0
    /// The number of kills that left a temporary file behind, which shows that they hit a write.
    var interruptedWrites = 0
    var problems: [String] = []

    func passed(after rounds: Int) -> Bool {
        // A run in which no kill hit a write proves nothing.
        let isConclusive = rounds < 50 || stored > 0 && interruptedWrites > 0
        return kills == rounds && torn == 0 && lost == 0 && problems.isEmpty && isConclusive
    }

    static func + (first: KillTally, second: KillTally) -> KillTally {
        KillTally(
            kills: first.kills + second.kills, torn: first.torn + second.torn, lost: first.lost + second.lost,
            stored: first.stored + second.stored, interruptedWrites: first.interruptedWrites + second.interruptedWrites,
            problems: first.problems + second.problems)
    }
}
