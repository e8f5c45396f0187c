internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// The same calls with `URLSession` alone.
struct URLSessionCaller: Caller {
    private let session: BenchSession
    private let token: String
    private let decoder = JSONDecoder()

    init(_ baseURL: String, _ tokens: TokenPair, connections: Int) {
        session = BenchSession(baseURL, connections: connections)
        token = tokens.accessToken
    }

    func page(at path: String) async throws -> Page {
        let (body, status) = try await session.get(path, token: token)
        guard status == 200 else { throw UnexpectedResponseError() }
        return try decoder.decode(Page.self, from: body)
    }
}

/// The client that an app writes without a library: an actor that holds the tokens, lets one task refresh them after a
/// 401, and sends the request again.
actor HandWrittenCaller: Caller {
    private let session: BenchSession
    private let decoder = JSONDecoder()
    private var tokens: TokenPair
    private var refresh: Task<TokenPair, any Error>?

    init(_ baseURL: String, _ tokens: TokenPair, connections: Int) {
        session = BenchSession(baseURL, connections: connections)
        self.tokens = tokens
    }

    func page(at path: String) async throws -> Page {
        let token = tokens.accessToken
        var (body, status) = try await session.get(path, token: token)
        if status == 401 {
            if tokens.accessToken == token { try await renew() }
            (body, status) = try await session.get(path, token: tokens.accessToken)
        }
        guard status == 200 else { throw UnexpectedResponseError() }
        return try decoder.decode(Page.self, from: body)
    }

    private func renew() async throws {
        let task = refresh ?? Task { [session, tokens] in try await session.refresh(tokens) }
        refresh = task
        defer { refresh = nil }
        tokens = try await task.value
    }
}

/// A `URLSession` with the settings that all its clients share.
private struct BenchSession: Sendable {
    private let session: URLSession
    private let baseURL: String

    init(_ baseURL: String, connections: Int) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = connections
        configuration.timeoutIntervalForRequest = 30
        session = URLSession(configuration: configuration)
        self.baseURL = baseURL
    }

    func get(_ path: String, token: String) async throws -> (Data, Int) {
        var request = try request(path)
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        return try await send(request)
    }

    func refresh(_ tokens: TokenPair) async throws -> TokenPair {
        var request = try request("/auth/refresh")
        request.httpMethod = "POST"
        request.httpBody = try JSONEncoder().encode(["refreshToken": tokens.refreshToken])
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        let (body, status) = try await send(request)
        guard status == 200 else { throw UnexpectedResponseError() }
        return try JSONDecoder().decode(TokenPair.self, from: body)
    }

    private func request(_ path: String) throws -> URLRequest {
        guard let url = URL(string: baseURL + path) else { throw UnexpectedResponseError() }
        return URLRequest(url: url)
    }

    private func send(_ request: URLRequest) async throws -> (Data, Int) {
        let (body, response) = try await session.data(for: request)
        return (body, (response as? HTTPURLResponse)?.statusCode ?? 0)
    }
}
