/// The results of one mode.
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
    var faultsDuringRefresh = 0
    var reads = 0
    var roundsOver: [TortureStore: Int] = [:]
    /// Used refresh tokens that the server received.
    var reuseDetections = 0
    /// The part of ``reuseDetections`` that matches a recorded kill or stop.
    var explainedReuses = 0
    /// The rest of ``reuseDetections``. In a mode that may lose no session, these are all of them.
    var unexplainedReuses = 0
    var tornRecords = 0
    /// Ended sessions that reappeared, and records that returned to earlier tokens.
    var regressions = 0
    var unexpectedSignOuts = 0
    var rotationsLost = 0
    /// The part of ``rotationsLost`` that is explained by a fault before the request was sent.
    var lateSends = 0
    /// Workers with calls that failed for a reason other than the end of the session or a stop of the worker.
    var unexplainedFailures = 0
    /// Rounds with more refreshes than the round and its faults needed.
    var excessRefreshes = 0
    var deadlocks = 0
    /// Responses, files and cookies of a former session, and calls that got content after the end of their session.
    var foreignContents = 0
    /// Workers that noticed the end of a session too late.
    var lateNotices = 0
    /// Violations of any other kind.
    var otherViolations = 0
    /// The findings that would be violations if the machine had not been late.
    var inconclusive = 0
    /// The greatest lateness of the processes.
    var latest = Duration.zero
    /// Calls that the cache responded to, that shared a response, or that carried a cookie.
    var cachedCalls = 0
    var joinedCalls = 0
    var callsWithCookie = 0
    var brokenDownloads = 0
    var resumedDownloads = 0
    /// The number of failures of calls and stores, by reason.
    var reasons: [String: Int] = [:]
    var violations: [String] = []

    /// The table of the modes that were run, one column each.
    static func table(_ modes: [(mode: TortureMode, figures: TortureFigures)]) -> [String] {
        let rows: [(String, (TortureFigures) -> Int)] = [
            ("rounds", \.rounds), ("  over encrypted files", { $0.roundsOver[.encrypted] ?? 0 }),
            ("  over the Secret Service", { $0.roundsOver[.secretService] ?? 0 }), ("processes started", \.processes),
            ("calls", \.calls),
            ("  of which failed", \.failedCalls), ("  from a cache", \.cachedCalls), ("  joined", \.joinedCalls),
            ("  with a cookie", \.callsWithCookie), ("downloads broken off", \.brokenDownloads),
            ("  resumed", \.resumedDownloads), ("refreshes sent", \.refreshes),
            ("  replayed within the grace", \.replays),
            ("adoptions", \.adoptions), ("requested sign-outs", \.signOuts), ("kills", \.kills), ("stops", \.stops),
            ("  during a refresh", \.faultsDuringRefresh), ("reads of the record", \.reads),
            ("reuse detections", \.reuseDetections), ("  matched to a kill or stop", \.explainedReuses),
            ("  unexplained", \.unexplainedReuses), ("torn records", \.tornRecords),
            ("record regressions", \.regressions), ("unexpected sign-outs", \.unexpectedSignOuts),
            ("rotationLost, explained", \.rotationsLost), ("  by a fault before sending", \.lateSends),
            ("unexplained failed calls", \.unexplainedFailures),
            ("rounds with excess refreshes", \.excessRefreshes), ("deadlocks", \.deadlocks),
            ("content of a former session", \.foreignContents), ("ends noticed too late", \.lateNotices),
            ("other violations", \.otherViolations), ("inconclusive: machine late", \.inconclusive),
            ("largest lateness in ms", { Int($0.latest.inMilliseconds) }),
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
