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
public struct AccountID: Sendable, Hashable, Codable, ExpressibleByStringLiteral, CustomStringConvertible {
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

    /// Decodes the plain text.
    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    /// Encodes the plain text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }

    // To `String` an é is an é, however it is written. To a server and in a store these are two users.
    /// Whether the bytes are the same.
    public static func == (one: AccountID, other: AccountID) -> Bool {
        one.rawValue.utf8.elementsEqual(other.rawValue.utf8)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        for byte in rawValue.utf8 { hasher.combine(byte) }
        hasher.combine(rawValue.utf8.count)
    }

    /// The name.
    public var description: String { rawValue }
}
