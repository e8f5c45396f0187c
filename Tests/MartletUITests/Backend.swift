import Martlet
import MartletTesting

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A server that registers guests and refreshes their tokens, together with an app's manager and client.
final class Backend: Sendable {
    let transport: StubTransport
    let tokens: TokenManager
    let client: NetworkClient
    let time: ManualTimeSource

    /// - Parameters:
    ///   - store: The app's token store.
    ///   - response: Overrides the response to a request; `nil` falls through.
    init(
        store: any TokenStore = .inMemory, time: ManualTimeSource = ManualTimeSource(),
        response: @escaping @Sendable (StubTransport.Request) async throws -> StubTransport.Response? = { _ in nil }
    ) {
        transport = StubTransport { request in
            if let response = try await response(request) { return response }
            return switch request.path {
            case "/auth/guest/register":
                .json(
                    #"{"user":{"id":7,"name":"Ada"},"accessToken":"a\#(request.number)","refreshToken":"r\#(request.number)","expiresIn":3600}"#
                )
            case "/auth/refresh":
                .json(
                    #"{"accessToken":"a\#(request.number)","refreshToken":"r\#(request.number)","expiresIn":3600}"#)
            case "/me": request.bearer == nil ? .status(401) : .json("{}")
            default: .status(404)
            }
        }
        self.time = time
        tokens = TokenManager(
            baseURL: "https://api.example.com", store: store, refresher: .json(path: "/auth/refresh"),
            transport: transport, time: time)
        var config = NetworkConfig()
        config.retry = .never
        client = NetworkClient(tokens: tokens, config: config)
    }

    var registrations: [StubTransport.Request] { transport.requests(to: "/auth/guest/register") }
    var refreshes: Int { transport.requests(to: "/auth/refresh").count }
}

extension StoredSession {
    /// A record with a token that is valid for an hour.
    static func fresh(at now: Date) -> StoredSession {
        StoredSession(
            id: SessionID(), tokens: .fresh(), estimatedExpiry: now.addingTimeInterval(3600), lifetime: .seconds(3600),
            account: SessionAccount(userID: "7", isGuest: true))
    }
}
