/// A transient error of a refresh: the session is kept, and another refresh may start after a backoff.
public struct RefreshError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure.
    @nonexhaustive public enum Kind: Sendable, Hashable {
        /// There is no network.
        case offline
        /// The server could not be reached, or the connection was lost: DNS, connection refused or reset, TLS.
        case connection
        /// There was no response in time.
        case timedOut
        /// The server returned a status that neither grants nor rejects the refresh, such as 408, 429 or 5xx.
        case status(Int)
        /// The response contains no tokens: a captive portal's page, a redirect, an unreadable body.
        case unreadableResponse
        /// The session has used up its refresh budget (``SessionPolicy/refreshBudget``).
        case tooManyRefreshes
        /// The refresher threw an error of its own.
        case refresher
        /// The stored session cannot be read. Other processes share it and may have refreshed the tokens already, so no
        /// refresh token is sent.
        case storage
        /// The new tokens could not be written to the store, and ``SessionPolicy/requiresSavedTokens`` keeps them from
        /// being used until they are. The session is kept in memory, and the write is retried.
        case notSaved
    }

    /// The kind of failure.
    public var kind: Kind
    /// The time that the server asked clients to wait (`Retry-After`).
    public var retryAfter: Duration?
    /// The server's error code, if the token endpoint sent one with a status that does not end the session. The session
    /// is kept, so an app can ask the user for what the server requires, such as a second factor, and try again.
    /// Secrets in it are masked.
    public var code: String? {
        didSet { code = code.map(Redaction.redact) }
    }
    /// One sentence for a log. Secrets in it are masked.
    public var description: String {
        didSet { description = Redaction.redactReason(description) }
    }
    /// Whether the server may have spent the refresh token, that is, replaced it, although no new tokens arrived. By
    /// default `false` for ``Kind/offline``, ``Kind/tooManyRefreshes``, ``Kind/storage``, ``Kind/notSaved`` and the
    /// statuses 408, 425, 429 and 503, and `true` for everything else. Martlet's own refreshers set it to `false` for
    /// any other 4xx with a ``code``, too.
    public var mayHaveSpentToken: Bool

    /// A transient error.
    /// - Parameters:
    ///   - kind: The kind of failure.
    ///   - retryAfter: The time that the server asked clients to wait.
    ///   - description: One sentence for a log. Secrets in it are masked.
    public init(_ kind: Kind, retryAfter: Duration? = nil, description: String) {
        self.kind = kind
        self.retryAfter = retryAfter
        self.description = Redaction.redactReason(description)
        self.mayHaveSpentToken = kind.mayHaveSpentToken
    }
}

extension RefreshError.Kind {
    fileprivate var mayHaveSpentToken: Bool {
        switch self {
        case .offline, .tooManyRefreshes, .storage, .notSaved: false
        case .status(let code): ![408, 425, 429, 503].contains(code)
        case .connection, .timedOut, .unreadableResponse, .refresher: true
        }
    }
}

extension RefreshError {
    /// Whether no byte of the request can have reached the server: no network, no address, a refused connection.
    var neverReachedServer: Bool {
        (kind == .offline || kind == .connection) && !mayHaveSpentToken
    }

    /// Whether the server has refused the refresh with a code that the app can act upon. It has replaced no token then
    /// (RFC 6749, section 5.2), and knows when the next attempt makes sense.
    var isExplainedRefusal: Bool {
        guard case .status(let status) = kind, code != nil, retryAfter == nil else { return false }
        return (400..<500).contains(status) && ![408, 425, 429].contains(status)
    }

    /// Whether the next attempt may succeed as soon as the device has a network again. A server that asked for a pause
    /// was reached.
    var mayBeOfNetwork: Bool {
        switch kind {
        case .offline, .connection, .timedOut: retryAfter == nil
        default: false
        }
    }

    init(_ error: StorageError) {
        self.init(.storage, description: "the stored session cannot be read now (\(error))")
    }

    /// - Parameter error: The reason why the new tokens could not be saved.
    init(notSaved error: StorageError) {
        self.init(
            .notSaved,
            description: "the new tokens could not be saved (\(error)) and are not used yet. The session is kept in"
                + " memory, and the write is retried")
    }
}
