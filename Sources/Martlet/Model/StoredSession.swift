#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A session at rest: everything that must survive a restart, as one record.
public struct StoredSession: Sendable, Hashable, Codable {
    /// Which sign-in this is.
    public var id: SessionID
    /// How many refreshes into it.
    public var rotation: Int
    /// The tokens of this rotation.
    public var bundle: TokenBundle
    /// Until when, by this device's wall clock, the access token is thought to be good. An estimate, for restarts only.
    public var freshUntil: Date?
    /// The whole lifetime of the access token as it was when issued; `nil` where unknown.
    public var lifetime: Duration?
    /// Who signed in.
    public var account: SessionAccount
    /// Set while the refresh token is being spent, so that a crash in between is noticed at the next start; and where two
    /// processes may have sent the one before, so that the server may have ended the session.
    public var journal: RefreshJournal?

    /// A record of one session.
    public init(
        id: SessionID,
        rotation: Int = 0,
        bundle: TokenBundle,
        freshUntil: Date? = nil,
        lifetime: Duration? = nil,
        account: SessionAccount = SessionAccount(),
        journal: RefreshJournal? = nil
    ) {
        self.id = id
        self.rotation = rotation
        self.bundle = bundle
        self.freshUntil = freshUntil
        self.lifetime = lifetime
        self.account = account
        self.journal = journal
    }

    /// The journal, where it is about the refresh token that the record has: nobody knows then whether it is spent.
    var doubt: RefreshJournal? {
        guard let journal, let token = bundle.refreshToken else { return nil }
        return journal.fingerprint == RefreshJournal.fingerprint(of: token) ? journal : nil
    }

    /// The same record with a journal about the refresh token that it has.
    func doubted(since date: Date) -> StoredSession {
        guard let token = bundle.refreshToken else { return self }
        var record = self
        record.journal = RefreshJournal(
            startedAt: date, fingerprint: RefreshJournal.fingerprint(of: token), isInherited: true)
        return record
    }

    /// Session and rotation, as requests remember them.
    public var stamp: SessionStamp {
        SessionStamp(session: id, rotation: rotation)
    }
}

/// Who a session belongs to, as far as the app wants Martlet to remember it.
public struct SessionAccount: Sendable, Hashable, Codable {
    /// The user's id at the backend.
    public var userID: String?
    /// Whether this is a guest, who may be upgraded to an account later.
    public var isGuest: Bool

    /// Who a session belongs to.
    public init(userID: String? = nil, isGuest: Bool = false) {
        self.userID = userID
        self.isGuest = isGuest
    }
}

/// A note that a refresh token is about to be spent.
public struct RefreshJournal: Sendable, Hashable, Codable {
    /// When the refresh was sent, by this device's wall clock.
    public var startedAt: Date
    /// A short fingerprint of the refresh token that was sent, from which the token cannot be had.
    public var fingerprint: String
    /// Whether the token itself was not sent, but the one before it was sent twice, or may have been: once the server sees
    /// the second one, it may take it for a thief's and end the session.
    public var isInherited: Bool

    /// A note that a refresh token is about to be spent.
    public init(startedAt: Date, fingerprint: String, isInherited: Bool = false) {
        self.startedAt = startedAt
        self.fingerprint = fingerprint
        self.isInherited = isInherited
    }

    /// A note from bytes; older ones do not say whether it is inherited.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        startedAt = try values.decode(Date.self, forKey: .startedAt)
        fingerprint = try values.decode(String.self, forKey: .fingerprint)
        isInherited = try values.decodeIfPresent(Bool.self, forKey: .isInherited) ?? false
    }

    /// The same, once the token has been sent after all.
    var ofSentToken: RefreshJournal {
        RefreshJournal(startedAt: startedAt, fingerprint: fingerprint)
    }

    /// Four bytes of FNV-1a: enough to tell one token from the next, and far too few to find a token by.
    static func fingerprint(of token: Secret) -> String {
        let hash = token.reveal().utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}
