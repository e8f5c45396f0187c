/// What a torture in one mode came to.
struct TortureFigures: Sendable {
    var rounds = 0
    var processes = 0
    var calls = 0
    var failedCalls = 0
    var refreshes = 0
    var adoptions = 0
    var replays = 0
    var signOuts = 0
    var kills = 0
    var stops = 0
    var strikesInWindow = 0
    var reads = 0
    var reuseDetections = 0
    var tornRecords = 0
    /// A session or a rotation that had been replaced was there again.
    var wentBack = 0
    var signOutsNotAskedFor = 0
    var rotationsLost = 0
    /// Those of them that a strike before the sending explains, rather than one after it.
    var sentTooLate = 0
    var deadlocks = 0
    /// Whatever else was not right.
    var others = 0
    /// Why calls failed, and what stores could not do.
    var reasons: [String: Int] = [:]
    var violations: [String] = []

    /// The table of the modes that were run, one column each.
    static func table(_ modes: [(mode: TortureMode, figures: TortureFigures)]) -> [String] {
        let rows: [(String, (TortureFigures) -> Int)] = [
            ("rounds", \.rounds), ("processes started", \.processes), ("calls", \.calls),
            ("  of which failed", \.failedCalls), ("refreshes sent", \.refreshes),
            ("  sent again in the grace", \.replays),
            ("adoptions", \.adoptions), ("sign-outs asked for", \.signOuts), ("kills", \.kills), ("stops", \.stops),
            ("  strikes in the window", \.strikesInWindow), ("reads of the record", \.reads),
            ("reuse detections", \.reuseDetections), ("torn records", \.tornRecords),
            ("records that went back", \.wentBack), ("sign-outs not asked for", \.signOutsNotAskedFor),
            ("rotationLost, matched", \.rotationsLost), ("  by a strike before sending", \.sentTooLate),
            ("deadlocks", \.deadlocks), ("other trouble", \.others),
        ]
        let width = 12
        let names = rows.map(\.0.count).max() ?? 0
        func line(_ name: String, _ cells: [String]) -> String {
            name.padded(to: names)
                + cells.map { String(repeating: " ", count: max(1, width - $0.count)) + $0 }.joined()
        }
        return [line("", modes.map(\.mode.rawValue))]
            + rows.map { name, value in line(name, modes.map { value($0.figures).grouped }) }
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}
