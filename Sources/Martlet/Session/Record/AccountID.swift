#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Identifies one of the accounts that an app is signed in to on this device.
///
/// Use any text that the app knows before the sign-in, such as the name that the user types. If there is none until the
/// server responds, use ``unique()``.
///
/// ```swift
/// let ada: AccountID = "ada@example.com"
/// ```
public struct AccountID: Sendable, Hashable, Codable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The identifier as text. It is compared byte by byte: texts that differ only in case are different accounts.
    public let rawValue: String

    /// An identifier with this text.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// An identifier written as a string literal.
    public init(stringLiteral value: String) {
        self.init(rawValue: value)
    }

    /// A new identifier, different from every other.
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

    // `String` compares by canonical equivalence, so two spellings of é are equal. To a server and a store they are two
    // users.
    /// Compares the bytes.
    public static func == (one: AccountID, other: AccountID) -> Bool {
        one.rawValue.utf8.elementsEqual(other.rawValue.utf8)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        for byte in rawValue.utf8 { hasher.combine(byte) }
        hasher.combine(rawValue.utf8.count)
    }

    /// The identifier as text.
    public var description: String { rawValue }
}
