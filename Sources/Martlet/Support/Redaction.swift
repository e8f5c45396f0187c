/// Masks secrets in texts that people may see.
///
/// It needs no list of tokens. It masks the value after a name that announces a secret (`"password": "…"`,
/// `Authorization: Bearer …`), and every unbroken run of characters that looks like a token.
enum Redaction {
    static let mask = "<redacted>"

    /// The text with secrets masked.
    static func redact(_ text: String) -> String {
        var scanner = Scanner(text, masksRuns: true)
        return scanner.redacted()
    }

    /// Redacts the reason of a failure. The rest of a URL or a path around a token stays readable, as do its ids.
    static func redactReason(_ reason: String) -> String {
        var scanner = Scanner(reason, masksRuns: true, keepsPaths: true)
        return scanner.redacted()
    }

    /// Redacts the value of a header field with a harmless name. Ids and validators are shown, although they look like
    /// tokens; JWTs, the values of secret names and tokens in the path of a URL are masked.
    static func redactFieldValue(_ value: String) -> String {
        let isURL = value.hasPrefix("/") || value.hasPrefix("https://") || value.hasPrefix("http://")
        var scanner = Scanner(isURL ? redactURL(value) : value, masksRuns: false, keepsPaths: true)
        return scanner.redacted()
    }

    /// Whether the name of a header field announces a secret.
    static func isSensitive(headerName: String) -> Bool {
        let name = headerName.lowercased()
        return namesSecret(name) || name.hasSuffix("-key") || name.hasPrefix("x-auth") || name.contains("secret")
            || name.contains("signature")
    }

    /// Whether a name announces a secret: `password`, `new_password`, `accessToken`, `X-Api-Key`.
    static func namesSecret(_ name: String) -> Bool {
        // A path that ends in `/token` is followed by a status or a reason, not by a token.
        guard !name.contains("/") else { return false }
        let letters = letters(of: name)
        return letters.contains("password") || letters.contains("passwd") || letters.contains("passphrase")
            || secretNames.contains(letters) || secretNameSuffixes.contains { letters.hasSuffix($0) }
    }

    fileprivate static let secretNames: Set<String> = ["bearer", "dpop", "pin", "pass"]

    fileprivate static let secretNameSuffixes = [
        "authorization", "cookie", "secret", "secretkey", "privatekey", "accesskey", "apikey", "token", "otp", "pwd",
        "passcode",
    ]

    /// The schemes of an `Authorization` field, which are not secret.
    fileprivate static let schemes: Set<String> = ["bearer", "basic", "dpop", "digest"]

    fileprivate static func letters(of name: String) -> String {
        name.lowercased().filter { $0.isLetter || $0.isNumber }
    }
}

/// Reads a text once, from start to end, and copies it with each secret replaced by the mask.
private struct Scanner {
    private let characters: [Character]
    /// Whether runs of characters that look like tokens are masked.
    private let masksRuns: Bool
    /// Whether of a path only the segments that look like tokens are masked.
    private let keepsPaths: Bool
    private var index = 0
    private var result = ""

    init(_ text: String, masksRuns: Bool, keepsPaths: Bool = false) {
        characters = Array(text)
        self.masksRuns = masksRuns
        self.keepsPaths = keepsPaths
    }

