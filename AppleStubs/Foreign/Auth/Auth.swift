// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// Declarations of supabase-swift 2.55.1 that AppleTests/FormerLibraries uses, for `make apple-check`. Sources:
// AuthClient.swift, AuthClientConfiguration.swift, Storage/AuthLocalStorage.swift, Storage/KeychainLocalStorage.swift
// and Types.swift in Sources/Auth. The types of its module Helpers, which Auth exports again, are declared here.

public import Foundation

public enum AnyJSON: Sendable, Codable, Hashable {
    case null
}

public protocol SupabaseLogger: Sendable {}

public protocol AuthLocalStorage: Sendable {
    func store(key: String, value: Data) throws
    func retrieve(key: String) throws -> Data?
    func remove(key: String) throws
}

public struct KeychainLocalStorage: AuthLocalStorage {
    public init(service: String? = "supabase.gotrue.swift", accessGroup: String? = nil) {}
    public func store(key: String, value: Data) throws {}
    public func retrieve(key: String) throws -> Data? { nil }
    public func remove(key: String) throws {}
}

public enum AuthFlowType: Sendable {
    case implicit
    case pkce
}

public actor AuthClient {
    public typealias FetchHandler = @Sendable (_ request: URLRequest) async throws -> (Data, URLResponse)

    public struct Configuration: Sendable {
        public static let defaultFlowType: AuthFlowType = .pkce
        public static let defaultAutoRefreshToken: Bool = true
    }

    public init(
        url: URL? = nil, headers: [String: String] = [:],
        flowType: AuthFlowType = AuthClient.Configuration.defaultFlowType, redirectToURL: URL? = nil,
        storageKey: String? = nil, localStorage: any AuthLocalStorage, logger: (any SupabaseLogger)? = nil,
        fetch: @escaping FetchHandler = { _ in fatalError() },
        autoRefreshToken: Bool = AuthClient.Configuration.defaultAutoRefreshToken,
        emitLocalSessionAsInitialSession: Bool = false
    ) {}

    nonisolated public var currentSession: Session? { nil }

    @discardableResult
    public func signIn(email: String, password: String, captchaToken: String? = nil) async throws -> Session {
        fatalError()
    }
}

public struct WeakPassword: Codable, Hashable, Sendable {}

public struct Session: Codable, Hashable, Sendable {
    public init(
        providerToken: String? = nil, providerRefreshToken: String? = nil, accessToken: String, tokenType: String,
        expiresIn: TimeInterval, expiresAt: TimeInterval, refreshToken: String, weakPassword: WeakPassword? = nil,
        user: User
    ) {}
}

public struct UserIdentity: Codable, Hashable, Sendable {}
public struct Factor: Codable, Hashable, Sendable {}

public struct User: Codable, Hashable, Sendable {
    public init(
        id: UUID, appMetadata: [String: AnyJSON], userMetadata: [String: AnyJSON], aud: String,
        confirmationSentAt: Date? = nil, recoverySentAt: Date? = nil, emailChangeSentAt: Date? = nil,
        newEmail: String? = nil, invitedAt: Date? = nil, actionLink: String? = nil, email: String? = nil,
        phone: String? = nil, createdAt: Date, confirmedAt: Date? = nil, emailConfirmedAt: Date? = nil,
        phoneConfirmedAt: Date? = nil, lastSignInAt: Date? = nil, role: String? = nil, updatedAt: Date,
        identities: [UserIdentity]? = nil, isAnonymous: Bool = false, factors: [Factor]? = nil
    ) {}
}
