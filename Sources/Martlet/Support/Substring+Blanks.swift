extension Substring {
    /// The text without the spaces and tabs around it (optional whitespace, RFC 9110, section 5.6.3).
    var trimmingBlanks: String {
        var text = drop { $0 == " " || $0 == "\t" }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return String(text)
    }
}
