#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The parts of a request, each masked by what it is made of: what is percent-encoded is judged by what it says.
extension Redaction {
    /// A path with its query, with what looks like a secret masked.
    static func redactTarget(_ target: String) -> String {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = parts.first.map { redactPath($0) } ?? ""
        return parts.count == 2 ? path + "?" + redactForm(parts[1]) : path
    }

    /// A path, segment by segment, so that `/articles/7/comments` around a token stays to be read.
    static func redactPath(_ path: Substring) -> String {
        path.split(separator: "/", omittingEmptySubsequences: false).map { segment in
            let text = PercentEncoding.decode(String(segment))
            return isSlug(text) || isUUID(text) || redact(text) == text ? String(segment) : mask
        }.joined(separator: "/")
    }

    /// Names and values as a query and a form's body have them.
    static func redactForm(_ form: Substring) -> String {
        form.split(separator: "&", omittingEmptySubsequences: false).map { item in
            let pair = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2 else { return isSecret(decoded(item), named: "") ? mask : String(item) }
            return isSecret(decoded(pair[1]), named: decoded(pair[0])) ? pair[0] + "=" + mask : String(item)
        }.joined(separator: "&")
    }

    /// A body as text; `nil` where it is none that could be shown.
    static func redactBody(_ body: Data, contentType: String?) -> String? {
        guard let text = String(data: body, encoding: .utf8), text.unicodeScalars.allSatisfy(isShown) else {
            return nil
        }
        let type = contentType?.lowercased() ?? ""
        if type.hasPrefix("application/x-www-form-urlencoded") { return redactForm(text[...]) }
        // JSON may write a slash with a backslash before it, which would break a token in two.
        return redact(type.contains("json") ? text.replacing("\\/", with: "/") : text)
    }

    private static func isSecret(_ value: String, named name: String) -> Bool {
        guard !value.isEmpty else { return false }
        return isTelling(name) || isSensitive(headerName: name) || (!isUUID(value) && redact(value) != value)
    }

    private static func decoded(_ text: Substring) -> String {
        PercentEncoding.decode(text.replacing("+", with: " "))
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
