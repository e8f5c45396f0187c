public import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The place of the refresh token in a request to the token endpoint.
public enum TokenPlacement: Sendable, Hashable {
    /// In a JSON object, under this name. `parameters` are further members, such as a client secret.
    case json(field: String, parameters: [String: Secret] = [:])
    /// As an OAuth 2.0 parameter: `refresh_token` of the refresh grant (RFC 6749, section 6), or `token` of a
    /// revocation (RFC 7009). The parameters are a form, as the RFCs require, or a JSON object.
    case oauth2(OAuthClient?, sendsJSON: Bool = false)
    /// As a bearer token: `Authorization: Bearer <refresh token>` (RFC 6750, section 2.1).
    case bearer
    /// In a header field, without a prefix. The exception is `Authorization`, which carries it as a bearer token,
    /// because a value of that field starts with a scheme (RFC 9110, section 11.6.2).
    case header(HTTPField.Name)
    /// In a cookie.
    case cookie(name: String)

    /// Puts the refresh token on a request.
    /// - Parameters:
    ///   - token: The refresh token.
    ///   - parameters: The OAuth 2.0 parameters, for ``oauth2(_:sendsJSON:)`` only.
    ///   - headers: The request's header fields.
    /// - Returns: The request's body.
    func place(_ token: Secret?, parameters: Query, headers: inout HTTPFields) throws -> Data? {
        switch self {
        case .json(let field, var members):
            if headers[.contentType] == nil { headers[.contentType] = "application/json" }
            if let token { members[field] = token }
            return try JSONEncoder().encode(members.mapValues { $0.reveal() })
        case .oauth2(let oauthClient, let sendsJSON):
            var parameters = parameters
            oauthClient?.authenticate(&headers, &parameters)
            guard sendsJSON else {
                headers[.contentType] = "application/x-www-form-urlencoded"
                return Data(FormEncoding.encode(parameters).utf8)
            }
            headers[.contentType] = "application/json"
            let pairs = parameters.items.map { ($0.name, $0.value ?? "") }
            return try JSONEncoder().encode(Dictionary(pairs, uniquingKeysWith: { $1 }))
        case .bearer, .header(.authorization):
            if let token { AuthenticationScheme.bearer.attach(token, to: &headers) }
        case .header(let name):
            if let token { headers.setSensitive(token.reveal(), for: name) }
        case .cookie(let name):
            if let token { headers.setSensitive("\(name)=\(token.reveal())", for: .cookie) }
        }
        return nil
    }
}
