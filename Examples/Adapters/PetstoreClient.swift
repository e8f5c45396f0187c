// Tests of the adapter for OpenAPI Generator with a client that the generator has written. The adapter and the commands
// that write the client and run these tests are in KeepingTheClientYouHave.md.

import Foundation
import Martlet
import MartletTesting
import PetstoreClient
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("The adapter for OpenAPI Generator", .serialized, .timeLimit(.minutes(2))) struct SessionInterceptorTests {
    @Test("a rejected request is repeated once, with the new token and the same body") func rejection() async throws {
        let (tokens, refreshes) = await Self.signedIn()
        let client = Server.client(SessionInterceptor(tokens: tokens)) { _, token in
            token == "Bearer access-1" ? 401 : 200
        }
        try await PetAPI.addPet(pet: Pet(name: "Rex", photoUrls: []), apiConfiguration: client)
        #expect(Server.tokens == ["Bearer access-1", "Bearer access-2"])
        #expect(try Server.bodies.map { try JSONDecoder().decode(Pet.self, from: $0).name } == ["Rex", "Rex"])
        #expect(await refreshes.count == 1)
    }

    @Test("rejected requests share a refresh") func manyAtOnce() async throws {
        let (tokens, refreshes) = await Self.signedIn()
        let client = Server.client(SessionInterceptor(tokens: tokens)) { _, token in
            token == "Bearer access-1" ? 401 : 200
        }
        try await withThrowingTaskGroup(of: Pet.self) { group in
            for _ in 0..<20 { group.addTask { try await PetAPI.getPetById(petId: 1, apiConfiguration: client) } }
            for try await pet in group { #expect(pet.name == "Rex") }
        }
        #expect(Server.tokens.filter { $0 == "Bearer access-2" }.count == 20)
        #expect(await refreshes.count == 1)
    }

    @Test("a server that rejects every token is asked twice") func rejectsAll() async throws {
        let (tokens, refreshes) = await Self.signedIn()
        let client = Server.client(SessionInterceptor(tokens: tokens)) { _, _ in 401 }
        let failure = try await #require(Self.failure(of: client))
        #expect(failure.status == 401)
        #expect(Server.tokens == ["Bearer access-1", "Bearer access-2"])
        #expect(await refreshes.count == 1)
    }

    @Test("another failure is not repeated") func unavailable() async throws {
        let (tokens, refreshes) = await Self.signedIn()
        let client = Server.client(SessionInterceptor(tokens: tokens)) { _, _ in 503 }
        let failure = try await #require(Self.failure(of: client))
        #expect(failure.status == 503)
        #expect(Server.tokens == ["Bearer access-1"])
        #expect(await refreshes.count == 0)
    }

    @Test("if no token can be had, the operation fails with the rejection") func refreshFails() async throws {
        struct Offline: Error {}
        let refresher = HTTPTokenRefresher.custom { _, _ in throw Offline() }
        let tokens = await TokenManager.signedIn(with: .fresh(1), refresher: refresher)
        let client = Server.client(SessionInterceptor(tokens: tokens)) { _, _ in 401 }
        let failure = try await #require(Self.failure(of: client))
        #expect(failure.status == 401)
        #expect(Server.tokens == ["Bearer access-1"])
    }

    @Test("a token is replaced after an interceptor of the app has repeated the request") func afterAnotherRetry()
        async throws
    {
        let (tokens, refreshes) = await Self.signedIn()
        let client = Server.client(Repeater(next: SessionInterceptor(tokens: tokens)) {}) { number, token in
            number == 1 ? 503 : token == "Bearer access-1" ? 401 : 200
        }
        #expect(try await PetAPI.getPetById(petId: 1, apiConfiguration: client).name == "Rex")
        #expect(Server.tokens == ["Bearer access-1", "Bearer access-1", "Bearer access-2"])
        #expect(await refreshes.count == 1)
    }

    @Test("no attempt goes out after another user has signed in", arguments: [401, 503])
    func anotherUser(status: Int) async throws {
        let (tokens, _) = await Self.signedIn()
        let repeater = Repeater(next: SessionInterceptor(tokens: tokens)) {
            _ = try? await tokens.signIn(with: .fresh(7))
        }
        let failure = try await #require(Self.failure(of: Server.client(repeater) { _, _ in status }))
        #expect(failure.error as? SessionError == .sessionChanged)
        #expect(Server.tokens == ["Bearer access-1"])
    }

    @Test("no attempt goes out after a sign-out", arguments: [401, 503]) func signedOut(status: Int) async throws {
        let (tokens, _) = await Self.signedIn()
        let repeater = Repeater(next: SessionInterceptor(tokens: tokens)) { await tokens.signOut() }
        let failure = try await #require(Self.failure(of: Server.client(repeater) { _, _ in status }))
        #expect(failure.error as? SessionError == .sessionChanged)
        #expect(Server.tokens == ["Bearer access-1"])
    }

    @Test("a login stays without a token, even when it is repeated") func login() async throws {
        let (tokens, _) = await Self.signedIn()
        await tokens.signOut()
        let repeater = Repeater(next: SessionInterceptor(tokens: tokens)) {
            _ = try? await tokens.signIn(with: .fresh(7))
        }
        let client = Server.client(repeater) { number, _ in number == 1 ? 503 : 200 }
        _ = try await UserAPI.loginUser(username: "user", password: "password", apiConfiguration: client)
        #expect(Server.tokens == [nil, nil])
    }

    private actor Refreshes {
        var count = 0
        func add() { count += 1 }
    }

    private static func signedIn() async -> (TokenManager, Refreshes) {
        let refreshes = Refreshes()
        let refresher = HTTPTokenRefresher.custom { _, _ in
            await refreshes.add()
            return .fresh(2)
        }
        return (await TokenManager.signedIn(with: .fresh(1), refresher: refresher), refreshes)
    }

    /// The status and the error with which an operation of the client fails.
    private static func failure(of client: PetstoreClientAPIConfiguration) async -> (status: Int, error: any Error)? {
        do {
            _ = try await PetAPI.getPetById(petId: 1, apiConfiguration: client)
            return nil
        } catch {
            switch error {
            case .error(let status, _, _, let cause): return (status, cause)
            }
        }
    }
}

/// Repeats a request after a 503, as an app's own interceptor may, and leaves the rest to the adapter.
private struct Repeater: OpenAPIInterceptor {
    let next: SessionInterceptor
    /// Runs after each failed attempt.
    let event: @Sendable () async -> Void

    func intercept<T>(
        urlRequest: URLRequest, urlSession: any URLSessionProtocol, requestBuilder: RequestBuilder<T>,
        completion: @Sendable @escaping (Result<URLRequest, any Error>) -> Void
    ) {
        next.intercept(
            urlRequest: urlRequest, urlSession: urlSession, requestBuilder: requestBuilder, completion: completion)
    }

    func retry<T>(
        urlRequest: URLRequest, urlSession: any URLSessionProtocol, requestBuilder: RequestBuilder<T>, data: Data?,
        response: URLResponse?, error: any Error, completion: @Sendable @escaping (OpenAPIInterceptorRetry) -> Void
    ) {
        Task {
            await event()
            if (response as? HTTPURLResponse)?.statusCode == 503 { return completion(.retry) }
            next.retry(
                urlRequest: urlRequest, urlSession: urlSession, requestBuilder: requestBuilder, data: data,
                response: response, error: error, completion: completion)
        }
    }
}

/// Responds to the requests of a client with a status and a pet.
private final class Server: URLProtocol {
    /// The server of the current test. Requests arrive one at a time or on several threads.
    private final class State: @unchecked Sendable {
        private let lock = NSLock()
        private var status: (@Sendable (Int, String?) -> Int)?
        private var requests: [(token: String?, body: Data)] = []

        func start(_ status: @escaping @Sendable (Int, String?) -> Int) {
            lock.withLock { (self.status, requests) = (status, []) }
        }

        func respond(to token: String?, _ body: Data) -> Int {
            let (status, number) = lock.withLock {
                requests.append((token, body))
                return (self.status, requests.count)
            }
            return status?(number, token) ?? 500
        }

        var received: [(token: String?, body: Data)] { lock.withLock { requests } }
    }

    private static let state = State()

    /// The values of `Authorization` so far.
    static var tokens: [String?] { state.received.map(\.token) }

    /// The bodies so far.
    static var bodies: [Data] { state.received.map(\.body) }

    static let session = {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [Server.self]
        return URLSession(configuration: configuration)
    }()

    /// - Parameters:
    ///   - interceptor: The interceptor of the client.
    ///   - status: The status for a request, by its number and the value of `Authorization`.
    static func client(
        _ interceptor: any OpenAPIInterceptor, status: @escaping @Sendable (Int, String?) -> Int
    ) -> PetstoreClientAPIConfiguration {
        state.start(status)
        return PetstoreClientAPIConfiguration(
            basePath: "https://api.example.com", requestBuilderFactory: Builders(), apiResponseQueue: .global(),
            interceptor: interceptor)
    }

    override class func canInit(with request: URLRequest) -> Bool { true }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
    override func stopLoading() {}

    override func startLoading() {
        let status = Self.state.respond(to: request.value(forHTTPHeaderField: "Authorization"), body)
        guard let url = request.url,
            let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: [:])
        else { return }
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client?.urlProtocol(self, didLoad: Data(#"{"name":"Rex","photoUrls":[]}"#.utf8))
        client?.urlProtocolDidFinishLoading(self)
    }

    /// The body of the request, which Apple's `URLSession` passes as a stream.
    private var body: Data {
        guard let stream = request.httpBodyStream else { return request.httpBody ?? Data() }
        stream.open()
        defer { stream.close() }
        var (body, part) = (Data(), [UInt8](repeating: 0, count: 1024))
        while case let count = stream.read(&part, maxLength: part.count), count > 0 { body += part[..<count] }
        return body
    }
}

/// The builders of the generated client with the app's own session, which here is the one that the server responds to.
private struct Builders: RequestBuilderFactory {
    func getNonDecodableBuilder<T>() -> RequestBuilder<T>.Type { Builder<T>.self }
    func getBuilder<T: Decodable>() -> RequestBuilder<T>.Type { DecodableBuilder<T>.self }

    private final class Builder<T: Sendable>: URLSessionRequestBuilder<T>, @unchecked Sendable {
        override func createURLSession() -> any URLSessionProtocol { Server.session }
    }

    private final class DecodableBuilder<T: Decodable & Sendable>: URLSessionDecodableRequestBuilder<T>,
        @unchecked Sendable
    {
        override func createURLSession() -> any URLSessionProtocol { Server.session }
    }
}
