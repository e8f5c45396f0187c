internal import Dispatch
internal import Foundation
internal import Martlet
internal import MartletTesting

/// Kills writers, and judges what they have left.
struct Kills: Sendable {
    let rounds: Int
    let seed: UInt64
    let writesInPlace: Bool
    let console: Console

    /// Whoever writes in one folder has nothing to do with those in another, so that all cores have something to do.
    private static let lanes = 2

    /// Plays all rounds.
    /// - Returns: Whether no record was torn or lost.
    func run() async -> Bool {
        console.line(console.paint("Martlet: a process that writes to the file stores is killed", .title))
        console.line("\(rounds.grouped) rounds, seed \(seed)")
        let (tallies, downloads) = await withTaskGroup { group in
            for lane in 0..<Self.lanes {
                group.addTask { await KillLane.play(stride(from: lane, to: rounds, by: Self.lanes), of: self) }
            }
            return await group.reduce(into: ([KilledStore: KillTally](), DownloadTally())) { sum, lane in
                sum.0.merge(lane.stores) { $0 + $1 }
                sum.1 = sum.1 + lane.downloads
            }
        }
        if Task.isCancelled {
            console.line("Stopped before the end.")
            return false
        }
        for store in KilledStore.allCases {
            let tally = tallies[store] ?? KillTally()
            let looks: Console.Style = tally.isRight(after: rounds) ? .good : .bad
            console.line(
                console.paint(
                    "\(store.name): \(tally.kills.grouped) kills, \(tally.torn.grouped) torn,"
                        + " \(tally.lost.grouped) lost", looks)
                    + " (\(tally.stored.grouped) records; \(tally.caught.grouped) kills in the middle of a write)")
            for trouble in tally.trouble.prefix(4) { console.line("  \(trouble)") }
        }
        let all = tallies.values.reduce(KillTally(), +)
        console.line(
            console.paint(
                "Downloads: \(downloads.kills.grouped) kills, \(downloads.torn.grouped) torn,"
                    + " \(downloads.left.grouped) files left behind", downloads.isRight ? .good : .bad)
                + " (hidden until the next download: \(downloads.cleared.grouped))")
        let isRight =
            downloads.isRight && KilledStore.allCases.allSatisfy { tallies[$0]?.isRight(after: rounds) == true }
        console.line(
            "\(isRight ? "✓" : "✗") \(KilledStore.allCases.count) stores and downloads, each with"
                + " \(rounds.grouped) kills, \((all.torn + downloads.torn).grouped) torn, \(all.lost.grouped) lost,"
                + " \(downloads.left.grouped) left behind")
        return isRight
    }
}

/// What became of downloads.
struct DownloadTally: Sendable {
    var kills = 0
    var torn = 0
    var left = 0
    /// Files that were left only until the next download to the same place.
    var cleared = 0

    var isRight: Bool { torn == 0 && left == 0 }

    static func + (first: DownloadTally, second: DownloadTally) -> DownloadTally {
        DownloadTally(
            kills: first.kills + second.kills, torn: first.torn + second.torn, left: first.left + second.left,
            cleared: first.cleared + second.cleared)
    }
}

/// What became of one store.
struct KillTally: Sendable {
    var kills = 0
    var torn = 0
    var lost = 0
    /// How many records were said to be stored.
    var stored = 0
    /// How many kills left a file behind that was to take the record's place.
    var caught = 0
    var trouble: [String] = []

    func isRight(after rounds: Int) -> Bool {
        // Kills that never meet a write prove nothing.
        let hasBeenTried = rounds < 50 || stored > 0 && caught > 0
        return kills == rounds && torn == 0 && lost == 0 && trouble.isEmpty && hasBeenTried
    }

    static func + (first: KillTally, second: KillTally) -> KillTally {
        KillTally(
            kills: first.kills + second.kills, torn: first.torn + second.torn, lost: first.lost + second.lost,
            stored: first.stored + second.stored, caught: first.caught + second.caught,
            trouble: first.trouble + second.trouble)
    }
}
