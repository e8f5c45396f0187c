// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// Declarations of GTMAppAuth 5.0.0 that AppleTests/FormerLibraries uses, for `make apple-check`. Sources:
// AuthSession.swift, KeychainStore/KeychainAttribute.swift and KeychainStore/KeychainStore.swift in GTMAppAuth/Sources.

public import AppAuthCore
public import Foundation

public final class AuthSession: NSObject, NSSecureCoding {
    public init(
        authState: OIDAuthState, serviceProvider: String? = nil, userID: String? = nil, userEmail: String? = nil,
        userEmailIsVerified: String? = nil
    ) {}

    convenience public init(authState: OIDAuthState) {
        self.init(authState: authState, serviceProvider: nil, userID: nil, userEmail: nil, userEmailIsVerified: nil)
    }
}

public final class KeychainAttribute: NSObject {
    public enum Attribute {
        case useFileBasedKeychain
        case accessGroup(String)
    }

    public init(attribute: Attribute) {}
}

public final class KeychainStore: NSObject {
    public enum Error: Swift.Error {
        case passwordNotFound(forItemName: String)
    }

    public init(itemName: String, keychainAttributes: Set<KeychainAttribute>) {}
    public func save(authSession: AuthSession) throws {}
    public func retrieveAuthSession() throws -> AuthSession { fatalError() }
}
