internal import AsyncHTTPClient
internal import Foundation
internal import Martlet
internal import NIOCore
internal import NIOFoundationCompat
internal import NIOHTTP1

/// Both clients, and a way to the server's controls that counts for neither.
struct Connection: Sendable {
    let martlet: MartletClient
    let bare: BareClient
    private let baseURL: String

    /// What the server was asked for since it started.
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

    /// Makes the access token invalid; nobody but the server knows.
    func expire() async throws {
        let _: [String: String] = try await Self.control(.POST, baseURL + "/control/expire")
    }

    func close() async {
        // The process is about to end; what does not close by itself ends with it.
        try? await martlet.transport.shutdown()
        try? await bare.client.shutdown()
    }

    private static func control<Answer: Decodable>(_ method: HTTPMethod, _ url: String) async throws -> Answer {
        var request = HTTPClientRequest(url: url)
        request.method = method
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(10))
        return try JSONDecoder().decode(Answer.self, from: try await response.body.collect(upTo: 1 << 16))
    }
}
