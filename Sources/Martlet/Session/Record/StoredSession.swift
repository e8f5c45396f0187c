#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The stored record of a session: everything that must survive a restart, written and replaced as one value.
///
/// A custom ``TokenStore`` converts it to bytes and back with ``encoded()`` and ``init(encoded:)``.
public struct StoredSession: Sendable, Hashable, Codable {
    /// The stored members. Their names are part of the format.
    private struct Members: Sendable, Hashable, Codable {
        var id: SessionID
        var signIn: Int?
        var rotation: Int
        var bundle: Tokens
        var estimatedExpiry: Date?
        var lifetime: Duration?
        var account: SessionAccount
        var journal: RefreshJournal?
    }

    /// Immutable. Records are passed around a lot, and copying a reference takes much less code than copying twenty
    /// words.
    private final class Storage: Sendable, Hashable {
        let members: Members

        init(_ members: Members) {
            self.members = members
        }

        static func == (left: Storage, right: Storage) -> Bool {
            left === right || left.members == right.members
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(members)
        }
    }

    private var storage: Storage

    private var members: Members {
        get { storage.members }
        set { storage = Storage(newValue) }
    }

    /// Identifies the session.
    public package(set) var id: SessionID {
        get { storage.members.id }
        set { members.id = newValue }
    }

    /// The number of refreshes since the sign-in.
    package var rotation: Int {
        // Treat a damaged number as zero: it must not overflow when a refresh adds to it.
        get { (0..<Self.highestGeneration).contains(storage.members.rotation) ? storage.members.rotation : 0 }
        set { members.rotation = newValue }
    }

    /// The tokens of this rotation.
    public package(set) var tokens: Tokens {
        get { storage.members.bundle }
        set { members.bundle = newValue }
    }

    /// The estimated expiry of the access token, by this device's wall clock. Used only when the record is read.
    package var estimatedExpiry: Date? {
        get { storage.members.estimatedExpiry }
        set { members.estimatedExpiry = newValue }
    }

    /// The whole lifetime of the access token when it was issued; `nil` if unknown.
    package var lifetime: Duration? {
        get { storage.members.lifetime }
        set { members.lifetime = newValue }
    }

    /// The user who signed in.
    public package(set) var account: SessionAccount {
        get { storage.members.account }
        set { members.account = newValue }
    }

    /// Set while the fate of the refresh token is unknown: it was sent and has no response yet, or another process may
    /// have sent it or its predecessor, too.
    package var journal: RefreshJournal? {
        get { storage.members.journal }
        set { members.journal = newValue }
    }

    package init(
        id: SessionID,
        generation: Int? = nil,
        rotation: Int = 0,
        tokens: Tokens,
        estimatedExpiry: Date? = nil,
        lifetime: Duration? = nil,
        account: SessionAccount = SessionAccount(),
        journal: RefreshJournal? = nil
    ) {
        storage = Storage(
            Members(
                id: id, signIn: generation, rotation: rotation, bundle: tokens, estimatedExpiry: estimatedExpiry,
                lifetime: lifetime, account: account, journal: journal))
    }

    /// Decodes the members that ``encode(to:)`` writes.
    public init(from decoder: any Decoder) throws {
        storage = Storage(try Members(from: decoder))
    }

    /// Encodes the members.
    public func encode(to encoder: any Encoder) throws {
        try members.encode(to: encoder)
    }

    /// The journal, if it belongs to the record's own refresh token. That token is then *in doubt*: the server may have
    /// spent it, that is, replaced it with new tokens, or may have ended the session.
    var unresolvedJournal: RefreshJournal? {
        guard let journal, let token = tokens.refreshToken else { return nil }
        return journal.fingerprint == RefreshJournal.fingerprint(of: token) ? journal : nil
    }

    /// The number of this session's sign-in. A later sign-in, in any process, has a higher one. It is the time in
    /// milliseconds since 1970, or higher if the clock was set back. Older versions of Martlet wrote none.
    package var generation: Int {
        // Clamp a damaged number: it must not overflow when a later sign-in adds to it.
        get { min(max(storage.members.signIn ?? 0, 0), Self.highestGeneration) }
        set { members.signIn = newValue }
    }

    /// Raises the generation to another one if that is higher.
    mutating func raiseGeneration(to other: Int) {
        if other > generation { generation = other }
    }

    static let highestGeneration = 1 << 60

    /// The generation of a sign-in at a time: milliseconds since 1970.
    static func generation(at wallClock: Date) -> Int {
        min(Int(exactly: (wallClock.timeIntervalSince1970 * 1000).rounded()) ?? 0, highestGeneration)
    }

    /// The position of this record among those of all processes.
    package var position: SessionPosition {
        SessionPosition(generation: generation, rotation: rotation)
    }

    /// The session and rotation of the record's tokens.
    public var stamp: SessionStamp {
        SessionStamp(session: id, rotation: rotation)
    }
}

/// The data about a session's user that the app stores with the session.
public struct SessionAccount: Sendable, Hashable, Codable {
    /// The user's ID at the backend.
    public var userID: String?
    /// Whether the user is a guest, whose session can be upgraded to an account later.
    public var isGuest: Bool

    /// The user of a session.
    public init(userID: String? = nil, isGuest: Bool = false) {
        self.userID = userID
        self.isGuest = isGuest
    }
}

/// A note in the record that its refresh token is about to be sent. If the process dies before the response arrives,
/// the next start finds the journal and knows that the token may be spent.
package struct RefreshJournal: Sendable, Hashable, Codable {
    /// The time at which the refresh token was sent, by this device's wall clock.
    package var startedAt: Date
    /// A short fingerprint of the refresh token that the journal belongs to.
    package var fingerprint: String

    package init(startedAt: Date, fingerprint: String) {
        self.startedAt = startedAt
        self.fingerprint = fingerprint
    }

    /// The journal of a record whose refresh token is being sent.
    init(of record: StoredSession, sentAt: Date) {
        self.init(
            startedAt: sentAt,
            fingerprint: Self.fingerprint(of: record.tokens.refreshToken ?? record.tokens.accessToken))
    }

    /// Four bytes of FNV-1a: enough to tell two tokens apart, far too few to recover a token.
    static func fingerprint(of token: Secret) -> String {
        let hash = token.reveal().utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}
