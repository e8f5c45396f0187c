#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Redaction of the parts of a request. Percent-encoded text is examined in its decoded form.
extension Redaction {
    /// Redacts an absolute URL, one without a scheme, or a path with its query.
    package static func redactURL(_ url: String) -> String {
        var steps = 0
        return redactURL(url, steps: &steps)
    }

    static func redactURL(_ url: String, steps: inout Int) -> String {
        guard let start = startOfAuthority(in: url) else { return redactTarget(url, steps: &steps) }
        let rest = url[start...]
        let end = rest.utf8.firstIndex { "/?#".utf8.contains($0) } ?? rest.endIndex
        return url[..<start] + redactAuthority(String(rest[..<end]))
            + redactTarget(String(rest[end...]), steps: &steps)
    }

    /// The index after `://`, or after `//` at the start; `nil` in a path.
    private static func startOfAuthority(in url: String) -> String.Index? {
        if url.utf8.starts(with: "//".utf8) { return url.utf8.index(url.startIndex, offsetBy: 2) }
        // Search bytes: a mark with an accent is another `Character`, and finding the bounds of characters may take
        // quadratic time.
        guard let scheme = url.utf8.firstRange(of: "://".utf8),
            !url.utf8[..<scheme.lowerBound].contains(where: { "/?#".utf8.contains($0) })
        else { return nil }
        return scheme.upperBound
    }

    /// Masks the user name and password before a host.
    static func redactAuthority(_ authority: String) -> String {
        authority.utf8.lastIndex(of: UInt8(ascii: "@")).map { mask + authority[$0...] } ?? authority
    }

    /// Redacts a path with its query and its fragment.
    static func redactTarget(_ target: String) -> String {
        var steps = 0
        return redactTarget(target, steps: &steps)
    }

