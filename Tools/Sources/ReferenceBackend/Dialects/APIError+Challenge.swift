import HTTPTypes

extension APIError {
    /// The error's header fields, including the challenge that a 401 must have (RFC 9110 section 11.6.1).
    /// - Parameter naming: Whether the challenge names the error code (RFC 6750 section 3).
    func challengeFields(naming: Bool = false) -> HTTPFields {
        var fields = headers
        guard status == 401, fields[.wwwAuthenticate] == nil else { return fields }
        if naming, case .invalidToken(let description) = challenge {
            fields[.wwwAuthenticate] =
                "Bearer realm=\"martlet\", error=\"invalid_token\", error_description=\"\(description)\""
        } else {
            fields[.wwwAuthenticate] = "Bearer realm=\"martlet\""
        }
        return fields
    }
}
