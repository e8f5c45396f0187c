import HTTPTypes

/// An error response, independent of the dialect.
struct APIError: Error {
    struct Field {
        var name: String
        var message: String
    }

    /// The reason why an access token was rejected (RFC 6750 section 3.1).
    enum Challenge {
        case missingToken
        case invalidToken(description: String)
    }

    var status: Int
    var code: String
    var message: String
    var fields: [Field] = []
    var challenge: Challenge?
    var headers = HTTPFields()

    static func malformed(_ message: String) -> APIError {
        APIError(status: 400, code: "MALFORMED_REQUEST", message: message)
    }

    static func invalid(_ fields: [Field]) -> APIError {
        APIError(status: 422, code: "VALIDATION_FAILED", message: "The request has invalid fields.", fields: fields)
    }

    static func conflict(_ message: String) -> APIError {
        APIError(status: 409, code: "CONFLICT", message: message)
    }

    static func tooLarge(limit: Int) -> APIError {
        APIError(status: 413, code: "CONTENT_TOO_LARGE", message: "The body may have at most \(limit) bytes.")
    }

    static let notFound = APIError(status: 404, code: "NOT_FOUND", message: "There is no resource at this path.")
    static let forbidden = APIError(status: 403, code: "FORBIDDEN", message: "The resource belongs to another user.")

    static let unsupportedMediaType = APIError(
        status: 415, code: "UNSUPPORTED_MEDIA_TYPE", message: "This content type is not supported here.")

    static let wrongCredentials = APIError(
        status: 401, code: "INVALID_CREDENTIALS", message: "The e-mail address or the password is wrong.")

    static let missingToken = APIError(
        status: 401, code: "TOKEN_MISSING", message: "The access token is missing; sign in first.",
        challenge: .missingToken)

    static let invalidToken = APIError(
        status: 401, code: "TOKEN_INVALID", message: "The access token is not valid.",
        challenge: .invalidToken(description: "The access token is not valid"))

    static func expiredToken(status: Int) -> APIError {
        APIError(
            status: status, code: "TOKEN_EXPIRED", message: "The access token has expired.",
            challenge: .invalidToken(description: "The access token expired"))
    }

    static let refreshRefused = APIError(
        status: 401, code: "REFRESH_TOKEN_INVALID", message: "The refresh token is not valid; sign in again.")

    static let serverError = APIError(
        status: 500, code: "INTERNAL_ERROR", message: "The server failed to handle the request.")
}
