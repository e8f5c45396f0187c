public import HTTPTypes

/// An access token together with the (session, rotation) that it belongs to.
struct Credential: Sendable, Hashable {
    let stamp: SessionStamp
    let accessToken: Secret
}

/// How an access token is put on a request.
///
/// ```swift
/// AuthenticationScheme.bearer                                  // Authorization: Bearer <token>
/// AuthenticationScheme(header: .xAccessToken, prefix: nil)     // X-Access-Token: <token>
/// ```
public struct AuthenticationScheme: Sendable, Hashable {
    /// The header field that carries the token.
    public let header: HTTPField.Name
    /// What stands before the token, such as `Bearer`; `nil` where the token stands alone.
    public let prefix: String?

    /// A header field and what stands before the token in it.
    public init(header: HTTPField.Name, prefix: String?) {
        self.header = header
        self.prefix = prefix
    }

    /// `Authorization: Bearer <token>` (RFC 6750, section 2.1).
    public static let bearer = AuthenticationScheme(header: .authorization, prefix: "Bearer")

    /// The token on a request.
    func token(in headers: HTTPFields) -> Secret? {
        guard let value = headers[header] else { return nil }
        guard let prefix else { return Secret(value) }
        guard value.hasPrefix(prefix + " ") else { return nil }
        return Secret(String(value.dropFirst(prefix.count + 1)))
    }

    func sign(_ headers: inout HTTPFields, with token: Secret) {
        headers.setSensitive(prefix.map { "\($0) \(token.reveal())" } ?? token.reveal(), for: header)
    }
}
