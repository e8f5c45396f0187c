import Martlet

/// The name of a token: `r2.1` is the refresh token that the second sign-in got with its first refresh.
struct TokenName: Hashable {
    let family: Int
    let number: Int

    init(family: Int, number: Int) {
        self.family = family
        self.number = number
    }

    init?(_ token: Secret?) {
        guard let parts = token?.reveal().dropFirst().split(separator: "."), parts.count == 2,
            let family = Int(parts[0]), let number = Int(parts[1])
        else { return nil }
        self.init(family: family, number: number)
    }

    var access: Secret { Secret("a\(family).\(number)") }
    var refresh: Secret { Secret("r\(family).\(number)") }
    var text: String { "\(family).\(number)" }
}

/// A server with rotating refresh tokens that detects their reuse.
///
/// `@unchecked Sendable`: a search runs on one thread.
final class SearchServer: @unchecked Sendable {
    /// A session at the server, from sign-in to its end.
    struct Family {
        /// The number of the newest token.
        var current = 0
        var end: End?
        var issuedAt: [Duration]
        /// The time at which the newest token replaced the one before it.
        var replacedAt: Duration?
    }

    /// The reason why a session has ended at the server.
    enum End: Hashable { case withdrawn, reuse, revoked, signedOutElsewhere }

    /// A refresh token or a response in transit.
    struct Exchange {
        let id: Int
        let token: TokenName
        var isAbandoned = false
        let continuation: UnsafeContinuation<Result<Tokens, any Error>, Never>
    }

    /// The response of the server or the network to a refresh.
    enum Outcome: Hashable, CaseIterable {
        /// New tokens, or a refusal if the token is spent or the session is over.
        case answers
        /// The server ends the session.
        case refuses
        case isBusy
        /// The server is busy, and says for how long.
        case asksToWait
        /// The request never reached the server.
        case isOffline
        /// The connection broke before the server processed the request.
        case losesRequest
        /// The server issued new tokens, and the response is lost.
        case losesResponse
    }

    static let retryAfter = Duration.seconds(120)
    private static let busy = RefreshError(.status(503), description: "busy")
    private static let waiting = RefreshError(.status(503), retryAfter: retryAfter, description: "busy")
    private static let offline = RefreshError(.offline, description: "offline")
    private static let lost = RefreshError(.connection, description: "the connection was lost")

    let setting: Setting
    let clock: SearchClock
    var families: [Family] = []
    var exchanges: [Exchange] = []
    private var lastID = 0

    init(_ setting: Setting, clock: SearchClock) {
        self.setting = setting
        self.clock = clock
    }

    subscript(family: Int) -> Family {
        get { families[family - 1] }
        set { families[family - 1] = newValue }
    }

    /// The tokens of a new sign-in.
    func signIn() -> TokenName {
        clock.userActions += 1
        families.append(Family(issuedAt: [clock.uptime]))
        return TokenName(family: families.count, number: 0)
    }

    /// The tokens for a name. A token that is issued again within the grace period keeps its expiry.
    func tokens(_ token: TokenName) -> Tokens {
        Tokens(
            accessToken: token.access, refreshToken: setting.hasRefreshToken ? token.refresh : nil,
            lifetime: expiry(of: token).map { $0 - clock.uptime })
    }

    /// The time at which an access token expires; `nil` if the process cannot know it.
    func expiry(of token: TokenName) -> Duration? {
        guard let lifetime = setting.lifetime, self[token.family].issuedAt.indices.contains(token.number) else {
            return nil
        }
        return self[token.family].issuedAt[token.number] + lifetime
    }

    func isWithinGrace(_ token: TokenName) -> Bool {
        let family = self[token.family]
        guard setting.hasGrace, token.number == family.current - 1, let replacedAt = family.replacedAt else {
            return false
        }
        return clock.uptime - replacedAt <= Setting.grace
    }

    func accepts(_ token: TokenName) -> Bool {
        self[token.family].end == nil && (token.number == self[token.family].current || isWithinGrace(token))
    }

    /// Exchanges a refresh token.
    /// - Returns: The new token; `nil` if the server refuses, which ends the session.
    func spend(_ token: TokenName) -> TokenName? {
        guard accepts(token) else {
            if self[token.family].end == nil { self[token.family].end = .reuse }
            return nil
        }
        if token.number == self[token.family].current {
            self[token.family].current += 1
            self[token.family].issuedAt.append(clock.uptime)
            self[token.family].replacedAt = clock.uptime
        }
        return TokenName(family: token.family, number: self[token.family].current)
    }

    func park(_ token: TokenName, _ continuation: UnsafeContinuation<Result<Tokens, any Error>, Never>) {
        lastID += 1
        exchanges.append(Exchange(id: lastID, token: token, continuation: continuation))
    }

    var nextID: Int { lastID + 1 }

    func abandon(_ id: Int) {
        guard let index = exchanges.firstIndex(where: { $0.id == id }) else { return }
        exchanges[index].isAbandoned = true
    }

    /// Completes an exchange.
    /// - Returns: The new token that the process receives, and whether the server refused.
    func complete(_ exchange: Exchange, _ outcome: Outcome) -> (received: TokenName?, isRefused: Bool) {
        let result: Result<Tokens, any Error>
        var answer: (received: TokenName?, isRefused: Bool) = (nil, false)
        switch outcome {
        case .answers:
            answer.received = spend(exchange.token)
            answer.isRefused = answer.received == nil
            result = answer.received.map { .success(tokens($0)) } ?? .failure(RefreshRejectedError())
        case .refuses:
            self[exchange.token.family].end = .withdrawn
            answer.isRefused = true
            result = .failure(RefreshRejectedError())
        case .isBusy: result = .failure(Self.busy)
        case .asksToWait: result = .failure(Self.waiting)
        case .isOffline: result = .failure(Self.offline)
        case .losesRequest: result = .failure(Self.lost)
        case .losesResponse:
            _ = spend(exchange.token)
            result = .failure(Self.lost)
        }
        exchange.continuation.resume(returning: result)
        return answer
    }
}