    static func redactTarget(_ target: String, steps: inout Int) -> String {
        guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "#")) else {
            return redactPathAndQuery(target, steps: &steps)
        }
        // A fragment is a path in an app in the browser, or the form of an OAuth response.
        let fragment = target[mark...].dropFirst()
        let redacted =
            fragment.hasPrefix("/") || fragment.hasPrefix("!/")
            ? redactPathAndQuery(String(fragment), steps: &steps) : redactForm(fragment, steps: &steps)
        return redactPathAndQuery(String(target[..<mark]), steps: &steps) + "#" + redacted
    }

    private static func redactPathAndQuery(_ target: String, steps: inout Int) -> String {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = parts.first.map { redactPath($0, steps: &steps) } ?? ""
        return parts.count == 2 ? path + "?" + redactForm(parts[1], steps: &steps) : path
    }

    /// Redacts a path segment by segment, so that `/articles/7/comments` around a token stays readable.
    static func redactPath(_ path: Substring) -> String {
        var steps = 0
        return redactPath(path, steps: &steps)
    }

    static func redactPath(_ path: Substring, steps: inout Int) -> String {
        path.split(separator: "/", omittingEmptySubsequences: false).map { segment in
            if isShortWord(segment) { return String(segment) }
            let text = PercentEncoding.decode(String(segment))
            // An encoded slash, as in `group%2Fproject`.
            let isOrdinary =
                text.split(separator: "/").allSatisfy { isSlug(String($0)) } || isFileName(text)
                || isUUID(text)
            return isOrdinary || redact(text, steps: &steps) == text && !isBase64(text, steps: &steps)
                ? String(segment) : mask
        }.joined(separator: "/")
    }

    /// Redacts the names and values of a query or a form.
    static func redactForm(_ form: Substring) -> String {
        var steps = 0
        return redactForm(form, steps: &steps)
    }

    static func redactForm(_ form: Substring, steps: inout Int) -> String {
        let items = form.split(separator: "&", omittingEmptySubsequences: false)
        // The name of a value may be an item of its own, before or after it.
        let masksValues = items.contains { namesSecret($0, steps: &steps) }
        return items.map { item in
            let pair = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            // A token that ends in an equals sign looks like a name.
            let name = isSecret(pair[0], named: "", steps: &steps) ? mask : String(pair[0])
            guard pair.count == 2 else { return name }
            let isMasked =
                masksValues && !pair[1].isEmpty && SecretScanner.isValueName(member(of: pair[0]))
                || isSecret(pair[1], named: decodedName(pair[0]), steps: &steps)
            return "\(name)=\(isMasked ? mask : String(pair[1]))"
        }.joined(separator: "&")
    }

    /// Whether an item of a form names a secret that another item contains, as in `name=password&value=…`.
    private static func namesSecret(_ item: Substring, steps: inout Int) -> Bool {
        guard let mark = item.utf8.firstIndex(of: UInt8(ascii: "=")) else { return false }
        steps += item.utf8.count
        guard SecretScanner.keyNames.contains(member(of: item[..<mark])) else { return false }
        // Several words are prose.
        let words = decodedName(item[mark...].dropFirst()).split(whereSeparator: \.isWhitespace)
        return words.count == 1 && kind(named: String(words[0])) != nil
    }

    /// The letters of the last part of a name: `value` in `items[0][value]`.
    private static func member(of encoded: Substring) -> [UInt8] {
        let parts = decodedName(encoded).utf8.split { "[].".utf8.contains($0) }
        var letters = NameLetters()
        for byte in parts.last ?? Substring().utf8[...] { letters.append(byte) }
        return letters.all
    }

    /// The redacted start of a body on one line, or its size if it is not text.
    static func excerpt(of body: Data, limit: Int = 300) -> String {
        guard !body.isEmpty else { return "" }
        // Redact more than the excerpt shows, so that a token that is cut at the end is still recognized.
        let start = body.prefix(limit + 4096)
        // In UTF-16, zeros between the letters would hide the names of secrets.
        guard let text = String(wholeCharactersOf: start, isCut: start.count < body.count), !text.utf8.contains(0)
        else {
            return "\(body.count) bytes that are not text"
        }
        // Redact before the lines are joined, because a line break may end a secret.
        let redacted = redact(text).split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return redacted.count <= limit ? redacted : redacted.prefix(limit) + "…"
    }

    /// Redacts a body; `nil` if it is not text that can be shown.
    static func redactBody(_ body: Data, contentType: String?) -> String? {
        guard let text = String(data: body, encoding: .utf8), text.unicodeScalars.allSatisfy(isShown) else {
            return nil
        }
        let type = contentType?.lowercased() ?? ""
        // The header of a part names the value, and may be several lines above it.
        if type.hasPrefix("multipart/") { return nil }
        // JSON and XML are sometimes sent with the type of a form, which curl adds by itself.
        let isForm = !"{[<".utf8.contains(text.utf8.first { !$0.isBlank } ?? 0)
        if isForm, type.hasPrefix("application/x-www-form-urlencoded") { return redactForm(text[...]) }
        return redact(text)
    }

    private static func isSecret(_ encoded: Substring, named name: String, steps: inout Int) -> Bool {
        guard !encoded.isEmpty else { return false }
        if let kind = kind(named: name), !(kind.allowsNumber && encoded.utf8.allSatisfy(\.isDigit)) { return true }
        // A plus is a space in form encoding, and a Base64 character if the token was not encoded.
        let readings = [decoded(encoded), PercentEncoding.decode(String(encoded))]
        // A UUID in a field that is not an id may be a code, and is masked.
        if isUUID(readings[0]), name.isEmpty || name.lowercased().hasSuffix("id") { return false }
        return readings.contains { redact($0, steps: &steps) != $0 || isBase64($0, steps: &steps) }
    }

    private static func decoded(_ text: Substring) -> String {
        PercentEncoding.decode(text.replacing("+", with: " "))
    }

    /// A name that may be encoded twice.
    private static func decodedName(_ name: Substring) -> String {
        PercentEncoding.decode(decoded(name))
    }

    /// Whether a segment is too short for a token and contains no name with a value. This fast path matters, because
    /// every logged or failed call redacts its path.
    private static func isShortWord(_ segment: Substring) -> Bool {
        segment.utf8.count < 12
            && segment.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }

    /// Whether the text consists of words and numbers that hyphens separate, as in the URL of an article. In a token,
    /// one piece has both letters and digits.
    private static func isSlug(_ text: String) -> Bool {
        text.split(separator: "-").allSatisfy { piece in
            piece.allSatisfy { $0.isASCII && $0.isLowercase } || piece.count < 20 && piece.allSatisfy(\.isNumber)
        }
    }

    /// Whether the text is a file name of words and numbers with an extension, such as `IMG_20261130_112233.jpg`.
    private static func isFileName(_ text: String) -> Bool {
        guard let dot = text.utf8.lastIndex(of: UInt8(ascii: ".")) else { return false }
        let pieces = text.utf8[..<dot].split { "-_. ".utf8.contains($0) }
        let fileExtension = text.utf8[dot...].dropFirst()
        return (2...5).contains(fileExtension.count) && fileExtension.allSatisfy(\.isLetter)
            && pieces.allSatisfy { piece in
                let isNumber = piece.count < 20 && piece.allSatisfy(\.isDigit)
                let isAbbreviation = piece.count <= 8 && piece.allSatisfy(\.isCapital)
                let isWord = piece.first?.isLetter == true && piece.dropFirst().allSatisfy(\.isSmallLetter)
                return isNumber || isAbbreviation || isWord
            }
    }

    /// Whether the text is a Base64 token that its slashes, once percent-encoded, divide into pieces too short to look
    /// like tokens. The segments of an ordinary path do not mix capitals, small letters and digits.
    private static func isBase64(_ text: String, steps: inout Int) -> Bool {
        let pieces = text.split(separator: "/")
        guard pieces.count > 1, text.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+/=-_".contains($0)) }),
            pieces.contains(where: { piece in
                piece.contains(where: \.isNumber) && piece.contains(where: \.isUppercase)
                    && piece.contains(where: \.isLowercase)
            })
        else { return false }
        let joined = pieces.joined()
        return redact(joined, steps: &steps) != joined
    }

    /// A UUID is treated as an id, which is not secret and makes logs useful.
    private static func isUUID(_ text: String) -> Bool {
        text.utf8.count == 36 && UUID(uuidString: text) != nil
    }

    private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory != .control || scalar == "\n" || scalar == "\r" || scalar == "\t"
    }
}

extension String {
    /// Creates a string from UTF-8, without an incomplete character at a cut; `nil` if the bytes are not UTF-8.
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
