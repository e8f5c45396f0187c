/// Which answers mean that the server does not accept the access token any more.
///
/// ```swift
/// TokenRejection.status(419)                  // an older convention
/// TokenRejection { $0.status == 200 && $0.body.range(of: marker) != nil }
/// ```
public struct TokenRejection: Sendable {
    private let matches: @Sendable (ServerAnswer) -> Bool

    /// Asks a closure; it sees every answer to a signed request.
    public init(_ matches: @escaping @Sendable (ServerAnswer) -> Bool) {
        self.matches = matches
    }

    /// Answers of these statuses.
    public static func status(_ codes: Int...) -> TokenRejection {
        TokenRejection { codes.contains($0.status) }
    }

    /// 401 (RFC 9110, section 15.5.2; RFC 6750, section 3.1).
    public static let unauthorized = TokenRejection.status(401)

    /// 401, and a GraphQL answer of any status in which an error has the code `UNAUTHENTICATED`.
    public static let graphQL = TokenRejection { answer in
        if answer.status == 401 { return true }
        guard let json = JSONValue(body: answer.body), let errors = json["errors"]?.array else { return false }
        return errors.contains { $0["extensions"]?["code"]?.string == "UNAUTHENTICATED" }
    }

    /// Either of two.
    public func or(_ other: TokenRejection) -> TokenRejection {
        TokenRejection { self.isRejected($0) || other.isRejected($0) }
    }

    /// Whether the answer refuses the token.
    public func isRejected(_ answer: ServerAnswer) -> Bool {
        matches(answer)
    }
}
