/// Names that announce a secret.
extension Redaction {
    /// The kind of secret that a name announces, which decides how far its value reaches.
    enum SecretKind {
        /// The credentials of an `Authorization` field: a scheme and what follows it.
        case authorization
        /// One or more pairs of a name and a value.
        case cookie
        /// A token. An object with this name has names of its own inside.
        case token
        case other
    }

    /// The parts of a name that decide whether it announces a secret.
    struct NameLetters {
        /// The letters, in lowercase, and digits of the name.
        var all: [UInt8] = []
        /// The index of the first letter after the last separator.
        var lastWord = 0
        /// The index of the first letter after the last dot, as in `user.pin`.
        var lastMember = 0
    }

    /// Whether the name of a header field announces a secret, such as a password, a token or the id of a session.
    static func isSensitive(headerName: String) -> Bool {
        let name = headerName.lowercased()
        return namesSecret(name) || name.hasSuffix("-key") || name.hasPrefix("x-auth") || name.contains("secret")
            || name.contains("signature") || namesSession(name)
    }

    /// Whether a name announces a secret: `password`, `new_password`, `accessToken`, `X-Api-Key`, `session_id`.
    static func namesSecret(_ name: String) -> Bool {
        // A path that ends in `/token` is followed by a status or a reason, not by a token.
        guard !name.utf8.contains(UInt8(ascii: "/")) else { return false }
        var letters = NameLetters()
        for byte in name.utf8 { letters.append(byte) }
        return kind(of: letters) != nil
    }

    /// The kind of secret that a name announces; `nil` for a harmless name.
    static func kind(of name: NameLetters) -> SecretKind? {
        let letters = name.all[...]
        guard letters.count >= 3, let last = letters.last else { return nil }
        let isNumbered = last.isDigit
        let stem = isNumbered ? letters[..<((letters.lastIndex { !$0.isDigit } ?? -1) + 1)] : letters
        if let end = stem.last,
            let suffix = secretSuffixes[end]?.first(where: { stem.suffix($0.letters.count).elementsEqual($0.letters) })
        {
            return suffix.kind
        }
        if secretNames.contains(where: { letters.elementsEqual($0) || letters[name.lastMember...].elementsEqual($0) })
            || letters[name.lastWord...].elementsEqual(sessionAbbreviation)
            || secretStems.contains(where: { letters.contains(run: $0) })
        {
            return .other
        }
        return nil
    }

    /// The schemes of an `Authorization` field, which are not secret.
    static let schemes = ["bearer", "basic", "dpop", "digest"].map { Array($0.utf8) }

    /// Whether a header field, such as `X-Session`, holds the session itself and not, say, its age.
    private static func namesSession(_ name: String) -> Bool {
        let words = name.split { !$0.isLetter && !$0.isNumber }
        guard let last = words.last else { return false }
        if last == "session" { return true }
        return name.hasPrefix("x-session") && !harmlessSessionWords.contains(String(last))
    }

    /// The ends of names that announce a secret, by their last letter.
    private static let secretSuffixes: [UInt8: [(letters: [UInt8], kind: SecretKind)]] = {
        let names: [(String, SecretKind)] = [
            ("authorization", .authorization), ("cookie", .cookie), ("token", .token), ("secret", .other),
            ("secretkey", .other), ("privatekey", .other), ("accesskey", .other), ("apikey", .other), ("otp", .other),
            ("pwd", .other), ("passcode", .other), ("sessionid", .other), ("sessid", .other), ("sessionkey", .other),
        ]
        return Dictionary(grouping: names.map { (Array($0.utf8), $1) }) { $0.0.last ?? 0 }
    }()

    /// Complete names: as parts of longer ones they would be found in ordinary words.
    private static let secretNames = ["bearer", "dpop", "pin", "pass"].map { Array($0.utf8) }

    /// Parts of names that announce a secret anywhere in a name.
    private static let secretStems = ["password", "passwd", "passphrase", "csrf", "xsrf"].map { Array($0.utf8) }

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
            lastWord = all.count
            if byte == UInt8(ascii: ".") { lastMember = all.count }
        }
    }

    mutating func removeAll() {
        all.removeAll(keepingCapacity: true)
        (lastWord, lastMember) = (0, 0)
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
    /// The byte, as a small letter if it is a capital one.
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
