public import Martlet

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Tokens {
    /// A token pair that expires in one hour by default. The number is part of the tokens, so that tests can tell pairs
    /// apart.
    public static func fresh(_ number: Int = 0, lifetime: Duration = .seconds(3600)) -> Tokens {
        Tokens(
            accessToken: Secret("access-\(number)"), refreshToken: Secret("refresh-\(number)"), lifetime: lifetime)
    }

    /// A token pair whose access token expires after `lifetime`.
    public static func expiring(in lifetime: Duration, _ number: Int = 0) -> Tokens {
        .fresh(number, lifetime: lifetime)
    }

    /// A token pair whose access token has expired, as an app may find in its store at launch.
    ///
    /// Use it with `TokenManager.signedIn(with:)`, or with `.inMemory(.expired())` as the store. `signIn(with:)` treats
    /// the lifetime of such a pair as unknown, because no server issues expired tokens.
    public static func expired(_ number: Int = 0) -> Tokens {
        Tokens(
            accessToken: Secret("access-\(number)"), refreshToken: Secret("refresh-\(number)"),
            expiresAt: Date(timeIntervalSince1970: 0))
    }
}

extension StoredSession {
    /// Creates the record of a session that is stored at `now`.
    /// - Parameters:
    ///   - tokens: The session's tokens, such as `.fresh()`, `.expired()`, `.expiring(in: .seconds(30))`.
    ///   - id: Identifies the session. If `nil`, it gets a new ID.
    ///   - rotation: The number of refreshes since the sign-in.
    ///   - account: The signed-in account.
    ///   - now: The time on the manager's wall clock.
    public init(
        storing tokens: Tokens, id: SessionID? = nil, rotation: Int = 0,
        account: SessionAccount = SessionAccount(), at now: Date
    ) {
        let estimatedExpiry =
            tokens.lifetime.map { now.addingTimeInterval($0.seconds) } ?? tokens.expiresAt
            ?? JWTClaims(tokens.accessToken)?.expiresAt
        // Expired tokens do not say how long they were valid.
        let lifetime =
            TokenLifetime(of: tokens, wallClock: now)?.total ?? tokens.lifetime
            ?? estimatedExpiry.map { _ in .seconds(3600) }
        self.init(
            id: id ?? SessionID(), rotation: rotation, tokens: tokens, estimatedExpiry: estimatedExpiry,
            lifetime: lifetime,
            account: account)
    }

    /// A record whose access token expired one hour before `now`.
    public static func expired(_ tokens: Tokens = .fresh(), at now: Date) -> StoredSession {
        StoredSession(storing: tokens, at: now).expired(at: now)
    }

    /// The same record with an access token that expired one hour before `now`.
    public func expired(at now: Date) -> StoredSession {
        var record = self
        record.estimatedExpiry = now.addingTimeInterval(-3600)
        record.lifetime = record.lifetime ?? .seconds(3600)
        return record
    }

    /// Whether the record contains a refresh journal: a refresh was started, and its result is not stored yet.
    public var hasRefreshJournal: Bool { journal != nil }

    /// The same record without its refresh journal.
    public var withoutRefreshJournal: StoredSession {
        var record = self
        record.journal = nil
        return record
    }
}

extension TokenStore where Self == AnyTokenStore {
    /// An in-memory store that contains a session: `store: .inMemory(.expired())`.
    /// - Parameters:
    ///   - tokens: The session's tokens.
    ///   - account: The signed-in account.
    ///   - now: The time on the manager's wall clock.
    public static func inMemory(
        _ tokens: Tokens, account: SessionAccount = SessionAccount(), at now: Date = Date()
    ) -> AnyTokenStore {
        .inMemory(holding: StoredSession(storing: tokens, account: account, at: now))
    }
}

extension TokenManager {
    /// Creates a manager that has restored a session from an in-memory store and has not refreshed its tokens yet.
    ///
    /// ```swift
    /// let client = NetworkClient(tokens: await .signedIn(with: .expired(), transport: transport))
    /// ```
    /// - Parameters:
    ///   - tokens: The session's tokens, such as `.fresh()`, `.expired()`, `.expiring(in: .seconds(30))`.
    ///   - account: The signed-in account.
    ///   - baseURL: The base URL of the API.
    ///   - refresher: Refreshes the tokens.
    ///   - revoker: Revokes the tokens at a sign-out.
    ///   - transport: Sends requests.
    ///   - time: The clock; the system's if `nil`. With a ``ManualTimeSource``, token lifetimes, retries and timeouts
    ///     wait until the test advances it.
    public static func signedIn(
        with tokens: Tokens = .fresh(), account: SessionAccount = SessionAccount(),
        baseURL: BaseURL = "https://api.example.com", refresher: any TokenRefresher = .json(path: "/auth/refresh"),
        revoker: TokenRevoker? = nil,
        transport: any Transport = StubTransport(), time: (any TimeSource)? = nil
    ) async -> TokenManager {
        let tokens = TokenManager(
            baseURL: baseURL, store: .inMemory(tokens, account: account, at: time?.wallClock ?? Date()),
            refresher: refresher, revoker: revoker, transport: transport, time: time)
        _ = await tokens.loadedState
        return tokens
    }
}

extension Duration {
    fileprivate var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
