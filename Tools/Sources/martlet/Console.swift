internal import Foundation

/// Where the command writes: sentences for a person, with colours where there is a terminal to show them.
struct Console: Sendable {
    /// What a text is, and with that how it looks.
    enum Style: String, Sendable {
        case title = "1"
        case good = "32"
        case bad = "1;31"
        case note = "2"
        case accent = "36"
    }

    private let hasColour: Bool

    /// A console on standard output.
    /// - Parameter allowsColour: Whether colours are used where the terminal has them and `NO_COLOR` is not set.
    init(allowsColour: Bool) {
        let environment = ProcessInfo.processInfo.environment
        let isRefused = !(environment["NO_COLOR"] ?? "").isEmpty || environment["TERM"] == "dumb"
        hasColour = allowsColour && !isRefused && isatty(STDOUT_FILENO) == 1
    }

    /// The text as the terminal is told to show it.
    func paint(_ text: String, _ style: Style) -> String {
        hasColour ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// Writes a line at once, also into a pipe.
    func line(_ text: String = "") {
        // Whoever reads may have seen enough and gone: `martlet demo | head`.
        try? FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8))
    }
}
