#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Names one of the accounts that an app is signed in to on this device.
///
/// Any text will do that the app knows beforehand, such as what the user types to sign in. Where it knows none until the
/// server answers, ``unique()`` makes one.
///
/// ```swift
/// let ada: AccountID = "ada@example.com"
/// ```
public struct AccountID: Sendable, Hashable, Codable, RawRepresentable, ExpressibleByStringLiteral,
    CustomStringConvertible
{
    /// The name as text. Names that differ in anything, such as in upper and lower case, are different accounts.
    public let rawValue: String

    /// A name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// A name.
    public init(stringLiteral value: String) {
        self.init(rawValue: value)
    }

    /// A new name, unlike any other.
    public static func unique() -> AccountID {
        AccountID(rawValue: UUID().uuidString)
    }

    /// The name.
    public var description: String { rawValue }
}
