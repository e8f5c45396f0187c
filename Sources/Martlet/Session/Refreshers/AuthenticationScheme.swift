public import HTTPTypes

/// The scheme by which a request carries the access token.
///
/// ```swift
/// AuthenticationScheme.bearer                                  // Authorization: Bearer <token>
/// AuthenticationScheme(header: name, prefix: nil)              // X-Access-Token: <token>, with the field's name
/// ```
public struct AuthenticationScheme: Sendable, Hashable {
    let header: HTTPField.Name
    let prefix: String?

    /// A scheme that carries the token in a header field.
    /// - Parameters:
    ///   - header: The header field.
    ///   - prefix: The word before the token, such as `Bearer`; `nil` if the token is the whole value.
    public init(header: HTTPField.Name, prefix: String?) {
        self.header = header
        self.prefix = prefix
    }

    /// `Authorization: Bearer <token>` (RFC 6750, section 2.1).
    public static let bearer = AuthenticationScheme(header: .authorization, prefix: "Bearer")

    /// The token that a request carries, if any.
    func token(in headers: HTTPFields) -> Secret? {
        guard let value = headers[header] else { return nil }
        guard let prefix else { return Secret(value) }
        // The name of a scheme is case-insensitive (RFC 9110, section 11.1).
        let start = prefix + " "
        guard value.prefix(start.count).lowercased() == start.lowercased() else { return nil }
        return Secret(String(value.dropFirst(start.count)))
    }

    func attach(_ token: Secret, to headers: inout HTTPFields) {
        headers[fields: header] = [field(with: token)]
    }

    func field(with token: Secret) -> HTTPField {
        .sensitive(prefix.map { "\($0) \(token.reveal())" } ?? token.reveal(), for: header)
    }
}
