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
        let start = body.prefix(limit + 4096)
        guard let text = String(wholeCharactersOf: start, isCut: start.count < body.count) else {
            return "\(body.count) bytes that are not text"
        }
        let redacted = redact(text.split(whereSeparator: \.isWhitespace).joined(separator: " "))
        return redacted.count <= limit ? redacted : redacted.prefix(limit) + "…"
    }

    /// The text with everything masked that could be a secret.
    static func redact(_ text: String) -> String {
        var scanner = Scanner(text, masksRuns: true)
        return scanner.redacted()
    }

    /// The value of a header field that is not sensitive by its name. Ids and validators are shown, which are as long and as
    /// random as tokens; a JWT is not, nor what a telling name introduces.
    static func redactFieldValue(_ value: String) -> String {
        var scanner = Scanner(value, masksRuns: false)
        return scanner.redacted()
    }

    /// Whether a header field's value must not be shown.
    static func isSensitive(headerName: String) -> Bool {
        let name = headerName.lowercased()
        return isTelling(name) || name.hasSuffix("-key") || name.hasPrefix("x-auth") || name.contains("secret")
            || name.contains("signature")
    }

    /// Whether what follows a name is a secret: `password`, `new_password`, `accessToken`, `X-Api-Key`.
    static func isTelling(_ name: String) -> Bool {
        // A path that ends in /token is followed by a status or a reason, not by a token.
        guard !name.contains("/") else { return false }
        let letters = letters(of: name)
        return letters.contains("password") || letters.contains("passwd") || letters.contains("passphrase")
            || tellingNames.contains(letters) || tellingEnds.contains { letters.hasSuffix($0) }
    }

    fileprivate static let tellingNames: Set<String> = ["bearer", "dpop", "pin", "pass"]

    fileprivate static let tellingEnds = [
        "authorization", "cookie", "secret", "secretkey", "privatekey", "accesskey", "apikey", "token", "otp", "pwd",
        "passcode",
    ]

    /// The schemes of an `Authorization` line, which need not be hidden themselves.
    fileprivate static let schemes: Set<String> = ["bearer", "basic", "dpop", "digest"]

    fileprivate static func letters(of name: String) -> String {
        name.lowercased().filter { $0.isLetter || $0.isNumber }
    }
}

private struct Scanner {
    private let characters: [Character]
    /// Whether long runs of characters are masked for their looks alone.
    private let masksRuns: Bool
    private var index = 0
    private var result = ""

    init(_ text: String, masksRuns: Bool) {
        characters = Array(text)
        self.masksRuns = masksRuns
    }

    mutating func redacted() -> String {
        while index < characters.count {
            let start = index
            let run = takeRun()
            if run.isEmpty {
                takeOther()
            } else if looksSecret(run) {
                result += Redaction.mask
            } else {
                result += run
                if Redaction.schemes.contains(run.lowercased()), index < characters.count, characters[index] == " " {
                    maskCredentials()
                } else if Redaction.isTelling(run) {
                    maskValue(after: run, inTag: isTag(at: start))
                }
            }
        }
        return result
    }

    private mutating func takeRun() -> String {
        let start = index
        while index < characters.count, isTokenCharacter(characters[index]) { index += 1 }
        return String(characters[start..<index])
    }

    /// Takes one character, or the start of a URL's authority with the user name and password masked.
    private mutating func takeOther() {
        guard characters[index...].starts(with: "://") else {
            result.append(characters[index])
            index += 1
            return
        }
        result += "://"
        index += 3
        let end = characters[index...].firstIndex { $0.isWhitespace || "/?#\"'<>".contains($0) } ?? characters.count
        guard let at = characters[index..<end].lastIndex(of: "@") else { return }
        result += Redaction.mask
        index = at
    }

    /// Whether the name that starts there is that of an XML element, with or without a prefix (`<wsse:Password`).
    private func isTag(at start: Int) -> Bool {
        guard start > 0, characters[start - 1] == ":" else { return start > 0 && characters[start - 1] == "<" }
        let prefix = characters[..<(start - 1)].lastIndex { !isTokenCharacter($0) }
        return prefix.map { characters[$0] == "<" && $0 < start - 2 } ?? false
    }

    /// Takes the attributes of an XML element, each judged by itself.
    private mutating func takeAttributes() {
        guard index < characters.count, characters[index].isWhitespace,
            let end = characters[index...].firstIndex(where: { "<>".contains($0) }), characters[end] == ">"
        else { return }
        var attributes = Scanner(String(characters[index..<end]), masksRuns: masksRuns)
        result += attributes.redacted()
        index = end
    }

