internal import Martlet
internal import NIOConcurrencyHelpers

/// A refresher that calls a refresh endpoint through the app's own client, which would attach the access token to it.
final class ClientRefresher: Sendable {
    let client = NIOLockedValueBox<NetworkClient?>(nil)

    /// The response of the refresh endpoint in the dialect `reissue`.
    private struct Response: Decodable, Sendable {
        struct Result: Decodable, Sendable {
            let accessToken: String
            let refreshToken: String
        }
        let result: Result
    }

    func refresh(_ tokens: Tokens) async throws -> Tokens {
        guard let client = client.withLockedValue({ $0 }), let token = tokens.refreshToken else {
            throw RefreshRejectedError()
        }
        let reissue = AnyCall.post("/auth/reissue", .json(["refreshToken": token.reveal()]))
        let response = try await client.send(reissue, as: Response.self).result
        return Tokens(accessToken: Secret(response.accessToken), refreshToken: Secret(response.refreshToken))
    }
}
