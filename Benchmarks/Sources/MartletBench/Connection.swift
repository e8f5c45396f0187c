internal import AsyncHTTPClient
internal import Foundation
internal import Martlet
internal import NIOCore
internal import NIOFoundationCompat
internal import NIOHTTP1

/// Both clients of a server, and access to the server's controls that is not counted for either.
struct Connection: Sendable {
    let martlet: MartletClient
    let bare: BareClient
    private let baseURL: String

    /// The server's counters since its start.
    struct Counters: Decodable, Sendable {
        var accepted: Int
        var refused: Int
        var refreshes: Int
    }

    init(to port: Int) async throws {
        baseURL = "http://127.0.0.1:\(port)"
        let pair: TokenPair = try await Self.control(.GET, baseURL + "/control/tokens")
        bare = BareClient(baseURL: baseURL, tokens: pair)
        martlet = try await MartletClient(baseURL: baseURL, tokens: pair)
    }

    func counters() async throws -> Counters {
        try await Self.control(.GET, baseURL + "/control/counters")
    }

    /// Invalidates the access token at the server. The clients do not notice.
    func expire() async throws {
        let _: [String: String] = try await Self.control(.POST, baseURL + "/control/expire")
    }

    func close() async {
        // Errors do not matter: the process is about to exit.
        try? await martlet.transport.shutdown()
        try? await bare.client.shutdown()
    }

    private static func control<Response: Decodable>(_ method: HTTPMethod, _ url: String) async throws -> Response {
        var request = HTTPClientRequest(url: url)
        request.method = method
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(10))
        return try JSONDecoder().decode(Response.self, from: try await response.body.collect(upTo: 1 << 16))
    }
}
