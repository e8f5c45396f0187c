public import HTTPTypes
internal import MartletJSON

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The places of the tokens in a response.
///
/// ``automatic`` finds them in nearly every response: at the top level, or within `data`, `result`, `tokens`, `token`
/// or `AuthenticationResult`, in camel case or snake case. If the body has no access token, it looks for a bearer token
/// in the response's `Authorization` field. Pass your own names if the server uses others.
public struct TokenFields: Sendable, Hashable {
    let containers: [String]
    let accessToken: [String]
    let refreshToken: [String]
    let expiresIn: [String]
    let expiresAt: [String]
    let refreshCookie: String?
    var additional: [String]
    let accessTokenHeader: HTTPField.Name?
    let refreshTokenHeader: HTTPField.Name?

    /// The names of the fields. An argument that is left out keeps the usual names.
    /// - Parameters:
    ///   - containers: Objects that may contain the tokens, outermost first; an empty name is the response itself.
    ///   - accessToken: Names of the access token. The name of the ID token belongs here only if the server accepts ID
    ///     tokens as access tokens, as Firebase does.
    ///   - refreshToken: Names of the refresh token.
    ///   - expiresIn: Names of the lifetime in seconds.
    ///   - expiresAt: Names of the expiry date: seconds or milliseconds since 1970, or a date in ISO 8601.
    ///   - refreshCookie: The cookie with the refresh token, for servers that keep it out of the body.
    ///   - accessTokenHeader: The header field with the access token, if the body has none. In `Authorization`, it
    ///     follows `Bearer`.
    ///   - refreshTokenHeader: The header field with the refresh token, if the body has none. If it is the same field
    ///     as that of the access token, the access token also serves as the refresh token.
    ///   - additional: Further fields to keep with the session (``Tokens/additionalFields``), such as `id_token`:
    ///     beside the access token or in one of the containers. By default none are kept, because a store has little
    ///     room for fields that the app never reads.
    public init(
        containers: [String] = ["", "data", "result", "tokens", "token", "AuthenticationResult"],
        accessToken: [String] = ["accessToken", "access_token", "token", "jwt", "access", "AccessToken"],
        refreshToken: [String] = ["refreshToken", "refresh_token", "refresh", "RefreshToken"],
        expiresIn: [String] = ["expiresIn", "expires_in", "ExpiresIn"],
        expiresAt: [String] = ["expiresAt", "expires_at"],
        refreshCookie: String? = nil,
        accessTokenHeader: HTTPField.Name? = .authorization,
        refreshTokenHeader: HTTPField.Name? = nil,
        additional: [String] = []
    ) {
        self.containers = containers
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.expiresIn = expiresIn
        self.expiresAt = expiresAt
        self.refreshCookie = refreshCookie
        self.additional = additional
        self.accessTokenHeader = accessTokenHeader
        self.refreshTokenHeader = refreshTokenHeader
    }

    /// The usual containers and names.
    public static let automatic = TokenFields()

    /// Reads the tokens from a response. Other members that cannot be represented, such as a number that is too large
    /// or half a surrogate pair, are ignored: the response may contain the only copy of the tokens.
    /// - Throws: An error that describes the response if it contains no access token.
    public func tokens(from response: ServerResponse) throws -> Tokens {
        guard let json = JSONValue(salvaging: response.body) else {
            if let tokens = tokens(fromHeadersOf: response) { return tokens }
            throw MissingTokenError("the response is not JSON", response)
        }
        let candidates = candidates(in: json)
        for object in candidates {
            guard let access = first(accessToken, in: object)?.string else { continue }
            let refresh = first(refreshToken, in: object)?.string
            var tokens = Tokens(
                accessToken: Secret(access),
                refreshToken: refreshCookie.flatMap { SetCookie.value(of: $0, in: response.headers) }
                    ?? refresh.map { Secret($0) }
                    ?? token(in: refreshTokenHeader, of: response),
                lifetime: first(expiresIn, in: object)?.number.flatMap(Self.lifetime),
                expiresAt: first(expiresAt, in: object).flatMap(Self.date),
                tokenType: first(["tokenType", "token_type", "TokenType"], in: object)?.string,
                scope: first(["scope"], in: object)?.string,
                additionalFields: additionalFields(in: [object] + candidates + [json]))
            tokens.serverDate = response.headers[.date].flatMap(HTTPDate.parse)
            return tokens
        }
        if let tokens = tokens(fromHeadersOf: response) { return tokens }
        throw MissingTokenError(
            "none of the fields \(accessToken.joined(separator: ", ")) is in the response", response,
            advice: "If the server has other names, pass TokenFields")
    }

    /// The objects that may contain the tokens. A container may be nested in another one.
    private func candidates(in json: JSONValue) -> [JSONValue] {
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

    /// The additional fields. A field that is `null` or empty counts as missing, as for a refresh token.
    private func additionalFields(in objects: [JSONValue]) -> [String: Secret] {
        var fields: [String: Secret] = [:]
        for name in additional {
            let value = objects.lazy.compactMap { first([name], in: $0) }.first
            fields[name] = value.flatMap { $0.string ?? $0.encoded }.map { Secret($0) }
        }
        return fields
    }

    /// A field that is `null`, empty or blank counts as missing.
    private func first(_ names: [String], in object: JSONValue) -> JSONValue? {
        names.lazy.compactMap { object[$0] }.first { value in
            value != .null && value.string?.allSatisfy(\.isWhitespace) != true
        }
    }

    private static func lifetime(_ seconds: Double) -> Duration? {
        seconds.isFinite && seconds > 0 && seconds < 1e12 ? .seconds(seconds) : nil
    }

    private static func date(_ value: JSONValue) -> Date? {
        if let number = value.number, number.isFinite, number > 0 {
            return Date(timeIntervalSince1970: number > 1e11 ? number / 1000 : number)
        }
        return value.string.flatMap { ISO8601.date($0) }
    }
}

/// A response contains no access token.
struct MissingTokenError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reason and the advice, without the response.
    let summary: String
    /// The reason with the response, and the advice.
    let description: String

    fileprivate init(_ reason: String, _ response: ServerResponse, advice: String? = nil) {
        let advice = advice.map { ". \($0)" } ?? ""
        self.summary = reason + advice
        self.description = "\(reason): \(response)\(advice)"
    }
}
