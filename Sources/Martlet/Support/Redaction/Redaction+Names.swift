/// Names that announce a secret.
extension Redaction {
    /// The kind of secret that a name announces, which decides how far its value reaches.
    enum SecretKind {
        /// The credentials of an `Authorization` field, after their scheme.
        case authorization
        /// One or more pairs of a name and a value.
        case cookie
        /// A token.
        case token
        /// A session, or its id. In prose, `session:` is followed by text.
        case session
        /// Several tokens, or their number.
        case tokens
        /// The name `tokens` alone: tokens, their number, or the words of prose.
        case words
        /// Several secrets, or their number.
        case several
        /// A member of a token's object with a name that is not known to be harmless.
        case member
        case other

        /// Whether an object with this name is searched for further names.
        var isObject: Bool {
            switch self {
            case .token, .session, .tokens, .words, .member: true
            default: false
            }
        }

        /// Whether a number after the name counts secrets or seconds, and is not a secret itself.
        var allowsNumber: Bool {
            switch self {
            case .tokens, .words, .several, .member: true
            default: false
            }
        }
    }

    /// The parts of a name that decide whether it announces a secret.
    struct NameLetters {
        /// The letters, in lowercase, and digits of the name.
        var all: [UInt8] = []
        /// The number of letters before the first separator.
        var firstWord: Int?
        /// The index of the first letter after the last separator.
        var lastWord = 0
        /// The last separator.
        var separator: UInt8?
    }

    /// Whether the name of a header field announces a secret, such as a password, a token or the id of a session.
    ///
    /// The same names count in texts, because a server may print its header fields.
    package static func isSensitive(headerName: String) -> Bool {
        switch kind(named: headerName) {
        // As in `X-RateLimit-Remaining-Tokens`.
        case nil: headerName.lowercased() == "auth"
        case .tokens, .words: false
        default: true
        }
    }

    /// The kind of secret that a name announces: `password`, `accessToken`, `X-Api-Key`, `user[pin][]`, `vault/secret`.
    static func kind(named name: String) -> SecretKind? {
        let name = name.utf8.split(separator: UInt8(ascii: "/")).last ?? Substring(name).utf8[...]
        for part in name.split(whereSeparator: { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "]") }) {
            var letters = NameLetters()
            for byte in part { letters.append(byte) }
            if let kind = kind(of: letters) { return kind }
        }
        return nil
    }

    /// The kind of secret that a name announces; `nil` for a harmless name.
    static func kind(of name: NameLetters) -> SecretKind? {
        let letters = name.all[...]
        guard letters.count >= 3 || letters.elementsEqual(shortestName), let last = letters.last else { return nil }
        let isNumbered = last.isDigit
        let stem = isNumbered ? letters[..<((letters.lastIndex { !$0.isDigit } ?? -1) + 1)] : letters
        if let kind = kind(ofSuffix: stem) { return kind }
        if stem.last == UInt8(ascii: "s"), let kind = kind(ofSuffix: stem.dropLast()) {
            if kind != .token { return .several }
            return letters.count == 6 ? .words : .tokens
        }
        let lastWord = stem[min(name.lastWord, stem.endIndex)...]
        if secretNames.contains(where: { stem.elementsEqual($0) || lastWord.elementsEqual($0) })
            || letters[name.lastWord...].elementsEqual(sessionAbbreviation)
            || secretStems.contains(where: { letters.contains(run: $0) })
        {
            return .other
        }
        return kind(ofField: name)
    }

    /// The kind of secret that two words announce, as in `API Key` and `Session ID`.
    static func kind(ofTwoWords name: NameLetters) -> SecretKind? {
        let letters = name.all[...]
        return kind(ofSuffix: letters.last == UInt8(ascii: "s") ? letters.dropLast() : letters)
    }

    /// The last words of names that consist of two.
    static let lastWords = ["key", "keys", "id", "code", "verifier"].map { Array($0.utf8) }

    /// The number of letters of `Verification`, the longest first word of names that consist of two.
    static let longestFirstWord = 12

    private static func kind(ofSuffix letters: ArraySlice<UInt8>) -> SecretKind? {
        guard let end = letters.last, let suffixes = secretSuffixes[end] else { return nil }
        return suffixes.first { letters.suffix($0.letters.count).elementsEqual($0.letters) }?.kind
    }

    /// The kind of secret that the words of a name announce, as in the names of header fields: `X-Session`, `Foo-Key`.
    private static func kind(ofField name: NameLetters) -> SecretKind? {
        let last = name.all[name.lastWord...]
        if last.elementsEqual(session) { return name.lastWord == 0 ? .session : .token }
        if name.separator == UInt8(ascii: "-"), last.elementsEqual(key) { return .other }
        guard name.firstWord == 1, name.all.first == UInt8(ascii: "x") else { return nil }
        let rest = name.all[1...]
        if rest.starts(with: authentication) { return .other }
        guard rest.starts(with: session) else { return nil }
        return harmlessSessionWords.contains(String(decoding: last, as: UTF8.self)) ? nil : .other
    }

    /// The schemes of an `Authorization` field, which are not secret.
    static let schemes = ["bearer", "basic", "dpop", "digest"].map { Array($0.utf8) }

    /// The ends of names that announce a secret, by their last letter.
    private static let secretSuffixes: [UInt8: [(letters: [UInt8], kind: SecretKind)]] = {
        let names: [(String, SecretKind)] = [
            ("authorization", .authorization), ("cookie", .cookie), ("token", .token), ("secret", .other),
            ("secretkey", .other), ("privatekey", .other), ("accesskey", .other), ("apikey", .other), ("otp", .other),
            ("pw", .other), ("pwd", .other), ("passcode", .other), ("sessionid", .other), ("sessid", .other),
            ("sessionkey", .other),
            ("pincode", .other), ("otpcode", .other), ("userpass", .other), ("codeverifier", .other),
            ("verificationcode", .other), ("recoverycode", .other), ("backupcode", .other),
            ("accesscode", .other), ("authcode", .other), ("encryptionkey", .other), ("signingkey", .other),
            ("masterkey", .other), ("newpin", .other), ("oldpin", .other), ("currentpin", .other), ("userpin", .other),
            ("cardpin", .other), ("confirmpin", .other), ("cvv", .other), ("cvc", .other), ("ssn", .other),
            ("cardnumber", .other), ("securityanswer", .other), ("smscode", .other), ("mfacode", .other),
            ("onetimecode", .other), ("devicecode", .other), ("passkey", .other),
            ("clientassertion", .other),
        ]
        return Dictionary(grouping: names.map { (Array($0.utf8), $1) }) { $0.0.last ?? 0 }
    }()

    /// Names that count only as words: as parts, they occur in other words.
    private static let secretNames = ["bearer", "dpop", "pin", "pass", "mfa", "assertion"].map {
        Array($0.utf8)
    }

    /// Parts of names that announce a secret anywhere in a name.
    private static let secretStems = [
        "password", "passwd", "passphrase", "passwort", "csrf", "xsrf", "secret", "signature",
    ].map { Array($0.utf8) }

    private static let shortestName = Array("pw".utf8)
    private static let session = Array("session".utf8)
    private static let key = Array("key".utf8)
    private static let authentication = Array("auth".utf8)
    private static let sessionAbbreviation = Array("sid".utf8)

    private static let harmlessSessionWords: Set<String> = [
        "age", "count", "counter", "created", "duration", "enabled", "expired", "expires", "expiration", "expiry",
        "length", "limit", "max", "mode", "remaining", "start", "started", "state", "status", "time", "timeout", "ttl",
        "type", "version",
    ]
}