    mutating func redacted() -> String {
        while index < characters.count {
            let start = index
            let run = takeRun()
            if run.isEmpty {
                takeOther()
            } else if keepsPaths, run.hasPrefix("/") {
                result += Redaction.redactPath(run[...])
            } else if looksSecret(run) {
                result += Redaction.mask
            } else {
                result += run
                if Redaction.schemes.contains(run.lowercased()), index < characters.count, characters[index] == " " {
                    maskCredentials()
                } else if Redaction.namesSecret(run) {
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

    /// Consumes one character, or the start of a URL's authority, masking the user name and password.
    private mutating func takeOther() {
        guard characters[index...].starts(with: "://") else {
            result.append(characters[index])
            index += 1
            return
        }
        result += "://"
        index += 3
        let end = characters[index...].firstIndex { $0.isWhitespace || "/?#\"'<>".contains($0) } ?? characters.count
        if let at = characters[index..<end].lastIndex(of: "@") {
            result += Redaction.mask
            index = at
        }
        if keepsPaths { takeHost(until: end) }
    }

    /// Consumes a host and a port, so that the path after them is read as a path.
    private mutating func takeHost(until end: Int) {
        let host = String(characters[index..<end].prefix { isTokenCharacter($0) || "@:[]".contains($0) })
        index += host.count
        // A host name is not secret, however long it is.
        result += host.hasPrefix("eyJ") || !host.contains(".") && looksSecret(host) ? Redaction.mask : host
    }

    /// Whether the name at this index is that of an XML element, with or without a prefix (`<wsse:Password`).
    private func isTag(at start: Int) -> Bool {
        guard start > 0, characters[start - 1] == ":" else { return start > 0 && characters[start - 1] == "<" }
        let prefix = characters[..<(start - 1)].lastIndex { !isTokenCharacter($0) }
        return prefix.map { characters[$0] == "<" && $0 < start - 2 } ?? false
    }

    /// Consumes the attributes of an XML element, and redacts each of them.
    private mutating func takeAttributes() {
        guard index < characters.count, characters[index].isWhitespace,
            let end = characters[index...].firstIndex(where: { "<>".contains($0) }), characters[end] == ">"
        else { return }
        var attributes = Scanner(String(characters[index..<end]), masksRuns: masksRuns)
        result += attributes.redacted()
        index = end
    }

    /// Masks the value after a secret name: `": "value"`, `=value`, `: Bearer value`, `>value<`, `: ["value"]`.
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
                // The opening quote of the value: the next quote ends it, even if the value is empty.
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
        // The values in an object have names of their own, unless the secret name is that of the object itself.
        if !isQuoted, "{[".contains(characters[start]) {
            guard characters[start] == "[" || !Redaction.letters(of: name).hasSuffix("token") else { return }
            end = endOfStructure(from: start)
        }
        let value = String(characters[index..<end])
        guard !["", "null", "true", "false", "[]", "{}", Redaction.mask].contains(value) else { return }
        result += Redaction.mask
        index = end
    }

    /// Masks what follows the name of a scheme, unless it is prose or a challenge.
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

    /// The index after the bracket that closes the one at `start`, or the end of the text.
    private func endOfStructure(from start: Int) -> Int {
        var (depth, isInText, end) = (0, false, start)
        while end < characters.count {
            switch characters[end] {
            case "\\" where isInText: end += 1
            case "\"": isInText.toggle()
            case "[" where !isInText, "{" where !isInText: depth += 1
            case "]" where !isInText, "}" where !isInText: depth -= 1
            default: break
            }
            end += 1
            if depth == 0 { break }
        }
        return min(end, characters.count)
    }

    private func endOfWord(from start: Int) -> Int {
        characters[start...].firstIndex { $0.isWhitespace || ",;&}])\"'<".contains($0) } ?? characters.count
    }

    /// The end of a `Cookie` value: it contains several pairs, and any of them may be the session.
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

    /// The end of an `Authorization` value. It has two words, and an unknown scheme is masked with the credentials.
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

    /// Whether a word looks like Base64 and not like prose: it has digits, capitals in the middle or padding at the
    /// end.
    private func looksRandom(_ word: String) -> Bool {
        word.contains(where: \.isNumber) || word.hasSuffix("=")
            || (word.dropFirst().contains(where: \.isUppercase) && word.contains(where: \.isLowercase))
    }

    private func looksSecret(_ run: String) -> Bool {
        if run.hasPrefix("eyJ"), run.count >= 12 { return true }
        guard masksRuns, run.count >= 20 else { return false }
        // The slashes of a path divide it into short pieces, and a word of 20 letters has no digits.
        return run.split(separator: "/").contains { piece in
            piece.count >= 20 && piece.contains(where: \.isNumber) && piece.contains(where: \.isLetter)
        }
    }
}
