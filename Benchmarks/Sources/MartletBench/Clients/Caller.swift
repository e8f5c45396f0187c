internal import Martlet

/// A client that makes the benchmark's call: a GET with a token, whose response is decoded.
protocol Caller: Sendable {
    func page(at path: String) async throws -> Page
}

/// The response that all clients decode.
struct Page: Decodable, Sendable {
    struct Item: Decodable, Sendable {
        var id: Int
        var name: String
        var price: Double
        var ok: Bool
    }

    var page: Int
    var items: [Item]
}

/// One client with its load: a row of a table. It runs in a process of its own.
struct Lane: Hashable, Sendable {
    var client: ClientName
    /// The number of calls at once, and of connections to the server.
    var concurrency = 1
    var connections = 8
    /// The number of structs in a response.
    var items = Lane.ordinaryItems
    /// The number of interceptors that do nothing. Martlet's clients only.
    var interceptors = 0

    /// 915 bytes.
    static let ordinaryItems = 20

    var arguments: [String] {
        [
            client.rawValue, "--concurrency", "\(concurrency)", "--connections", "\(connections)", "--items",
            "\(items)",
            "--interceptors", "\(interceptors)",
        ]
    }

    /// The path of a call. The server has 64 ordinary pages.
    func path(_ number: Int) -> String {
        items == Self.ordinaryItems ? "/items/\(number % 64)" : "/pages/\(items)"
    }

    func caller(to port: Int, _ tokens: TokenPair) async throws -> any Caller {
        let baseURL = "http://127.0.0.1:\(port)"
        return switch client {
        case .martlet, .martletJSON, .martletURLSession: try await MartletCaller(self, baseURL, tokens)
        case .bare: BareCaller(baseURL, tokens, connections: connections)
        case .bareURLSession: URLSessionCaller(baseURL, tokens, connections: connections)
        case .actor: HandWrittenCaller(baseURL, tokens, connections: connections)
        }
    }
}
