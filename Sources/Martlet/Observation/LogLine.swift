/// One line about a call or a session, for a log, with secrets masked.
///
/// ```
/// GET /articles?page=2 200, 132 ms, 4.1 kB
/// GET /me 200, 30 ms, 120 B, attempt 2 after a 401, with a refreshed token
/// GET /feed failed after 3 ms: the connection broke (reset by peer). Try again.
/// session 1A2B3C4D/4 has a new access token
/// ```
///
/// The parts are separate because only ``target`` and ``note`` can identify a person. ``description`` joins them. A
/// line has no line breaks or control characters, whatever a server has sent.
struct LogLine: Sendable, Hashable {
    let level: LogObserver.Level
    /// The method of a call, or `session`.
    let subject: String
    /// Path and query of a call. They can identify a person.
    let target: String
    /// The outcome, without data from the app or the server.
    let outcome: String
    /// Further text, such as an error or redirects. It can identify a person.
    let note: String

    init(_ level: LogObserver.Level, _ subject: String, _ target: String, _ outcome: String, note: String = "") {
        self.level = level
        self.subject = subject
        self.target = target.onOneLine
        self.outcome = outcome
        self.note = Redaction.redact(note).onOneLine
    }
}

extension LogLine: CustomStringConvertible {
    /// The line, without a line break.
    var description: String {
        [subject, target, outcome].filter { !$0.isEmpty }.joined(separator: " ") + (note.isEmpty ? "" : ": \(note)")
    }

    /// The parts that cannot identify a person.
    var impersonalText: String { "\(subject) \(outcome)" }

    /// The parts that can identify a person; empty if there are none.
    var personalText: String { target + (note.isEmpty ? "" : ": \(note)") }

    /// The line in colors for a terminal (ECMA-48, section 8.3.117): the outcome by its level, the note faint.
    var colored: String {
        let color =
            switch level {
            case .debug: "2"
            case .info: "32"
            case .notice: "33"
            case .error: "31"
            }
        func painted(_ text: String, _ code: String) -> String { "\u{1B}[\(code)m\(text)\u{1B}[0m" }
        let head = [subject, target].filter { !$0.isEmpty }.joined(separator: " ")
        return "\(head) \(painted(outcome, color))" + (note.isEmpty ? "" : painted(": \(note)", "2"))
    }
}

extension LogLine {
    /// `0.4 ms`, `132 ms`, `1.2 s`.
    static func text(of duration: Duration) -> String {
        let milliseconds = max(duration.inSeconds * 1000, 0)
        if milliseconds < 10 { return "\(tenths(milliseconds)) ms" }
        if milliseconds < 1000 { return "\(Int(milliseconds)) ms" }
        return "\(tenths(milliseconds / 1000)) s"
    }

    /// `312 B`, `4.1 kB`, `12 MB`.
    static func text(ofBytes count: Int) -> String {
        guard count >= 1000 else { return "\(count) B" }
        var (value, unit) = (Double(count) / 1000, 0)
        while value >= 1000, unit < 3 { (value, unit) = (value / 1000, unit + 1) }
        return tenths(value) + " " + ["kB", "MB", "GB", "TB"][unit]
    }

    private static func tenths(_ value: Double) -> String {
        value < 10 ? ((value * 10).rounded(.down) / 10).shortText : value.rounded(.down).shortText
    }
}

extension TransferMetrics {
    /// `first byte 120 ms, received in 4.2 ms, h2, reused connection`.
    var logText: String {
        let steps = [
            ("lookup", nameLookup), ("connect", connecting), ("TLS", tls), ("first byte", firstByte),
            ("received in", receiving),
        ]
        var parts = steps.compactMap { name, time in time.map { "\(name) \(LogLine.text(of: $0))" } }
        if let protocolName { parts.append(protocolName) }
        if let isReused { parts.append(isReused ? "reused connection" : "new connection") }
        return parts.joined(separator: ", ")
    }
}
