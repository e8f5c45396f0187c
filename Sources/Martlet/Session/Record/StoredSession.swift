#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The stored record of a session: everything that must survive a restart, written and replaced as one value.
///
/// A custom ``TokenStore`` converts it to bytes and back with ``encoded()`` and ``init(encoded:)``.
public struct StoredSession: Sendable, Hashable, Codable {
    /// Identifies the session.
    public package(set) var id: SessionID
    /// Orders the sign-ins of all processes that share the record: a later one has a higher number, the time in
    /// milliseconds unless the clock was set back. Older versions of Martlet wrote none.
    private var signIn: Int?
    /// The number of refreshes since the sign-in.
    package var rotation: Int
    /// The tokens of this rotation.
    public package(set) var bundle: TokenBundle
    /// The time at which the access token expires, by this device's wall clock. An estimate, used only when the record
    /// is read from the store.
    package var estimatedExpiry: Date?
    /// The whole lifetime of the access token when it was issued; `nil` if unknown.
    package var lifetime: Duration?
    /// The user that signed in.
    public package(set) var account: SessionAccount
    /// Set while the fate of the record's refresh token is unknown: it was sent, or another process may have sent its
    /// predecessor too, and there is no answer yet.
    package var journal: RefreshJournal?

    package init(
        id: SessionID,
        generation: Int? = nil,
        rotation: Int = 0,
        bundle: TokenBundle,
        estimatedExpiry: Date? = nil,
        lifetime: Duration? = nil,
        account: SessionAccount = SessionAccount(),
        journal: RefreshJournal? = nil
    ) {
        self.id = id
        self.signIn = generation
        self.rotation = rotation
        self.bundle = bundle
        self.estimatedExpiry = estimatedExpiry
        self.lifetime = lifetime
        self.account = account
        self.journal = journal
    }

    /// The journal, if it belongs to the record's own refresh token. That token is then *in doubt*: the server may have
    /// spent it (replaced it with new tokens), or may have ended the session.
    var unresolvedJournal: RefreshJournal? {
        guard let journal, let token = bundle.refreshToken else { return nil }
        return journal.fingerprint == RefreshJournal.fingerprint(of: token) ? journal : nil
    }

    /// The place of this session's sign-in among those of all processes.
    package var generation: Int {
        // A damaged number must not overflow when a later sign-in adds to it.
        get { min(max(signIn ?? 0, 0), Self.highestGeneration) }
        set { signIn = newValue }
    }

    /// Gives the record a place above another one. A record of an earlier version, which has none, stays as it is.
    mutating func raiseGeneration(to other: Int) {
        if other > generation { generation = other }
    }

    static let highestGeneration = 1 << 60

    /// The generation of a sign-in by the clock: milliseconds since 1970.
    static func generation(at wallClock: Date) -> Int {
        min(Int(exactly: (wallClock.timeIntervalSince1970 * 1000).rounded()) ?? 0, highestGeneration)
    }

    /// The place of this record among those of all processes.
    package var order: SessionOrder {
        SessionOrder(generation: generation, rotation: rotation)
    }

    /// The session and rotation of the record's tokens.
    public var stamp: SessionStamp {
        SessionStamp(session: id, rotation: rotation)
    }
}

/// The user of a session, as far as the app wants Martlet to remember it.
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

/// A marker in the record, written before the refresh token is sent. If the process crashes before the response arrives,
/// the next start finds it.
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
            fingerprint: Self.fingerprint(of: record.bundle.refreshToken ?? record.bundle.accessToken))
    }

    /// Four bytes of FNV-1a: enough to tell two tokens apart, far too few to recover a token.
    static func fingerprint(of token: Secret) -> String {
        let hash = token.reveal().utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}
