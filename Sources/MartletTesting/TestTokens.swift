public import Martlet

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension TokenBundle {
    /// A pair that lives for an hour, with a number in it to tell it from others.
    public static func fresh(_ number: Int = 0, lifetime: Duration = .seconds(3600)) -> TokenBundle {
        TokenBundle(
            accessToken: Secret("access-\(number)"), refreshToken: Secret("refresh-\(number)"), lifetime: lifetime)
    }

    /// A pair whose access token expires after a while.
    public static func expiring(in lifetime: Duration, _ number: Int = 0) -> TokenBundle {
        .fresh(number, lifetime: lifetime)
    }

    /// A pair whose access token has expired long ago, as a store may have it after a night. No server hands out such a
    /// pair, so that `signIn(with:)` would take it for one of unknown lifetime: use it with
    /// `TokenManager.signedIn(with:)` or `.inMemory(.expired())` as the store.
    public static func expired(_ number: Int = 0) -> TokenBundle {
        TokenBundle(
            accessToken: Secret("access-\(number)"), refreshToken: Secret("refresh-\(number)"),
            expiresAt: Date(timeIntervalSince1970: 0))
    }
}

extension StoredSession {
    /// A record of a session that was stored just now.
    /// - Parameters:
    ///   - bundle: Its tokens, such as `.fresh()`, `.expired()`, `.expiring(in: .seconds(30))`.
    ///   - account: Who signed in.
    ///   - now: What the manager's wall clock shows.
    public init(storing bundle: TokenBundle, account: SessionAccount = SessionAccount(), at now: Date) {
        let lifetime = bundle.lifetime ?? bundle.expiresAt.map { _ in .seconds(3600) }
        let freshUntil = bundle.lifetime.map { now.addingTimeInterval($0.seconds) } ?? bundle.expiresAt
        self.init(id: SessionID(), bundle: bundle, freshUntil: freshUntil, lifetime: lifetime, account: account)
    }

    /// A record whose token has expired an hour ago by the clock.
    public static func expired(_ bundle: TokenBundle = .fresh(), at now: Date) -> StoredSession {
        StoredSession(
            id: SessionID(), bundle: bundle, freshUntil: now.addingTimeInterval(-3600), lifetime: .seconds(3600))
    }
}

extension TokenStore where Self == InMemoryTokenStore {
    /// A store for the life of the process, with a session in it: `store: .inMemory(.expired())`.
    /// - Parameters:
    ///   - bundle: The session's tokens.
    ///   - account: Who signed in.
    ///   - now: What the manager's wall clock shows.
    public static func inMemory(
        _ bundle: TokenBundle, account: SessionAccount = SessionAccount(), at now: Date = Date()
    ) -> InMemoryTokenStore {
        InMemoryTokenStore(StoredSession(storing: bundle, account: account, at: now))
    }
}

extension TokenManager {
    /// A manager whose session has been restored from a store in memory; no token has been renewed yet.
    ///
    /// ```swift
    /// let client = NetworkClient(tokens: await .signedIn(with: .expired(), transport: transport))
    /// ```
    /// - Parameters:
    ///   - bundle: The session's tokens, such as `.fresh()`, `.expired()`, `.expiring(in: .seconds(30))`.
    ///   - account: Who signed in.
    ///   - baseURL: Where the API lives.
    ///   - refresher: Renews tokens.
    ///   - transport: Sends requests.
    ///   - time: The clocks. A ``ManualTimeSource`` stands still until it is advanced, for retries and timeouts too.
    public static func signedIn(
        with bundle: TokenBundle = .fresh(), account: SessionAccount = SessionAccount(),
        baseURL: BaseURL = "https://api.example.com", refresher: any TokenRefresher = .json(path: "/auth/refresh"),
        transport: any Transport = StubTransport(), time: any TimeSource = .system
    ) async -> TokenManager {
        let tokens = TokenManager(
            baseURL: baseURL, store: .inMemory(bundle, account: account, at: time.wallClock), refresher: refresher,
            transport: transport, time: time)
        _ = await tokens.loadedState
        return tokens
    }
}

extension Duration {
    fileprivate var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
