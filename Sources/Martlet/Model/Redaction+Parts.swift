#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The parts of a request, each masked by what it is made of: what is percent-encoded is judged by what it says.
extension Redaction {
    /// An absolute URL, part by part, or a target.
    static func redactURL(_ url: String) -> String {
        guard let scheme = url.firstRange(of: "://") else { return redactTarget(url) }
        let rest = url[scheme.upperBound...]
        let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        return url[..<scheme.upperBound] + redactAuthority(String(rest[..<end])) + redactTarget(String(rest[end...]))
    }

    /// A host with the user name and password before it masked.
    static func redactAuthority(_ authority: String) -> String {
        authority.lastIndex(of: "@").map { mask + authority[$0...] } ?? authority
    }

    /// A path with its query, with what looks like a secret masked.
    static func redactTarget(_ target: String) -> String {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = parts.first.map { redactPath($0) } ?? ""
        return parts.count == 2 ? path + "?" + redactForm(parts[1]) : path
    }

    /// A path, segment by segment, so that `/articles/7/comments` around a token stays to be read.
    static func redactPath(_ path: Substring) -> String {
        path.split(separator: "/", omittingEmptySubsequences: false).map { segment in
            if isShortWord(segment) { return String(segment) }
            let text = PercentEncoding.decode(String(segment))
            return isSlug(text) || isUUID(text) || redact(text) == text ? String(segment) : mask
        }.joined(separator: "/")
    }

    /// Names and values as a query and a form's body have them.
    static func redactForm(_ form: Substring) -> String {
        form.split(separator: "&", omittingEmptySubsequences: false).map { (item: Substring) -> String in
            let pair = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2 else { return isSecret(item, named: "") ? mask : String(item) }
            // A token may have an equals sign at its end, and so look like a name.
            let name = isSecret(pair[0], named: "") ? mask : String(pair[0])
            let value = isSecret(pair[1], named: decoded(pair[0])) ? mask : String(pair[1])
            return "\(name)=\(value)"
        }.joined(separator: "&")
    }

    /// A body as text; `nil` where it is none that could be shown.
    static func redactBody(_ body: Data, contentType: String?) -> String? {
        guard let text = String(data: body, encoding: .utf8), text.unicodeScalars.allSatisfy(isShown) else {
            return nil
        }
        let type = contentType?.lowercased() ?? ""
        // Its parts are known by what stands lines above them.
        if type.hasPrefix("multipart/") { return nil }
        if type.hasPrefix("application/x-www-form-urlencoded") { return redactForm(text[...]) }
        // JSON may write a slash with a backslash before it, which would break a token in two.
        return redact(type.contains("json") ? text.replacing("\\/", with: "/") : text)
    }

    private static func isSecret(_ encoded: Substring, named name: String) -> Bool {
        guard !encoded.isEmpty else { return false }
        if isTelling(name) || isSensitive(headerName: name) { return true }
        // A plus sign is a space to most, and a character of Base64 to whoever did not encode it.
        let readings = [decoded(encoded), PercentEncoding.decode(String(encoded))]
        // One that is a code for something is as good as a password.
        if isUUID(readings[0]), name.isEmpty || name.lowercased().hasSuffix("id") { return false }
        return readings.contains { redact($0) != $0 }
    }

    private static func decoded(_ text: Substring) -> String {
        PercentEncoding.decode(text.replacing("+", with: " "))
    }

    /// What most segments are: too short for a token, and with nothing in it that would make a part of it a name's value.
    /// Every call's path is looked at, so that this must not cost much.
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

    /// Words and numbers with hyphens between them, as titles have them in addresses. Tokens have both in one piece.
    private static func isSlug(_ text: String) -> Bool {
        text.split(separator: "-").allSatisfy { piece in
            piece.allSatisfy { $0.isASCII && $0.isLowercase } || piece.count < 20 && piece.allSatisfy(\.isNumber)
        }
    }

    /// The id of something: it is no secret, and logs are of little use without.
    private static func isUUID(_ text: String) -> Bool {
        text.utf8.count == 36 && UUID(uuidString: text) != nil
    }

    private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory != .control || scalar == "\n" || scalar == "\r" || scalar == "\t"
    }
}
