internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOFoundationCompat
internal import NIOHTTP1
internal import NIOHTTPCompression

/// The same calls with async-http-client alone: the same options, the same request and a time limit like Martlet's.
final class BareCaller: Caller {
    private let client: HTTPClient
    private let baseURL: String
    private let authorization: String
    private let decoder = JSONDecoder()

    init(_ baseURL: String, _ tokens: TokenPair, connections: Int) {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: .seconds(30)),
            decompression: .enabled(limit: .ratio(200)))
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections
        client = HTTPClient(configuration: configuration)
        self.baseURL = baseURL
        authorization = "Bearer \(tokens.accessToken)"
    }

    deinit {
        // HTTPClient traps if it is released without a shutdown.
        client.shutdown { _ in }
    }

    func page(at path: String) async throws -> Page {
        var request = HTTPClientRequest(url: baseURL + path)
        request.headers.add(name: "Accept", value: "application/json")
        request.headers.add(name: "Authorization", value: authorization)
        request.headers.add(name: "Accept-Encoding", value: "gzip, deflate")
        let response = try await client.execute(request, timeout: .seconds(30))
        let body = try await response.body.collect(upTo: 64 << 20)
        guard response.status == .ok else { throw UnexpectedResponseError() }
        return try decoder.decode(Page.self, from: body)
    }
}
