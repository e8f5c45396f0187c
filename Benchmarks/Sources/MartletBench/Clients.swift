internal import AsyncHTTPClient
internal import Foundation
internal import Martlet
internal import NIOCore
internal import NIOFoundationCompat
internal import NIOHTTP1
internal import NIOHTTPCompression

/// The response that both clients decode.
struct Page: Decodable, Sendable {
    struct Item: Decodable, Sendable {
        var id: Int
        var name: String
        var price: Double
        var inStock: Bool
    }

    var page: Int
    var items: [Item]
}

/// Typed calls with Martlet, with default settings.
struct MartletClient: Sendable {
    struct GetPage: APIRequest {
        typealias Response = Page
        let number: Int

        var path: String { "/items/\(number)" }
        var authentication: AuthenticationRequirement { .required }
    }

    let transport: AsyncHTTPClientTransport
    private let client: NetworkClient

    init(baseURL: String, tokens pair: TokenPair) async throws {
        transport = AsyncHTTPClientTransport()
        let tokens = TokenManager(
            baseURL: BaseURL(baseURL), store: .inMemory, refresher: .json(path: "/auth/refresh"), transport: transport)
        try await tokens.signIn(with: pair.bundle)
        client = NetworkClient(tokens: tokens)
    }

    func page(_ number: Int) async throws -> Page {
        try await client.send(GetPage(number: number))
    }
}

/// The same calls with async-http-client alone: the same options, the same request and a time limit like Martlet's.
struct BareClient: Sendable {
    let client: HTTPClient
    private let baseURL: String
    private let authorization: String
    private let decoder = JSONDecoder()

    init(baseURL: String, tokens pair: TokenPair) {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: .seconds(30)),
            decompression: .enabled(limit: .ratio(200)))
        configuration.connectionPool.retryConnectionEstablishment = false
        client = HTTPClient(configuration: configuration)
        self.baseURL = baseURL
        authorization = "Bearer \(pair.accessToken)"
    }

    func page(_ number: Int) async throws -> Page {
        var request = HTTPClientRequest(url: "\(baseURL)/items/\(number)")
        request.headers.add(name: "Accept", value: "application/json")
        request.headers.add(name: "Authorization", value: authorization)
        request.headers.add(name: "Accept-Encoding", value: "gzip, deflate")
        let response = try await client.execute(request, timeout: .seconds(30))
        let body = try await response.body.collect(upTo: 64 << 20)
        guard response.status == .ok else { throw UnexpectedResponseError() }
        return try decoder.decode(Page.self, from: body)
    }
}

/// The server's response with its tokens.
struct TokenPair: Decodable, Sendable {
    var accessToken: String
    var refreshToken: String
    var expiresIn: Int

    var bundle: TokenBundle {
        TokenBundle(
            accessToken: Secret(accessToken), refreshToken: Secret(refreshToken), lifetime: .seconds(expiresIn))
    }
}
