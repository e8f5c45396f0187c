#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// An absolute `http` or `https` URL, parsed into the parts of a request.
package struct Location: Sendable, Hashable {
    package var origin: Origin
    /// Host and port as sent.
    package var authority: String
    /// The encoded path, with a leading slash.
    var path: String
    /// The encoded query, without the question mark.
    var query: String?

    /// Path and query as sent.
    package var target: String {
        query.map { path + "?" + $0 } ?? path
    }

    /// Origin and path for error texts, with secrets masked.
    package var redactedText: String {
        "\(origin)\(Redaction.redactPath(path[...]))"
    }

    /// Parses an absolute URL. The error says what is wrong with it.
    package static func parse(_ text: String) -> Result<Location, InvalidRequestError> {
        func problem(_ what: String) -> Result<Location, InvalidRequestError> {
            .failure(InvalidRequestError("\"\(Redaction.redact(text).prefix(200))\" \(what)"))
        }
        guard let components = URLComponents(string: escapingTarget(of: text)),
            let scheme = components.scheme?.lowercased(), scheme == "https" || scheme == "http"
        else {
            return problem(schemeProblem(of: text))
        }
        guard components.user == nil, components.password == nil else {
            return .failure(
                InvalidRequestError("A URL for \(components.host ?? "?") has a user name or password. Remove them."))
        }
        // The other properties decode Punycode.
        guard var host = components.encodedHost?.lowercased(), !host.isEmpty else {
            return problem(text.contains("://") ? "has no host." : schemeProblem(of: text))
        }
        if host.contains(":"), !host.hasPrefix("[") { host = "[\(host)]" }
        // Only some variants of Foundation encode an international name.
        guard isHost(host), authority(of: text).utf8.allSatisfy({ $0 < 128 }) else {
            return problem("has a host with invalid characters; write international names in Punycode (xn--…).")
        }
        let standardPort = scheme == "https" ? 443 : 80
        // `URLComponents` ignores a port that is too large for an Int. It must not become the default port.
        guard let port = components.port ?? (namesPort(text) ? nil : standardPort), (1...65535).contains(port) else {
            return problem("has a port outside 1 to 65535.")
        }
        let origin = Origin(scheme: scheme, host: host, port: port)
        var path = components.percentEncodedPath
        if !path.hasPrefix("/") { path = "/" + path }
        return .success(
            Location(
                origin: origin,
                authority: port == standardPort ? host : "\(host):\(port)",
                path: path,
                query: components.percentEncodedQuery))
    }

    /// Escapes the characters that a path or a query must not contain, and keeps valid escapes. If Foundation had to do
    /// that, it would escape the escapes, too. The fragment, which is not sent, is dropped.
    private static func escapingTarget(of text: String) -> String {
        let authority = authority(of: text)
        let target = text[authority.endIndex...].prefix { $0 != "#" }
        let encoded = PercentEncoding.encodePath(String(target), allowing: "?")
        return text[..<authority.endIndex] + encoded
    }

    /// The part between `://` and the path, the query or the fragment; the end of the text if it is not a URL.
    private static func authority(of text: String) -> Substring {
        guard let scheme = text.utf8.firstRange(of: "://".utf8) else { return text[text.endIndex...] }
        let rest = text.utf8[scheme.upperBound...]
        return Substring(rest.prefix { !"/?#".utf8.contains($0) })
    }

    /// The error text for a string that is not an http or https URL.
    private static func schemeProblem(of text: String) -> String {
        // In `localhost:8080`, the host is taken for a scheme.
        if !text.contains("://") {
            "is not an absolute URL; write https:// before it, or http:// for a server on this machine."
        } else if URLComponents(string: text)?.scheme == nil {
            "is not a URL; write it as https://host/path, and percent-encode other characters."
        } else {
            "has a scheme other than http and https. Pass the https URL of the API."
        }
    }

    /// The URL of an endpoint's path below this base URL. See ``Endpoint/path`` for the rules.
    func appending(_ path: RequestPath, query: Query) throws(InvalidRequestError) -> Location {
        if let problem = path.problem { throw problem }
        let encoded = path.text
        var result = self
        if path.isAbsolute {
            result = try Location.parse(encoded).get()
        } else {
            guard !encoded.utf8.starts(with: "//".utf8) else {
                throw InvalidRequestError(
                    "The path \"\(Redaction.redact(encoded))\" starts with two slashes, which would be read as another "
                        + "host. Start it with one slash."
                )
            }
            guard !Self.hasDotSegments(encoded) else {
                throw InvalidRequestError(
                    "The path \"\(Redaction.redact(encoded))\" has . or .. segments, which could leave the base URL. "
                        + "Servers resolve them even if they are encoded. Remove them."
                )
            }
            if !encoded.isEmpty { result.path = Self.joining(self.path, encoded) }
        }
        if !query.isEmpty {
            let own = result.query.flatMap { $0.isEmpty ? nil : $0 + "&" } ?? ""
            result.query = own + query.encoded
        }
        return result
    }

    /// Joins two paths with one slash. Each call does this, so it looks at bytes instead of characters.
    private static func joining(_ base: String, _ path: String) -> String {
        let slash = UInt8(ascii: "/")
        switch (base.utf8.last == slash, path.utf8.first == slash) {
        case (true, true): return base.utf8.count == 1 ? path : String(Substring(base.utf8.dropLast())) + path
        case (false, false): return base + "/" + path
        case (true, false), (false, true): return base + path
        }
    }

    /// Throws if this URL is not below another one.
    func check(isWithin base: Location) throws(InvalidRequestError) {
        let folder = base.path.hasSuffix("/") ? base.path : base.path + "/"
        guard origin == base.origin, path == base.path || path.utf8.starts(with: folder.utf8) else {
            throw InvalidRequestError("\"\(redactedText)\" is not below the base URL \(base.redactedText).")
        }
        guard !Self.hasDotSegments(path) else {
            throw InvalidRequestError(
                "The path of \"\(redactedText)\" has . or .. segments, which could leave the base URL. Servers resolve "
                    + "them even if they are encoded. Remove them.")
        }
    }

    private static func isHost(_ host: String) -> Bool {
        guard host.hasPrefix("[") else { return !host.utf8.contains(UInt8(ascii: "%")) }
        let address = host.dropFirst().prefix { $0 != "%" && $0 != "]" }
        return address.contains(":") && address.allSatisfy { ($0.isASCII && $0.isHexDigit) || $0 == ":" || $0 == "." }
    }

    private static func namesPort(_ url: String) -> Bool {
        let parts = url.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 2, omittingEmptySubsequences: false)
        let hostAndPort = (parts.last ?? Substring().utf8).prefix { !"/?#".utf8.contains($0) }
        guard let colon = hostAndPort.lastIndex(of: UInt8(ascii: ":")) else { return false }
        let port = hostAndPort[colon...].dropFirst()
        return !port.isEmpty && !port.contains(UInt8(ascii: "]"))
    }

    static func isAbsolute(_ path: String) -> Bool {
        guard let colon = path.utf8.firstIndex(of: UInt8(ascii: ":")) else { return false }
        let scheme = path[..<colon].lowercased()
        return (scheme == "http" || scheme == "https") && path[colon...].hasPrefix("://")
    }

    static func hasDotSegments(_ path: String) -> Bool {
        guard path.utf8.contains(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "%") }) else { return false }
        // Compare bytes: a slash with a combining accent is a Character other than a slash, but is sent as a slash.
        // Servers disagree on whether an escaped slash or a backslash is a separator, so both count; and some servers
        // remove what follows a semicolon before they interpret dot segments.
        return Array(PercentEncoding.decode(path).utf8)
            .split(whereSeparator: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") })
            .contains { segment in
                let name = segment.prefix { $0 != UInt8(ascii: ";") }
                return name.elementsEqual(".".utf8) || name.elementsEqual("..".utf8)
            }
    }
}
