// Tests of the adapter for Alamofire with Alamofire itself. `make adapters` compiles them together with the adapter in
// KeepingTheClientYouHave.md.

import Alamofire
import Foundation
import Martlet
import MartletTesting
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("The adapter for Alamofire", .serialized, .timeLimit(.minutes(10))) struct SessionKeeperTests {
    @Test("rejected requests share a refresh, and are repeated with the new token") func rejection() async throws {
        let (tokens, refreshes) = await Self.signedIn()
        let status: @Sendable (Int, String?) -> Int = { _, token in token == "Bearer access-1" ? 401 : 200 }
        let session = Server.session(SessionKeeper(tokens: tokens), status: status)
        await withTaskGroup(of: Int?.self) { group in
            for _ in 0..<20 { group.addTask { await session.status { $0.validate() } } }
            for await status in group { #expect(status == 200) }
        }
        #expect(await refreshes.count == 1)
    }

    @Test("a token is replaced after another retrier has repeated the request") func afterAnotherRetry() async throws {
        let (tokens, refreshes) = await Self.signedIn()
        let status: @Sendable (Int, String?) -> Int = { number, token in
            number == 1 ? 503 : token == "Bearer access-1" ? 401 : 200
        }
        let keeper = SessionKeeper(tokens: tokens)
        let retrier = Retrier { request, _, _, completion in
            completion(request.response?.statusCode == 503 ? .retry : .doNotRetry)
        }
        let session = Server.session(Interceptor(adapters: [keeper], retriers: [keeper, retrier]), status: status)
        #expect(await session.status { $0.validate() } == 200)
        #expect(Server.tokens == ["Bearer access-1", "Bearer access-1", "Bearer access-2"])
        #expect(await refreshes.count == 1)
    }

    @Test("a server that rejects every token is asked twice") func rejectsAll() async throws {
        let (tokens, refreshes) = await Self.signedIn()
        let status: @Sendable (Int, String?) -> Int = { _, _ in 401 }
        #expect(await Server.session(SessionKeeper(tokens: tokens), status: status).status { $0.validate() } == 401)
        #expect(Server.tokens.count == 2)
        #expect(await refreshes.count == 1)
    }

    @Test("a retry because of an undecodable response stays with its user") func afterSerialization() async throws {
        let (tokens, _) = await Self.signedIn()
        let status: @Sendable (Int, String?) -> Int = { _, _ in 200 }
        let retrier = Retrier { request, _, error, completion in
            guard request.retryCount == 0, error.asAFError?.isResponseSerializationError == true else {
                return completion(.doNotRetry)
            }
            Task {
                // Another user signs in before the request is repeated.
                _ = try? await tokens.signIn(with: .fresh(7))
                completion(.retry)
            }
        }
        let keeper = SessionKeeper(tokens: tokens)
        let session = Server.session(Interceptor(adapters: [keeper], retriers: [keeper, retrier]), status: status)
        let result = await session.request(Server.url).serializingDecodable([Int].self).response.result
        #expect(Server.tokens == ["Bearer access-1"])
        guard case .failure(.requestAdaptationFailed(let error)) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(error as? SessionError == .sessionChanged)
    }

    @Test("a rejection that no validator sees is found when the response cannot be decoded") func withoutValidation()
        async throws
    {
        let (tokens, _) = await Self.signedIn()
        let status: @Sendable (Int, String?) -> Int = { _, token in token == "Bearer access-1" ? 401 : 204 }
        let session = Server.session(SessionKeeper(tokens: tokens), status: status)
        let response = await session.request(Server.url).serializingDecodable(Empty.self).response
        #expect(response.response?.statusCode == 204 && response.error == nil)
    }

    @Test("a keeper that is passed with single requests works, too") func singleRequests() async throws {
        let (tokens, refreshes) = await Self.signedIn()
        let status: @Sendable (Int, String?) -> Int = { _, token in token == "Bearer access-1" ? 401 : 200 }
        let (session, keeper) = (Server.session(nil, status: status), SessionKeeper(tokens: tokens))
        #expect(await session.status(keeper) { $0.validate() } == 200)
        #expect(await session.status(keeper) { $0.validate() } == 200)
        #expect(await refreshes.count == 1)
    }

    @Test("a login stays without a token, even when it is repeated") func login() async throws {
        let (tokens, _) = await Self.signedIn()
        await tokens.signOut()
        let status: @Sendable (Int, String?) -> Int = { number, _ in number == 1 ? 503 : 200 }
        let keeper = SessionKeeper(tokens: tokens)
        let retrier = Retrier { request, _, _, completion in
            guard request.retryCount == 0 else { return completion(.doNotRetry) }
            Task {
                _ = try? await tokens.signIn(with: .fresh(7))
                completion(.retry)
            }
        }
        let session = Server.session(Interceptor(adapters: [keeper], retriers: [keeper, retrier]), status: status)
        #expect(await session.status { $0.validate() } == 200)
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
}

extension Alamofire.Session {
    fileprivate func status(
        _ interceptor: (any Alamofire.RequestInterceptor)? = nil, _ configure: (DataRequest) -> DataRequest
    ) async -> Int? {
        await configure(request(Server.url, interceptor: interceptor)).serializingData(emptyResponseCodes: [200])
            .response
            .response?.statusCode
    }
}

/// Responds to the requests of a session with a status and without a body.
private final class Server: URLProtocol {
    static let url = "https://api.example.com/me"

    /// The server of the current test. Requests arrive one at a time or on several threads.
    private final class State: @unchecked Sendable {
        private let lock = NSLock()
        private var status: (@Sendable (Int, String?) -> Int)?
        private var tokens: [String?] = []

        func start(_ status: @escaping @Sendable (Int, String?) -> Int) {
            lock.withLock { (self.status, tokens) = (status, []) }
        }

        func respond(to token: String?) -> Int {
            let (status, number) = lock.withLock {
                tokens.append(token)
                return (self.status, tokens.count)
            }
            return status?(number, token) ?? 500
        }

        var received: [String?] { lock.withLock { tokens } }
    }

    private static let state = State()

    /// The values of `Authorization` so far.
    static var tokens: [String?] { state.received }

    /// - Parameters:
    ///   - status: The status for a request, by its number and the value of `Authorization`.
    ///   - interceptor: The interceptor of the session.
    static func session(
        _ interceptor: (any Alamofire.RequestInterceptor)?, status: @escaping @Sendable (Int, String?) -> Int
    ) -> Alamofire.Session {
        state.start(status)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [Server.self]
        return Alamofire.Session(configuration: configuration, interceptor: interceptor)
    }

    override class func canInit(with request: URLRequest) -> Bool { true }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
    override func stopLoading() {}

    override func startLoading() {
        let status = Self.state.respond(to: request.value(forHTTPHeaderField: "Authorization"))
        guard let url = request.url,
            let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: [:])
        else { return }
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client?.urlProtocolDidFinishLoading(self)
    }
}
