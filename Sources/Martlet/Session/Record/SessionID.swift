#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Identifies one session: one user or guest, from sign-in to sign-out. Tokens rotate within a session; its ID stays.
public struct SessionID: RawRepresentable, Sendable, Hashable, Codable, CustomStringConvertible {
    /// The ID as text. It says nothing about the user.
    public let rawValue: String

    /// An existing ID.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// A new random ID.
    package init() {
        self.init(rawValue: UUID().uuidString)
    }

    /// The first characters of the ID, enough to tell sessions apart in a log.
    public var description: String { String(rawValue.prefix(8)) }
}

/// Identifies the tokens that signed a request: a session, and the number of refreshes since its sign-in.
public struct SessionStamp: Sendable, Hashable, CustomStringConvertible {
    /// The session.
    public let session: SessionID
    /// The number of refreshes within the session, from 0.
    public let rotation: Int

    /// A stamp of a session and a rotation.
    /// - Parameters:
    ///   - session: The session.
    ///   - rotation: The number of refreshes within the session, from 0.
    public init(session: SessionID, rotation: Int) {
        self.session = session
        self.rotation = rotation
    }

    /// `1A2B3C4D/7`: session and rotation.
    public var description: String { "\(session)/\(rotation)" }
}
