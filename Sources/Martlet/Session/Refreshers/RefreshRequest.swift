internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// One dialect of a refresh request, as data: how the request looks and how its response is read.
struct RefreshRequest: Sendable {
    let path: String
    let method: HTTPRequest.Method
    let placement: TokenPlacement
    let accessTokenScheme: AuthenticationScheme?
    let terminalStatuses: StatusCodes
    let terminalCodes: Set<String>

    /// Sends the refresh token to the token endpoint and reads the new tokens from the fields of the response.
    func send(
        _ bundle: TokenBundle, over client: TokenEndpointClient, reading fields: TokenFields
    ) async throws -> TokenBundle {
        guard let refreshToken = bundle.refreshToken else { throw RefreshRejectedError() }
        var headers = HTTPFields()
        accessTokenScheme?.sign(&headers, with: bundle.accessToken)
        let parameters: Query = ["grant_type": "refresh_token", "refresh_token": refreshToken.reveal()]
        let body = try placement.place(refreshToken, parameters: parameters, headers: &headers)
        let response = try await client.send(method, path, headers: headers, body: body)
        guard StatusCodes.successful.contains(response.status) else { throw error(in: response, now: client.now) }
        do {
            return try fields.bundle(from: response)
        } catch {
            // Not terminal: a captive portal returns 200 with its own page.
            throw RefreshError(.unreadableResponse, description: "\(error)")
        }
    }

    /// Decides whether an unsuccessful response ends the session: a terminal code with a 400 or 401, or a terminal
    /// status. Everything else is transient.
    private func error(in response: ServerResponse, now: Date) -> any Error {
        let json = JSONValue(body: response.body)
        let code = json?["error"]?.string ?? json?["code"]?.string
        if let code, terminalCodes.contains(code), response.status == 400 || response.status == 401 {
            return RefreshRejectedError(code: code)
        }
        if terminalStatuses.contains(response.status) { return RefreshRejectedError(code: code) }
        let isRedirect = (300..<400).contains(response.status)
        return RefreshError(
            isRedirect ? .unreadableResponse : .status(response.status),
            retryAfter: RetryAfter.wait(askedBy: response.head, deviceClock: now),
            description: "the token endpoint responded with \(response)")
    }
}
