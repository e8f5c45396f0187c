internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The dialect of a refresh request as data: the form of the request, and the rule for responses that end the session.
struct RefreshRequest: Sendable {
    let path: String
    let query: Query
    let method: HTTPRequest.Method
    let placement: TokenPlacement
    let accessTokenScheme: AuthenticationScheme?
    let headers: HTTPFields
    let sessionEnd: SessionEndRule

    /// Sends the refresh token to the token endpoint and reads the new tokens from the fields of the response.
    func send(
        _ tokens: Tokens, over client: TokenEndpointClient, reading fields: TokenFields
    ) async throws -> Tokens {
        guard let refreshToken = tokens.refreshToken else { throw RefreshRejectedError() }
        var headers = headers
        accessTokenScheme?.attach(tokens.accessToken, to: &headers)
        let parameters: Query = ["grant_type": "refresh_token", "refresh_token": refreshToken.reveal()]
        let body = try placement.place(refreshToken, parameters: parameters, headers: &headers)
        let response = try await client.send(method, path, query: query, headers: headers, body: body)
        if let rejection = sessionEnd.rejection(in: response) { throw rejection }
        guard StatusCodes.successful.contains(response.status) else { throw error(in: response, now: client.now) }
        do {
            return try fields.tokens(from: response)
        } catch {
            // This does not end the session: a captive portal returns 200 with a page of its own.
            let reason = ContentCodings(response.headers).unsupportedReason
            throw RefreshError(.unreadableResponse, description: reason ?? "\(error)")
        }
    }

    private func error(in response: ServerResponse, now: Date) -> RefreshError {
        let isRedirect = (300..<400).contains(response.status)
        var error = RefreshError(
            isRedirect ? .unreadableResponse : .status(response.status),
            retryAfter: RetryAfter.wait(askedBy: response.head, deviceClock: now),
            description: "the token endpoint responded with \(response.summary)")
        if !isRedirect { error.code = SessionEndRule.codes(in: response).first }
        if error.isExplainedRefusal { error.mayHaveSpentToken = false }
        return error
    }
}
