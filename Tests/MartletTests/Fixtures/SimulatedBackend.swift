import Foundation
import MartletTesting
import Testing

@testable import Martlet

/// An in-memory server with rotating refresh tokens and reuse detection that counts its requests.
final class SimulatedBackend: Sendable {
    /// The tokens that the server has issued, accepts and has replaced, and its counters.
    struct State {
        var validAccess: Set<String> = []
        var currentRefresh: String?
        var spentRefresh: Set<String> = []
        /// Whether the last replaced token is accepted once more; its successor is issued again.
        var grantsGrace = false
        var replaced: String?
        var lastNumber = 0
        var issued: Set<String> = []
        var refreshCalls = 0
        var reuseDetected = 0
        var calls: [String: Int] = [:]
        var rejections = 0
        var revoked: [String] = []
        var lifetime: Int? = 3600
    }

    typealias Override = @Sendable (StubTransport.Request) async throws -> StubTransport.Response?

    let state = Locked(State())
    private let beforeRefresh = Locked<Override?>(nil)
    private let afterRefresh = Locked<Override?>(nil)
    private let beforeCall = Locked<Override?>(nil)
    private let beforeLogout = Locked<Override?>(nil)

    var transport: StubTransport {
        StubTransport { try await self.respond($0) }
    }

    /// Issues the first pair of tokens, as a sign-in does.
    func issue() -> Tokens {
        state.withLock { issue(&$0) }
    }

    private func issue(_ state: inout State) -> Tokens {
        state.lastNumber += 1
        let number = state.lastNumber
        state.validAccess.insert("access-\(number)")
        state.issued.formUnion(["access-\(number)", "refresh-\(number)"])
        state.currentRefresh = "refresh-\(number)"
        return Tokens(
            accessToken: Secret("access-\(number)"), refreshToken: Secret("refresh-\(number)"),
            lifetime: state.lifetime.map { .seconds($0) })
    }

    /// Checks that a log line contains none of the issued tokens.
    func expectNoToken(in line: String) {
        let leaked = state.withLock { state in state.issued.filter { line.contains($0) } }
        #expect(leaked.isEmpty, "\(line)")
    }

    /// Rejects every access token issued so far.
    func invalidateAccessTokens() {
        state.withLock { $0.validAccess = [] }
    }

    /// Invalidates the refresh token.
    func revokeSession() {
        state.withLock { $0.currentRefresh = nil }
    }

    /// Overrides the response to a refresh before anything is committed. `nil` falls through.
    func beforeRefresh(_ override: Override?) { beforeRefresh.withLock { $0 = override } }
    /// Overrides the response to a refresh after it was committed. `nil` falls through.
    func afterRefresh(_ override: Override?) { afterRefresh.withLock { $0 = override } }
    /// Overrides the response to a revocation. `nil` falls through.
    func beforeLogout(_ override: Override?) { beforeLogout.withLock { $0 = override } }
    /// Overrides the response to any other call. `nil` falls through.
    func beforeCall(_ override: Override?) { beforeCall.withLock { $0 = override } }

    /// Commits the next `count` refreshes and loses their responses.
    func loseResponses(_ count: Int) {
        let left = Locked(count)
        afterRefresh { _ in
            let isLost = left.withLock { left in
                left -= 1
                return left >= 0
            }
            if isLost { throw TransportError.connectionLost("reset by peer") }
            return nil
        }
    }

    var refreshCalls: Int { state.withLock { $0.refreshCalls } }
    var reuseDetected: Int { state.withLock { $0.reuseDetected } }
    var rejections: Int { state.withLock { $0.rejections } }
    var revoked: [String] { state.withLock { $0.revoked } }
    func calls(to path: String) -> Int { state.withLock { $0.calls[path] ?? 0 } }

