internal import AsyncHTTPClient
internal import Foundation
internal import Martlet
internal import NIOCore
internal import NIOFoundationCompat
internal import NIOHTTP1

/// The server's process and its controls, which are not part of any client's measurement. Its executable is next to
/// this one.
final class Server {
    static let refreshSeconds = 0.05

    let port: Int
    private let dialogue: Dialogue

    struct StartError: Error, CustomStringConvertible {
        let path: String
        var description: String { "cannot start \(path); build all products of the package first" }
    }

    /// The server's counters since its start.
    struct Counters: Decodable, Sendable {
        var accepted: Int
        var refused: Int
        var refreshes: Int
    }

    init(on core: Int? = nil) throws {
        let url = Children.own.deletingLastPathComponent().appendingPathComponent("bench-server")
        guard FileManager.default.isExecutableFile(atPath: url.path) else { throw StartError(path: url.path) }
        dialogue = try Dialogue(url, on: core)
        // The port is the only output.
        guard let port = Int(String(decoding: try dialogue.line(), as: UTF8.self)), port > 0 else {
            throw StartError(path: url.path)
        }
        self.port = port
    }

    func stop() { dialogue.close() }

    func counters() async throws -> Counters {
        try await Self.control(.GET, "counters", port)
    }

    /// Invalidates the access token. The clients do not notice.
    func expire() async throws {
        let _: [String: String] = try await Self.control(.POST, "expire", port)
    }

    static func tokens(port: Int) async throws -> TokenPair {
        try await control(.GET, "tokens", port)
    }

    private static func control<Response: Decodable>(
        _ method: HTTPMethod, _ name: String, _ port: Int
    ) async throws -> Response {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/control/\(name)")
        request.method = method
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        return try JSONDecoder().decode(Response.self, from: try await response.body.collect(upTo: 1 << 16))
    }
}

/// The server's response with its tokens.
struct TokenPair: Decodable, Sendable {
    var accessToken: String
    var refreshToken: String
    var expiresIn: Int

    var tokens: Tokens {
        Tokens(
            accessToken: Secret(accessToken), refreshToken: Secret(refreshToken), lifetime: .seconds(expiresIn))
    }
}

/// Thrown if a response is not what the server should send.
struct UnexpectedResponseError: Error {}
