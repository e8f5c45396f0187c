#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// One sign-in of one user or guest, from sign-in to sign-out. Its tokens rotate within it; its id stays.
public struct SessionID: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The id as text; it says nothing about the user.
    public let rawValue: String

    /// An id that was made before.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// A new id, unlike any other.
    public init() {
        self.init(rawValue: UUID().uuidString)
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

    /// The first characters of the id, enough to tell two sessions apart in a log.
    public var description: String { String(rawValue.prefix(8)) }
}

/// What a request remembers of the token that signed it: which session, and how many refreshes into it.
public struct SessionStamp: Sendable, Hashable, CustomStringConvertible {
    /// The session whose token it was.
    public let session: SessionID
    /// The count of refreshes within that session, from 0.
    public let rotation: Int

    /// A stamp of one session and rotation.
    /// - Parameters:
    ///   - session: The session.
    ///   - rotation: The count of refreshes within it, from 0.
    public init(session: SessionID, rotation: Int) {
        self.session = session
        self.rotation = rotation
    }

    /// `1A2B3C4D/7`: session and rotation.
    public var description: String { "\(session)/\(rotation)" }
}