    private func respond(_ request: StubTransport.Request) async throws -> StubTransport.Response {
        let path = String(request.path.prefix { $0 != "?" })
        switch path {
        case "/auth/refresh": return try await refresh(request)
        case "/auth/logout":
            if let response = try await beforeLogout.withLock({ $0 })?(request) { return response }
            state.withLock { $0.revoked.append(String(decoding: request.body, as: UTF8.self)) }
            return .status(204)
        default: break
        }
        state.withLock { $0.calls[path, default: 0] += 1 }
        if let response = try await beforeCall.withLock({ $0 })?(request) { return response }
        let isValid = state.withLock { state in
            let isValid = request.bearer.map { state.validAccess.contains($0) } ?? false
            if !isValid { state.rejections += 1 }
            return isValid
        }
        guard isValid || path.hasPrefix("/public") else {
            return .json(#"{"message":"who are you?"}"#, status: 401, headers: [.wwwAuthenticate: "Bearer"])
        }
        return .json(#"{"path":"\#(path)","token":"\#(request.bearer == nil ? "none" : "seen")"}"#)
    }

    private func refresh(_ request: StubTransport.Request) async throws -> StubTransport.Response {
        state.withLock { $0.refreshCalls += 1 }
        if let response = try await beforeRefresh.withLock({ $0 })?(request) { return response }
        struct Body: Decodable { let refreshToken: String }
        let token = try JSONDecoder().decode(Body.self, from: request.body).refreshToken
        let response = state.withLock { state -> StubTransport.Response in
            if state.grantsGrace, token == state.replaced {
                state.currentRefresh = token
            } else if state.spentRefresh.contains(token) {
                state.reuseDetected += 1
                state.currentRefresh = nil
            }
            guard state.currentRefresh == token else {
                return .json(#"{"error":"invalid_grant"}"#, status: 401)
            }
            state.spentRefresh.insert(token)
            state.replaced = token
            let tokens = issue(&state)
            let expiry = state.lifetime.map { #","expiresIn":\#($0)"# } ?? ""
            return .json(
                #"{"accessToken":"\#(tokens.accessToken.reveal())","refreshToken":"\#(tokens.refreshToken?.reveal() ?? "")"\#(expiry)}"#
            )
        }
        return try await afterRefresh.withLock { $0 }?(request) ?? response
    }
}

/// The response of the simulated backend to a call.
struct Echo: Decodable, Sendable, Hashable {
    var path: String
    var token: String
}

/// A GET request of a path.
struct Get: APIEndpoint {
    var path: RequestPath
    var authentication: AuthenticationRequirement = .required
    init(_ path: String, _ authentication: AuthenticationRequirement = .required) {
        self.path = RequestPath(setting: path)
        self.authentication = authentication
    }
}

/// A manager and a client over a simulated backend, with clocks that a test advances.
struct App {
    let backend: SimulatedBackend
    let time: ManualTimeSource
    let tokens: TokenManager
    let client: NetworkClient
    let transport: StubTransport

    init(
        _ backend: SimulatedBackend = SimulatedBackend(), store: any TokenStore = .inMemory,
        time: ManualTimeSource = ManualTimeSource(), rejection: AccessTokenRejectionRule = .unauthorized,
        policy: SessionPolicy = SessionPolicy(), _ configure: (inout NetworkConfig) -> Void = { _ in }
    ) {
        self.backend = backend
        self.time = time
        transport = backend.transport
        tokens = TokenManager(
            baseURL: "https://api.example.com", store: store, refresher: .json(path: "/auth/refresh"),
            revoker: .json(path: "/auth/logout"), accessTokenRejection: rejection, policy: policy, transport: transport,
            time: time,
            random: { $0.upperBound })
        var config = NetworkConfig()
        config.retry = RetryPolicy(random: { $0.upperBound })
        let log = LogObserver(level: .debug) { [backend] line in backend.expectNoToken(in: "\(line)") }
        log.follow(tokens)
        config.observers = [log, .curl { [backend] line in backend.expectNoToken(in: line) }]
        configure(&config)
        client = NetworkClient(tokens: tokens, config: config)
    }

    static func signedIn(
        _ backend: SimulatedBackend = SimulatedBackend(), store: any TokenStore = .inMemory,
        rejection: AccessTokenRejectionRule = .unauthorized, policy: SessionPolicy = SessionPolicy(),
        _ configure: (inout NetworkConfig) -> Void = { _ in }
    ) async throws -> App {
        let app = App(backend, store: store, rejection: rejection, policy: policy, configure)
        try await app.tokens.signIn(with: backend.issue())
        return app
    }

    /// Sends `count` calls at once and returns their results.
    func burst(_ count: Int, _ path: String = "/me") async -> [Result<Echo, NetworkError>] {
        await withTaskGroup(of: Result<Echo, NetworkError>.self) { group in
            for _ in 0..<count { group.addTask { await self.call(path) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    func call(_ path: String = "/me") async -> Result<Echo, NetworkError> {
        do throws(NetworkError) {
            return .success(try await client.send(Get(path)))
        } catch {
            return .failure(error)
        }
    }
}

extension Result {
    var error: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }

    var isSuccess: Bool { error == nil }
}

extension [Result<Echo, NetworkError>] {
    var allSucceeded: Bool { allSatisfy { $0.isSuccess } }
}
