#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Exchanges a refresh token for new tokens, in the dialect of one server.
///
/// Most servers are covered by a factory: ``json(path:field:sessionEnd:)``,
/// ``oauth2(path:client:sendsJSON:sessionEnd:)``, ``bearer(path:sessionEnd:)``,
/// ``header(path:header:accessTokenScheme:sessionEnd:)`` or ``cookie(path:cookie:sessionEnd:)``. Presets exist for
/// several products, such as ``simpleJWT(path:)`` or ``supabase(path:apiKey:)``; <doc:YourBackendsDialect> lists them.
/// ``HTTPTokenRefresher`` shows how to describe another dialect with data or with a closure.
///
/// ```swift
/// let tokens = TokenManager(
///     baseURL: "https://api.example.com", store: .platformDefault(service: "com.example.app"),
///     refresher: .bearer(path: "/auth/refresh"))
/// ```
public protocol TokenRefresher: Sendable {
    /// Exchanges the refresh token of a session for new tokens.
    ///
    /// The manager calls this in a task of its own, once per rotation unless a refresh fails, and never twice at the
    /// same time. The task is cancelled at the time limit (``SessionPolicy/refreshTimeout``): a refresher that ignores
    /// the cancellation may be called again while it still runs. If the session ends, the task goes on, and its tokens
    /// are revoked. If the new tokens have no refresh token, the manager keeps the old one.
    /// - Parameters:
    ///   - tokens: The newest tokens of the session.
    ///   - client: Sends the request.
    /// - Throws: ``RefreshRejectedError`` if the server has rejected the refresh token for good; this ends the session.
    ///   Any other error is transient and keeps the session; throw ``RefreshError`` to say what failed.
    func refresh(_ tokens: Tokens, over client: TokenEndpointClient) async throws -> Tokens

    /// Reads the tokens from the response to a sign-in.
    /// - Throws: An error that describes the response if it contains no access token.
    func tokens(inSignInResponse response: ServerResponse) throws -> Tokens
}

extension TokenRefresher {
    /// Reads the tokens with ``TokenFields/automatic``.
    public func tokens(inSignInResponse response: ServerResponse) throws -> Tokens {
        try TokenFields.automatic.tokens(from: response)
    }
}

/// The server has permanently rejected the refresh token: the session ends, and the user must sign in again.
public struct RefreshRejectedError: Error, Sendable, Hashable {
    /// The server's error code, such as `invalid_grant`.
    public var code: String?

    /// A rejection that ends the session.
    /// - Parameter code: The server's error code, if it sent one.
    public init(code: String? = nil) {
        self.code = code
    }
}

extension RefreshRejectedError: LocalizedError {
    /// A message for the user, in the user's language.
    public var errorDescription: String? { UserText.sessionRefused.text }
}
