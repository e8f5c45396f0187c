internal import Martlet
internal import NIOConcurrencyHelpers

/// Refreshes with an endpoint of the app's own client, as many an app does, which signs it where somebody is signed in.
final class Detour: Sendable {
    let client = NIOLockedValueBox<NetworkClient?>(nil)

    private struct Answer: Decodable, Sendable {
        struct Result: Decodable, Sendable {
            let accessToken: String
            let refreshToken: String
        }
        let result: Result
    }

    func refresh(_ bundle: TokenBundle) async throws -> TokenBundle {
        guard let client = client.withLockedValue({ $0 }), let token = bundle.refreshToken else {
            throw RefreshRejection()
        }
        let reissue = AnyCall.post("/auth/reissue", .json(["refreshToken": token.reveal()]))
        let answer = try await client.send(reissue, as: Answer.self).result
        return TokenBundle(accessToken: Secret(answer.accessToken), refreshToken: Secret(answer.refreshToken))
    }
}
