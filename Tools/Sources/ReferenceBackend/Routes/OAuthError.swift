import HTTPTypes

/// An error of the token endpoint (RFC 6749 section 5.2).
struct OAuthError: Error {
    var status = 400
    var code: String
    var description: String

    static func invalidRequest(_ description: String) -> OAuthError {
        OAuthError(code: "invalid_request", description: description)
    }

    static func invalidGrant(_ description: String) -> OAuthError {
        OAuthError(code: "invalid_grant", description: description)
    }

    static let invalidClient = OAuthError(
        status: 401, code: "invalid_client", description: "The client is unknown or failed to authenticate.")

    static let unsupportedGrantType = OAuthError(
        code: "unsupported_grant_type", description: "password and refresh_token are supported.")

    static let invalidScope = OAuthError(
        code: "invalid_scope", description: "The supported scope is \(OAuth2Rules.grantedScope).")

    var reply: Reply {
        let body: JSONValue = ["error": .string(code), "error_description": .string(description)]
        let reply = OAuth2Rules().noStore(.json(body, status: status))
        return status == 401 ? reply.with(.wwwAuthenticate, "Basic realm=\"martlet\", charset=\"UTF-8\"") : reply
    }
}

/// Converts thrown errors of the token endpoint into responses.
func respondingToOAuthErrors(_ work: () async throws -> Reply) async throws -> Reply {
    do {
        return try await work()
    } catch let error as OAuthError {
        return error.reply
    }
}
