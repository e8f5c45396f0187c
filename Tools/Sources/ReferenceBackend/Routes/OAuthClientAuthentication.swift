import Foundation
import HTTPTypes

extension BackendCore {
    /// Authenticates the client by HTTP Basic or by fields in the body, but not both (RFC 6749 section 2.3). Throws if
    /// the credentials are wrong, or missing although they are required.
    func authenticateClient(_ scope: RequestScope, _ fields: FormFields) throws {
        let basic = try basicCredentials(scope.headers[.authorization])
        if basic != nil, fields["client_secret"] != nil {
            throw OAuthError.invalidRequest("The client authenticates with more than one method.")
        }
        let presented = basic ?? fields["client_secret"].map { (fields["client_id"] ?? "", $0) }
        guard let client = configuration.oauthClient else { return }
        guard let presented else {
            if client.isRequired { throw OAuthError.invalidClient }
            return
        }
        let isKnown =
            constantTimeEquals(Array(presented.0.utf8), Array(client.id.utf8))
            && constantTimeEquals(Array(presented.1.utf8), Array(client.secret.utf8))
        if !isKnown { throw OAuthError.invalidClient }
    }

    private func basicCredentials(_ field: String?) throws -> (String, String)? {
        guard let field, field.lowercased().hasPrefix("basic ") else { return nil }
        guard let data = Data(base64Encoded: field.dropFirst("basic ".count).trimmingBlanks) else {
            throw OAuthError.invalidClient
        }
        let halves = String(decoding: data, as: UTF8.self)
            .split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2 else { throw OAuthError.invalidClient }
        return (FormFields.decode(halves[0]), FormFields.decode(halves[1]))
    }
}
