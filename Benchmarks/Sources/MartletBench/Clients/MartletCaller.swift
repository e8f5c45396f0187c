internal import Foundation
internal import Martlet
internal import MartletJSON

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Typed calls with Martlet, with default settings except for those of the lane.
struct MartletCaller: Caller {
    private struct GetPage: APIRequest {
        typealias Response = Page
        let path: RequestPath
        var authentication: AuthenticationRequirement { .required }
    }

    /// An interceptor with the default of every hook.
    private struct Bystander: RequestInterceptor {}

    private let client: NetworkClient

    init(_ lane: Lane, _ baseURL: String, _ pair: TokenPair) async throws {
        let transport: any Transport
        if lane.client == .martletURLSession {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpMaximumConnectionsPerHost = lane.connections
            transport = URLSessionTransport(configuration: configuration)
        } else {
            transport = AsyncHTTPClientTransport(maximumConnectionsPerHost: lane.connections)
        }
        let tokens = TokenManager(
            baseURL: BaseURL(baseURL), store: .inMemory, refresher: .json(path: "/auth/refresh"), transport: transport)
        try await tokens.signIn(with: pair.tokens)
        var config = NetworkConfig()
        if lane.client == .martletJSON { config.decoder = MartletJSONDecoder() }
        config.interceptors = Array(repeating: Bystander(), count: lane.interceptors)
        client = NetworkClient(tokens: tokens, config: config)
    }

    func page(at path: String) async throws -> Page {
        try await client.send(GetPage(path: "\(raw: path)"))
    }
}
