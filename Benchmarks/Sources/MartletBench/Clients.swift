internal import AsyncHTTPClient
internal import Foundation
internal import Martlet
internal import NIOCore
internal import NIOFoundationCompat
internal import NIOHTTP1
internal import NIOHTTPCompression

/// What both sides decode.
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

/// Calls as an app makes them with Martlet, everything at its defaults.
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

/// The same calls written by hand: the same options, the same request on the wire, a time limit like Martlet's.
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
        guard response.status == .ok else { throw WrongAnswer() }
        return try decoder.decode(Page.self, from: body)
    }
}

/// The tokens as the server hands them out.
struct TokenPair: Decodable, Sendable {
    var accessToken: String
    var refreshToken: String
    var expiresIn: Int

    var bundle: TokenBundle {
        TokenBundle(
            accessToken: Secret(accessToken), refreshToken: Secret(refreshToken), lifetime: .seconds(expiresIn))
    }
}
