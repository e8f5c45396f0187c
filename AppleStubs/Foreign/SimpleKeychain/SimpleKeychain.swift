// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// Declarations of SimpleKeychain 1.3.0 that AppleTests/FormerLibraries uses, for `make apple-check`. Sources:
// SimpleKeychain/SimpleKeychain.swift and Accessibility.swift.

public import LocalAuthentication
public import Security

public enum Accessibility: Sendable {
    case afterFirstUnlock
}

public struct SimpleKeychain: @unchecked Sendable {
    // The default of the service is the bundle identifier.
    public init(
        service: String = "", accessGroup: String? = nil, accessibility: Accessibility = .afterFirstUnlock,
        accessControlFlags: SecAccessControlCreateFlags? = nil, context: LAContext? = nil, synchronizable: Bool = false,
        attributes: [String: Any] = [:]
    ) {}
}
