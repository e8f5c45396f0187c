/// Masks secrets in texts that people may see.
///
/// It needs no list of tokens. It masks the value after a name that announces a secret (`"password": "…"`,
/// `Authorization: Bearer …`, `<Password>…</Password>`), and every unbroken run of characters that looks like a token.
///
/// ``SecretScanner`` reads the text in one pass. The names are in `Redaction+Names.swift`, URLs, forms and bodies in
/// `Redaction+Parts.swift`.
package enum Redaction {
    static let mask = "<redacted>"

    /// The text with secrets masked.
    static func redact(_ text: String) -> String {
        var steps = 0
        return redact(text, steps: &steps)
    }

    /// Redacts the reason of a failure. The rest of a URL or a path around a token stays readable, as do its ids.
    package static func redactReason(_ reason: String) -> String {
        var steps = 0
        return redact(reason, keepsPaths: true, steps: &steps)
    }

    /// Redacts the value of a header field with a harmless name. Ids and validators are shown, although they look like
    /// tokens; JWTs, the values of secret names and tokens in the path of a URL are masked.
    static func redactFieldValue(_ value: String) -> String {
        var steps = 0
        return redactFieldValue(value, steps: &steps)
    }

    static func redactFieldValue(_ value: String, steps: inout Int) -> String {
        let isURL = value.hasPrefix("/") || value.hasPrefix("https://") || value.hasPrefix("http://")
        return redact(
            isURL ? redactURL(value, steps: &steps) : value, masksRuns: false, keepsPaths: true, steps: &steps)
    }

    /// - Parameters:
    ///   - masksRuns: Whether runs of characters that look like tokens are masked.
    ///   - keepsPaths: Whether only the segments of a path that look like tokens are masked.
    ///   - decodings: The number of times that the text was percent-decoded.
    ///   - steps: Increases by the number of bytes examined, so that tests can measure the work.
    static func redact(
        _ text: String, masksRuns: Bool = true, keepsPaths: Bool = false, decodings: Int = 0, steps: inout Int
    ) -> String {
        var scanner = SecretScanner(text, masksRuns: masksRuns, keepsPaths: keepsPaths, decodings: decodings)
        let masked = scanner.masked()
        steps += scanner.steps
        return masked ?? text
    }
}
