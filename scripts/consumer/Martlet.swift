// An app that uses Martlet alone: its token is rejected, refreshed once, and the call succeeds with the new one.
import Foundation
import Martlet

/// A server in a few lines, because the app has no network.
struct Server: Transport {
    func send(
        _ request: HTTPRequest, body: OutgoingBody?
    ) async throws -> (head: HTTPResponse, body: ByteStream) {
        switch (request.path, request.headerFields[.authorization]) {
        case ("/auth/refresh", _): response(200, #"{"access_token":"new","refresh_token":"R2","expires_in":3600}"#)
        case ("/me", "Bearer new"): response(200, #"{"name":"Ada"}"#)
        default: response(401, "{}")
        }
    }

    private func response(_ status: Int, _ json: String) -> (head: HTTPResponse, body: ByteStream) {
        let fields: HTTPFields = [.contentType: "application/json"]
        return (HTTPResponse(status: .init(code: status), headerFields: fields), ByteStream(Data(json.utf8)))
    }
}

struct User: Decodable, Sendable { var name: String }

let tokens = TokenManager(
    baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"), transport: Server())
try await tokens.signIn(with: Tokens(accessToken: "old", refreshToken: "R1", lifetime: .seconds(3600)))
let me = try await NetworkClient(tokens: tokens).send(Call<User>.get("/me", authentication: .required))
print("Hello, \(me.name)!")
