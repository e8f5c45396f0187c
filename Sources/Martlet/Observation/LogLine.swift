/// One line about a call or a session, for a log, with every secret masked.
///
/// Its parts are apart because logs treat them differently: what a person could be known by is in ``target`` and ``note``
/// alone. ``description`` is all of it:
///
/// ```
/// GET /articles?page=2 200, 132 ms, 4.1 kB
/// GET /me 200, 30 ms, 120 B, attempt 2 after a 401, with a renewed token
/// GET /feed failed after 3 ms: the connection broke (reset by peer). Try again.
/// session 1A2B3C4D/4 has a new token
/// ```
///
/// It is always one line, and has no control characters, whatever a server has put into its words.
public struct LogLine: Sendable, Hashable {
    /// How much it matters.
    public enum Level: Int, Sendable, Hashable, Comparable, CaseIterable {
        /// Only of interest to whoever looks for a fault in Martlet: a caller waits for a refresh.
        case debug
        /// Things go well: an attempt with a good answer, a new token.
        case info
        /// Things go wrong as they do, and may be put right by another attempt: a 401, a 404, a lost connection.
        case notice
        /// Things went wrong: a 500, a call that was given up, a session that the server has ended.
        case error

        /// By how much they matter.
        public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    /// How much it matters.
    public let level: Level
    /// The method of a call; `session` for what happens to a session.
    public let subject: String
    /// Path and query of a call. They may name a person.
    public let target: String
    /// What came of it, in Martlet's own words.
    public let outcome: String
    /// What others have to say on it: why it failed, where it was sent on to. It may name a person.
    public let note: String

    init(_ level: Level, _ subject: String, _ target: String, _ outcome: String, note: String = "") {
        self.level = level
        self.subject = subject
        self.target = target.onOneLine
        self.outcome = outcome
        self.note = Redaction.redact(note).onOneLine
    }
}

extension LogLine: CustomStringConvertible {
    /// The line, without a line end.
    public var description: String {
        [subject, target, outcome].filter { !$0.isEmpty }.joined(separator: " ") + (note.isEmpty ? "" : ": \(note)")
    }

    /// What may be shown to everybody.
    var openText: String { "\(subject) \(outcome)" }

    /// What a person could be known by; empty where there is nothing of the kind.
    var personalText: String { target + (note.isEmpty ? "" : ": \(note)") }

    /// The line in colours for a terminal (ECMA-48, section 8.3.117): the outcome by its level, the note faint.
    var coloured: String {
        let colour =
            switch level {
            case .debug: "2"
            case .info: "32"
            case .notice: "33"
            case .error: "31"
            }
        func painted(_ text: String, _ code: String) -> String { "\u{1B}[\(code)m\(text)\u{1B}[0m" }
        let head = [subject, target].filter { !$0.isEmpty }.joined(separator: " ")
        return "\(head) \(painted(outcome, colour))" + (note.isEmpty ? "" : painted(": \(note)", "2"))
    }
}

extension String {
    /// The text with a space for each line break, and with a mark for what would move a terminal's cursor, change its
    /// colours, or let text run the other way.
    fileprivate var onOneLine: String {
        func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: false
            case .format: !scalar.properties.isBidiControl
            default: true
            }
        }
        guard !unicodeScalars.allSatisfy(isHarmless) else { return self }
        var text = ""
        for scalar in unicodeScalars {
            text.unicodeScalars.append(
                isHarmless(scalar) ? scalar : scalar.properties.isWhitespace ? " " : "\u{FFFD}")
        }
        return text
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
