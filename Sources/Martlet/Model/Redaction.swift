#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Masks what could be a secret in texts that people see.
///
/// It goes by looks, so that it needs no list of tokens: what follows a telling name (`"password": "…"`,
/// `Authorization: Bearer …`) is masked, and so is any unbroken run of characters that looks like a token.
enum Redaction {
    static let mask = "<redacted>"

    /// The first part of a body, masked, on one line; a note of its size where it is not text.
    static func excerpt(of body: Data, limit: Int = 300) -> String {
        guard !body.isEmpty else { return "" }
        // More than is shown, so that a token cut in half at the end is still long enough to be seen as one.
        guard let text = String(wholeCharactersOf: body.prefix(limit + 4096)) else {
            return "\(body.count) bytes that are not text"
        }
        let redacted = redact(text.split(whereSeparator: \.isWhitespace).joined(separator: " "))
        return redacted.count <= limit ? redacted : redacted.prefix(limit) + "…"
    }

    /// The text with everything masked that could be a secret.
    static func redact(_ text: String) -> String {
        var scanner = Scanner(text)
        return scanner.redacted()
    }

    /// Whether a header field's value must not be shown.
    static func isSensitive(headerName: String) -> Bool {
        let name = headerName.lowercased()
        return tellingNames.contains(letters(of: name)) || name.hasSuffix("-token") || name.hasSuffix("-key")
            || name.hasPrefix("x-auth") || name.contains("secret") || name.contains("signature")
    }

    fileprivate static let schemes: Set<String> = ["bearer", "basic", "dpop", "digest"]

    fileprivate static let tellingNames: Set<String> = [
        "authorization", "proxyauthorization", "cookie", "setcookie", "password", "passwd", "secret", "clientsecret",
        "token", "accesstoken", "refreshtoken", "idtoken", "apikey", "xapikey", "bearer", "basic", "dpop",
    ]

    fileprivate static func letters(of name: String) -> String {
        name.lowercased().filter { $0.isLetter || $0.isNumber }
    }
}

private struct Scanner {
    private let characters: [Character]
    private var index = 0
    private var result = ""

    init(_ text: String) {
        characters = Array(text)
    }

    mutating func redacted() -> String {
        while index < characters.count {
            let run = takeRun()
            if run.isEmpty {
                result.append(characters[index])
                index += 1
            } else if looksSecret(run) {
                result += Redaction.mask
            } else {
                result += run
                if Redaction.tellingNames.contains(Redaction.letters(of: run)) { maskValue(after: run) }
            }
        }
        return result
    }

    private mutating func takeRun() -> String {
        let start = index
        while index < characters.count, isTokenCharacter(characters[index]) { index += 1 }
        return String(characters[start..<index])
    }

    /// Masks what a telling name introduces: `": "value"`, `=value`, `: Bearer value`, ` value` after a scheme.
    private mutating func maskValue(after name: String) {
        let isScheme = Redaction.schemes.contains(name.lowercased())
        var end = index
        var sawSeparator = isScheme
        while end < characters.count, ":= \"'\\".contains(characters[end]) {
            if ":=".contains(characters[end]) { sawSeparator = true }
            end += 1
        }
        guard sawSeparator, end > index, end < characters.count else { return }
        let quote = characters[end - 1]
        result += String(characters[index..<end])
        index = end
        if quote == "\"" || quote == "'" {
            while end < characters.count, characters[end] != quote { end += characters[end] == "\\" ? 2 : 1 }
        } else {
            while end < characters.count, !" ,;&}])\n".contains(characters[end]) { end += 1 }
        }
        end = min(end, characters.count)
        let value = String(characters[index..<end])
        if Redaction.schemes.contains(value.lowercased()) { return }
        guard !value.isEmpty, !["null", "true", "false", Redaction.mask].contains(value),
            !"{[".contains(value.first ?? "{")
        else { return }
        result += Redaction.mask
        index = end
    }

    private func isTokenCharacter(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || "-_.~+/%".contains(character))
    }

    private func looksSecret(_ run: String) -> Bool {
        if run.hasPrefix("eyJ"), run.count >= 12 { return true }
        guard run.count >= 20 else { return false }
        // Paths and sentences have their long runs broken by slashes; words that long have no digits.
        return run.split(separator: "/").contains { piece in
            piece.count >= 20 && piece.contains(where: \.isNumber) && piece.contains(where: \.isLetter)
        }
    }
}

extension String {
    /// The text of some bytes, or `nil` where they are not UTF-8; a character cut at the end is left out.
    fileprivate init?(wholeCharactersOf bytes: Data) {
        for cut in 0..<4 {
            if let text = String(data: bytes.dropLast(cut), encoding: .utf8) {
                self = text
                return
            }
        }
        return nil
    }
}
