/// Why there is no token to sign a request with.
public enum SessionError: Error, Sendable, Hashable {
    /// Nobody is signed in.
    case signedOut
    /// The server ended the session; only signing in again helps.
    case expired(ExpiryReason)
    /// The session that was asked about is over, or another one took its place.
    case sessionChanged
    /// The store cannot be read right now, so nobody knows whether somebody is signed in.
    case unavailable(StorageFailure)
    /// The token is used up and could not be renewed for now; the session is kept.
    case refreshFailed(RefreshFailure)
    /// The task that asked was cancelled.
    case cancelled
}

extension SessionError: CustomStringConvertible {
    /// What happened and what to do about it.
    public var description: String {
        switch self {
        case .signedOut: "Nobody is signed in. Sign in first."
        case .expired(let reason): "The session has ended (\(reason)). Sign in again."
        case .sessionChanged: "The session that the request belonged to is over."
        case .unavailable(let failure): "The stored session cannot be read now: \(failure). Try again later."
        case .refreshFailed(let failure): "The access token could not be renewed: \(failure). The session is kept."
        case .cancelled: "The task was cancelled."
        }
    }
}

/// Why a session ended without the user's wish.
public enum ExpiryReason: Sendable, Hashable, CustomStringConvertible {
    /// The server refused the refresh token: its error code, where it gave one.
    case refreshTokenRejected(code: String?)
    /// The access token was refused and there is no refresh token to buy another.
    case noRefreshToken
    /// A crash cut a refresh short and the server does not accept the old refresh token any more.
    case rotationLost

    /// The reason in a few words.
    public var description: String {
        switch self {
        case .refreshTokenRejected(let code):
            code.map { "the server refused to renew it: \($0)" } ?? "the server refused to renew it"
        case .noRefreshToken: "its token was refused and cannot be renewed"
        case .rotationLost: "a renewal was cut short and its answer is lost"
        }
    }
}

/// A refresh that failed for now: it will be tried again, and nobody is signed out for it.
public struct RefreshFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// What kind of trouble it was.
    public enum Kind: Sendable, Hashable {
        /// No network.
        case offline
        /// The server was not reached, or the connection broke: DNS, refused, reset, TLS.
        case connection
        /// No answer in time.
        case timedOut
        /// The server answered with a status that says nothing about the token: 408, 429, 5xx.
        case status(Int)
        /// An answer that no token can be read from: a captive portal's page, a redirect, an unreadable body.
        case unreadableAnswer
        /// More refreshes within the window than the budget allows.
        case tooManyRefreshes
        /// The refresher itself failed.
        case refresher
        /// The stored session, which other processes share, cannot be read, so that nobody knows whether they have
        /// renewed the token.
        case storage
    }

    /// What kind of trouble it was.
    public var kind: Kind
    /// How long the server asked to be left alone (`Retry-After`).
    public var retryAfter: Duration?
    /// One sentence for a log; never a token.
    public var description: String
    /// Whether the server may have spent the refresh token all the same: the answer was lost, not refused.
    public var mayHaveSpentToken: Bool

    /// A failure that passes.
    /// - Parameters:
    ///   - kind: What kind of trouble it was.
    ///   - retryAfter: How long the server asked to be left alone.
    ///   - description: One sentence for a log; never a token.
    ///   - mayHaveSpentToken: Whether the server may have spent the refresh token all the same. By default what the kind
    ///     suggests: not where the device was offline or the server said that it did nothing (408, 425, 429, 503).
    public init(
        _ kind: Kind, retryAfter: Duration? = nil, description: String, mayHaveSpentToken: Bool? = nil
    ) {
        self.kind = kind
        self.retryAfter = retryAfter
        self.description = description
        self.mayHaveSpentToken = mayHaveSpentToken ?? kind.mayHaveSpentToken
    }
}

extension RefreshFailure.Kind {
    fileprivate var mayHaveSpentToken: Bool {
        switch self {
        case .offline, .tooManyRefreshes, .storage: false
        case .status(let code): ![408, 425, 429, 503].contains(code)
        case .connection, .timedOut, .unreadableAnswer, .refresher: true
        }
    }
}

extension RefreshFailure {
    init(_ failure: StorageFailure) {
        self.init(.storage, description: "the stored session cannot be read now (\(failure))")
    }
}

/// Why a store could not do what was asked.
public struct StorageFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// What kind of trouble it was.
    public enum Kind: Sendable, Hashable {
        /// Locked for now: the device has not been unlocked, the keyring is closed.
        case locked
        /// The place cannot be reached: no service, no folder, no permission, a full disk.
        case unreachable
        /// There is a record, and it cannot be read: damaged, or not ours. It is left as it is.
        case corrupt
        /// There is a record, written by a newer version. It is left as it is.
        case tooNew
        /// Others could read the record, so it is not trusted.
        case unsafePermissions
    }

    /// What kind of trouble it was.
    public var kind: Kind
    /// One sentence for a log; never a token.
    public var description: String

    /// A failure of a store.
    public init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
