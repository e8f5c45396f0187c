extension String {
    /// The text with a space for each line break, and with a mark for each character that could move the cursor of a
    /// terminal, change its colors or reverse the direction of text.
    var onOneLine: String { harmless(keepingLines: false) }

    /// The same as ``onOneLine``, but with its line breaks: text of a server for a label.
    var onItsLines: String { harmless(keepingLines: true) }

    private func harmless(keepingLines: Bool) -> String {
        func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
            switch scalar.properties.generalCategory {
            case .control: keepingLines && scalar == "\n"
            case .lineSeparator, .paragraphSeparator: false
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
