internal import Foundation

/// Writes the command's output to standard output, with colors if the terminal supports them.
struct Console: Sendable {
    /// The role of a text, which determines its color.
    enum Style: String, Sendable {
        case title = "1"
        case good = "32"
        case bad = "1;31"
        case note = "2"
        case accent = "36"
    }

    private let hasColor: Bool

    /// A console on standard output.
    /// - Parameter allowsColor: Whether to use colors if the terminal supports them and `NO_COLOR` is not set.
    init(allowsColor: Bool) {
        let environment = ProcessInfo.processInfo.environment
        let isRefused = !(environment["NO_COLOR"] ?? "").isEmpty || environment["TERM"] == "dumb"
        hasColor = allowsColor && !isRefused && isatty(STDOUT_FILENO) == 1
    }

    /// Wraps the text in the escape sequences of a style, or returns it unchanged without color support.
    func paint(_ text: String, _ style: Style) -> String {
        hasColor ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// Writes one line without buffering, even if standard output is a pipe.
    func line(_ text: String = "") {
        // The reader may have closed the pipe: `martlet demo | head`.
        try? FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8))
    }
}
