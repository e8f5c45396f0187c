internal import HTTPTypes

extension TokenFields {
    /// The tokens in the header fields of a response; `nil` if they contain no access token.
    func tokens(fromHeadersOf response: ServerResponse) -> Tokens? {
        guard let access = token(in: accessTokenHeader, of: response) else { return nil }
        let cookie = refreshCookie.flatMap { SetCookie.value(of: $0, in: response.headers) }
        var tokens = Tokens(
            accessToken: access, refreshToken: cookie ?? token(in: refreshTokenHeader, of: response))
        tokens.serverDate = response.headers[.date].flatMap(HTTPDate.parse)
        return tokens
    }

    /// The token in a header field of a response. `Authorization` carries credentials of other schemes, too, so only a
    /// bearer token counts there.
    func token(in header: HTTPField.Name?, of response: ServerResponse) -> Secret? {
        guard let header, let value = response.headers[header] else { return nil }
        let scheme = AuthenticationScheme.bearer
        let token = scheme.token(in: [.authorization: value]) ?? (header == .authorization ? nil : Secret(value))
        return token.flatMap { $0.isEmpty ? nil : $0 }
    }
}