extension Redaction.NameLetters {
    /// Adds a character of the name. Only ASCII letters and digits count.
    mutating func append(_ byte: UInt8) {
        if byte.isLetter || byte.isDigit {
            all.append(byte.lowercased)
        } else {
            if firstWord == nil { firstWord = all.count }
            lastWord = all.count
            separator = byte
        }
    }

    mutating func removeAll() {
        all.removeAll(keepingCapacity: true)
        (firstWord, lastWord, separator) = (nil, 0, nil)
    }
}

extension ArraySlice<UInt8> {
    fileprivate func contains(run letters: [UInt8]) -> Bool {
        guard count >= letters.count, let first = letters.first else { return false }
        return (startIndex...(endIndex - letters.count)).contains { start in
            self[start] == first && self[start..<(start + letters.count)].elementsEqual(letters)
        }
    }
}

extension UInt8 {
    var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }
    var isCapital: Bool { self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") }
    var isSmallLetter: Bool { self >= UInt8(ascii: "a") && self <= UInt8(ascii: "z") }
    var isLetter: Bool { isCapital || isSmallLetter }
    /// The ASCII byte in lower case.
    var lowercased: UInt8 { isCapital ? self + 32 : self }
    var isQuote: Bool { self == UInt8(ascii: "\"") || self == UInt8(ascii: "'") }
    var isLineBreak: Bool { self == UInt8(ascii: "\n") || self == UInt8(ascii: "\r") }
    /// Space, tab and line breaks.
    var isBlank: Bool { self == 32 || (9...13).contains(self) }

    /// Whether the byte may be part of a token or of a name.
    var isTokenCharacter: Bool {
        isLetter || isDigit
            || {
                switch self {
                case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "~"), UInt8(ascii: "+"),
                    UInt8(ascii: "/"), UInt8(ascii: "%"):
                    true
                default: false
                }
            }()
    }
}