    /// Masks what a telling name introduces: `": "value"`, `=value`, `: Bearer value`, `>value<`, `: ["value"]`.
    private mutating func maskValue(after name: String, inTag: Bool) {
        if inTag { takeAttributes() }
        var start = index
        var sawSeparator = false
        if inTag, start < characters.count, characters[start] == ">" {
            sawSeparator = true
            start += 1
        } else {
            while start < characters.count, ":= \"'\\".contains(characters[start]) {
                if ":=".contains(characters[start]) { sawSeparator = true }
                start += 1
                // The value's own quote: the next one ends it, even if nothing stands between.
                if sawSeparator, "\"'".contains(characters[start - 1]) { break }
            }
        }
        guard sawSeparator, start < characters.count else { return }
        result += String(characters[index..<start])
        index = start
        let opening = characters[start - 1]
        let isQuoted = opening == "\"" || opening == "'"
        var end = start
        if isQuoted {
            while end < characters.count, characters[end] != opening { end += characters[end] == "\\" ? 2 : 1 }
            end = min(end, characters.count)
        } else {
            let letters = Redaction.letters(of: name)
            end = letters.hasSuffix("cookie") ? endOfCookies(from: start) : endOfWord(from: start)
            if letters.hasSuffix("authorization") { end = endOfAuthorization(from: end) }
        }
        // What is within an object has names of its own, but for those that say what is secret about it.
        if !isQuoted, "{[".contains(characters[start]) {
            guard characters[start] == "[" || !Redaction.letters(of: name).hasSuffix("token") else { return }
            end = endOfStructure(from: start)
        }
        let value = String(characters[index..<end])
        guard !["", "null", "true", "false", "[]", "{}", Redaction.mask].contains(value) else { return }
        result += Redaction.mask
        index = end
    }

    /// Masks what follows the name of a scheme, unless it is a word of a sentence, or a challenge.
    private mutating func maskCredentials() {
        let start = characters[index...].firstIndex { $0 != " " } ?? characters.count
        let end = endOfWord(from: start)
        guard start > index, end > start else { return }
        let word = String(characters[start..<end])
        let isProse = word.count < 16 && !looksRandom(word)
        let isChallenge = ["realm=", "error=", "error_description=", "scope=", "charset=", "algs="]
            .contains { word.hasPrefix($0) }
        guard !isProse, !isChallenge else { return }
        result += String(characters[index..<start]) + Redaction.mask
        index = end
    }

    /// The place after the bracket that closes the one at the start, or the end of the text.
    private func endOfStructure(from start: Int) -> Int {
        var (depth, isInText, place) = (0, false, start)
        while place < characters.count {
            switch characters[place] {
            case "\\" where isInText: place += 1
            case "\"": isInText.toggle()
            case "[" where !isInText, "{" where !isInText: depth += 1
            case "]" where !isInText, "}" where !isInText: depth -= 1
            default: break
            }
            place += 1
            if depth == 0 { break }
        }
        return min(place, characters.count)
    }

    private func endOfWord(from start: Int) -> Int {
        characters[start...].firstIndex { $0.isWhitespace || ",;&}])\"'<".contains($0) } ?? characters.count
    }

    /// A `Cookie` line has pairs after its first one, and any of them may be the session.
    private func endOfCookies(from start: Int) -> Int {
        var end = start
        while end < characters.count {
            let character = characters[end]
            if character == ";", characters[end...].starts(with: "; ") {
                end += 2
            } else if character == "\"", characters[end - 1] == "=",
                let closing = characters[(end + 1)...].firstIndex(of: "\"")
            {
                end = closing + 1
            } else if character.isWhitespace || ";\"'<".contains(character) {
                break
            } else {
                end += 1
            }
        }
        return end
    }

    /// `Authorization` has two words, and the first need not be a scheme that is known here: masking both is safe. The
    /// known ones are shown.
    private mutating func endOfAuthorization(from end: Int) -> Int {
        guard end + 1 < characters.count, characters[end] == " " else { return end }
        let scheme = String(characters[index..<end])
        if Redaction.schemes.contains(scheme.lowercased()) {
            result += scheme + " "
            index = end + 1
        }
        return endOfWord(from: end + 1)
    }

    private func isTokenCharacter(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || "-_.~+/%".contains(character))
    }

    /// Digits, or capitals in the middle of a word: Base64 has them, sentences have not.
    private func looksRandom(_ word: String) -> Bool {
        word.contains(where: \.isNumber) || word.hasSuffix("=")
            || (word.dropFirst().contains(where: \.isUppercase) && word.contains(where: \.isLowercase))
    }

    private func looksSecret(_ run: String) -> Bool {
        if run.hasPrefix("eyJ"), run.count >= 12 { return true }
        guard masksRuns, run.count >= 20 else { return false }
        // Paths and sentences have their long runs broken by slashes; words that long have no digits.
        return run.split(separator: "/").contains { piece in
            piece.count >= 20 && piece.contains(where: \.isNumber) && piece.contains(where: \.isLetter)
        }
    }
}

extension String {
    /// The text of some bytes, or `nil` where they are not UTF-8; a character that a cut split is left out.
    fileprivate init?(wholeCharactersOf bytes: Data, isCut: Bool) {
        for missing in 0..<(isCut ? 4 : 1) {
            if let text = String(data: bytes.dropLast(missing), encoding: .utf8) {
                self = text
                return
            }
        }
        return nil
    }
}
