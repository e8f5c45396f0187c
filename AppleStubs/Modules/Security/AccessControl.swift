public import CoreFoundation

// https://developer.apple.com/documentation/security/secaccesscontrol
@available(iOS 8, macOS 10.10, tvOS 9, watchOS 2, visionOS 1, *)
public final class SecAccessControl {}

// https://developer.apple.com/documentation/security/secaccesscontrolcreateflags
@available(iOS 8, macOS 10.10, tvOS 9, watchOS 2, visionOS 1, *)
public struct SecAccessControlCreateFlags: OptionSet, Sendable {
    public let rawValue: CFOptionFlags
    public init(rawValue: CFOptionFlags) { self.rawValue = rawValue }
    public static var userPresence: SecAccessControlCreateFlags { .init(rawValue: 1) }
    @available(iOS 11.3, macOS 10.13.4, tvOS 11.3, watchOS 4.3, visionOS 1, *)
    public static var biometryCurrentSet: SecAccessControlCreateFlags { .init(rawValue: 8) }
}

// https://developer.apple.com/documentation/security/secaccesscontrolcreatewithflags(_:_:_:_:)
@available(iOS 8, macOS 10.10, tvOS 9, watchOS 2, visionOS 1, *)
public func SecAccessControlCreateWithFlags(
    _ allocator: CFAllocator?, _ protection: CFTypeRef, _ flags: SecAccessControlCreateFlags,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecAccessControl? { fatalError() }
