// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// Declarations of Auth0.swift 3.1.0 that AppleTests/FormerLibraries uses, for `make apple-check`. Sources: Auth0.swift,
// Authentication.swift, Credentials.swift, CredentialsManager.swift and CredentialsStorage.swift in Auth0.

public import Foundation
public import SimpleKeychain

public protocol Authentication: Sendable {}

private struct Declared: Authentication {}

public func authentication(
    clientId: String, domain: String, session: URLSession = .shared
) -> any Authentication { Declared() }

public final class Credentials: NSObject, Sendable {
    public let expiresAt: Date

    public init(
        accessToken: String = "", tokenType: String = "", idToken: String = "", refreshToken: String? = nil,
        expiresAt: Date = Date(), scope: String? = nil, recoveryCode: String? = nil
    ) {
        self.expiresAt = expiresAt
    }
}

public protocol CredentialsStorage {}

extension SimpleKeychain: CredentialsStorage {}

public struct CredentialsManager: Sendable {
    public init(
        authentication: any Authentication, storeKey: String = "credentials",
        dpopThumbprintKey: String = "dpop_thumbprint", sessionExpiryKey: String? = nil,
        storage: any CredentialsStorage = SimpleKeychain(), maxRetries: Int = 0
    ) {}

    public func store(credentials: Credentials) throws {}
    public func canRenew() -> Bool { false }
}
