internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Where a server's answer keeps its tokens.
///
/// ``automatic`` finds them in nearly every answer: at the top, or within `data`, `result`, `tokens` or `token`, in
/// camel case or snake case. Name the fields where yours are called otherwise.
public struct TokenFields: Sendable, Hashable {
    /// Objects that may hold the tokens, outermost first; an empty name is the answer itself.
    public var containers: [String]
    /// Names of the access token.
    public var accessToken: [String]
    /// Names of the refresh token.
    public var refreshToken: [String]
    /// Names of the lifetime in seconds.
    public var expiresIn: [String]
    /// Names of the moment of expiry: seconds or milliseconds since 1970, or a date in ISO 8601.
    public var expiresAt: [String]
    /// The cookie that holds the refresh token, for servers that keep it out of the body.
    public var refreshCookie: String?

    /// Names for each field; what is left out has its usual names.
    public init(
        containers: [String] = ["", "data", "result", "tokens", "token"],
        accessToken: [String] = ["accessToken", "access_token", "token", "jwt"],
        refreshToken: [String] = ["refreshToken", "refresh_token"],
        expiresIn: [String] = ["expiresIn", "expires_in"],
        expiresAt: [String] = ["expiresAt", "expires_at"],
        refreshCookie: String? = nil
    ) {
        self.containers = containers
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.expiresIn = expiresIn
        self.expiresAt = expiresAt
        self.refreshCookie = refreshCookie
    }

    /// The usual places and names.
    public static let automatic = TokenFields()

    /// The tokens of an answer.
    /// - Throws: ``TokenFields/Missing`` where there is no access token in it.
    public func bundle(from answer: ServerAnswer) throws -> TokenBundle {
        guard let json = JSONValue(body: answer.body) else {
            throw Missing(description: "the answer is not JSON: \(answer)")
        }
        for object in places(in: json) {
            guard let access = first(accessToken, in: object)?.string, !access.isEmpty else { continue }
            let refresh = first(refreshToken, in: object)?.string
            return TokenBundle(
                accessToken: Secret(access),
                refreshToken: refreshCookie.flatMap { SetCookie.value(of: $0, in: answer.headers) }
                    ?? refresh.flatMap { $0.isEmpty ? nil : Secret($0) },
                lifetime: first(expiresIn, in: object)?.number.flatMap(Self.lifetime),
                expiresAt: first(expiresAt, in: object).flatMap(Self.date),
                tokenType: first(["tokenType", "token_type"], in: object)?.string,
                scope: first(["scope"], in: object)?.string)
        }
        throw Missing(description: "the answer has no \(accessToken.joined(separator: ", ")): \(answer)")
    }

    /// No access token in an answer.
    public struct Missing: Error, Sendable, Hashable, CustomStringConvertible {
        /// What the answer was; never a token.
        public let description: String
    }

    /// The objects that may hold the tokens; a container may stand inside another one.
    private func places(in json: JSONValue) -> [JSONValue] {
        var found: [JSONValue] = []
        for container in containers {
            if container.isEmpty {
                found.append(json)
            } else {
                found += (found + [json]).compactMap { $0[container] }
            }
        }
        return found
    }

    private func first(_ names: [String], in object: JSONValue) -> JSONValue? {
        names.lazy.compactMap { object[$0] }.first
    }

    private static func lifetime(_ seconds: Double) -> Duration? {
        seconds.isFinite && seconds > 0 && seconds < 1e12 ? .seconds(seconds) : nil
    }

    private static func date(_ value: JSONValue) -> Date? {
        if let number = value.number, number.isFinite, number > 0 {
            return Date(timeIntervalSince1970: number > 1e11 ? number / 1000 : number)
        }
        return value.string.flatMap(ISO8601.parse)
    }
}

/// Reads one cookie out of `Set-Cookie` fields (RFC 6265, section 4.1).
enum SetCookie {
    static func value(of name: String, in headers: HTTPFields) -> Secret? {
        var result: Secret?
        for field in headers[values: .setCookie] {
            for cookie in separate(field) {
                let pair = cookie.prefix { $0 != ";" }
                guard let equals = pair.firstIndex(of: "=") else { continue }
                let found = pair[..<equals].filter { $0 != " " }
                guard found == name else { continue }
                var value = String(pair[pair.index(after: equals)...])
                while value.first == " " { value.removeFirst() }
                while value.last == " " { value.removeLast() }
                result = Secret(value)
            }
        }
        return result.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// URLSession joins repeated fields with commas, which also stand in `Expires`; a new cookie starts where a comma is
    /// followed by a name and an equals sign.
    private static func separate(_ field: String) -> [Substring] {
        var cookies: [Substring] = []
        var start = field.startIndex
        var index = field.startIndex
        while index < field.endIndex {
            if field[index] == "," {
                let rest = field[field.index(after: index)...]
                let name = rest.drop(while: { $0 == " " }).prefix { $0 != "=" && $0 != ";" && $0 != "," && $0 != " " }
                if !name.isEmpty, name.endIndex < field.endIndex, field[name.endIndex] == "=" {
                    cookies.append(field[start..<index])
                    start = field.index(after: index)
                }
            }
            index = field.index(after: index)
        }
        cookies.append(field[start...])
        return cookies.map { $0.drop { $0 == " " } }
    }
}
