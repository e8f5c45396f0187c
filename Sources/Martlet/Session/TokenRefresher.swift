#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Turns an old bundle into a new one by talking to the server in its dialect.
///
/// Most servers are covered by the ready ones: ``json(path:field:)``, ``oauth2(path:client:encoding:)``,
/// ``header(path:header:accessTokenScheme:)``, ``accessTokenOnly(path:field:)``, ``reissue(path:field:)``, ``cookie(path:cookie:)``. For any other,
/// write a closure:
///
/// ```swift
/// let refresher: CustomTokenRefresher = .custom { bundle, lane in
///     guard let refreshToken = bundle.refreshToken else { throw RefreshRejection() }
///     var headers = HTTPFields()
///     headers.setSensitive(refreshToken.reveal(), for: .authorization)
///     let answer = try await lane.send(.post, "/renew", headers: headers)
///     if answer.status == 401 { throw RefreshRejection() }
///     return try TokenFields.automatic.bundle(from: answer)
/// }
/// ```
public protocol TokenRefresher: Sendable {
    /// Buys a new bundle with the old one's refresh token.
    ///
    /// It is called in a task of its own, once for each rotation, and never at the same time twice. The new bundle may
    /// lack a refresh token: then the old one stays.
    /// - Throws: ``RefreshRejection`` where the server's verdict is final and the user must sign in again. Anything else
    ///   counts as trouble that passes and keeps the session: ``RefreshFailure`` says which.
    func refresh(_ bundle: TokenBundle, over lane: TokenLane) async throws -> RefreshedTokens

    /// The tokens in an answer to a sign-in.
    /// - Throws: ``TokenFields/Missing`` where there are none.
    func tokens(inSignInAnswer answer: ServerAnswer) throws -> TokenBundle
}

extension TokenRefresher {
    /// Reads them by ``TokenFields/automatic``.
    public func tokens(inSignInAnswer answer: ServerAnswer) throws -> TokenBundle {
        try TokenFields.automatic.bundle(from: answer)
    }
}

/// What a refresh gave.
public struct RefreshedTokens: Sendable, Hashable {
    /// The new tokens.
    public var bundle: TokenBundle
    /// The server's clock when it answered (the `Date` field), against which its dates are meant.
    public var serverDate: Date?

    /// What a refresh gave.
    public init(_ bundle: TokenBundle, serverDate: Date? = nil) {
        self.bundle = bundle
        self.serverDate = serverDate
    }
}

/// The server's final word: the refresh token is worth nothing any more.
public struct RefreshRejection: Error, Sendable, Hashable {
    /// The server's code for it, such as `invalid_grant`.
    public var code: String?

    /// A final refusal.
    public init(code: String? = nil) {
        self.code = code
    }
}

/// A refresher made of a closure.
public struct CustomTokenRefresher: TokenRefresher {
    private let body: @Sendable (TokenBundle, TokenLane) async throws -> TokenBundle
    private let fields: TokenFields

    /// A refresher made of a closure.
    /// - Parameters:
    ///   - fields: Where the answer to a sign-in keeps its tokens.
    ///   - body: Buys a new bundle; see ``TokenRefresher/refresh(_:over:)``.
    public init(
        fields: TokenFields = .automatic,
        _ body: @escaping @Sendable (TokenBundle, TokenLane) async throws -> TokenBundle
    ) {
        self.fields = fields
        self.body = body
    }

    /// Calls the closure.
    public func refresh(_ bundle: TokenBundle, over lane: TokenLane) async throws -> RefreshedTokens {
        RefreshedTokens(try await body(bundle, lane))
    }

    /// Reads the fields that were named.
    public func tokens(inSignInAnswer answer: ServerAnswer) throws -> TokenBundle {
        try fields.bundle(from: answer)
    }
}

extension TokenRefresher where Self == CustomTokenRefresher {
    /// A refresher made of a closure.
    public static func custom(
        fields: TokenFields = .automatic,
        _ body: @escaping @Sendable (TokenBundle, TokenLane) async throws -> TokenBundle
    ) -> CustomTokenRefresher {
        CustomTokenRefresher(fields: fields, body)
    }
}
