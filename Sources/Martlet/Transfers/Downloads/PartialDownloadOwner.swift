#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The owner of the bytes that a download leaves behind when it breaks off. A later download resumes them only if it
/// has the same owner.
struct PartialDownloadOwner: Sendable {
    /// The manager of the owner's session. The download ends with that session.
    var tokens: TokenManager? { responseStorage.tokens }
    private let stored: StoredOwner
    private let responseStorage: ResponseStorage
    private let timesEmptied: TimesEmptied
    /// Tells the accounts of the app apart in a ``fingerprint(of:)``; empty without an account.
    private let account: String

    /// - Parameters:
    ///   - stored: The stored form of the owner.
    ///   - responseStorage: The jar, the cache and the manager of the client.
    ///   - timesEmptied: How often the jar and the cache had been emptied when the download began.
    init(_ stored: StoredOwner, in responseStorage: ResponseStorage, since timesEmptied: TimesEmptied) {
        self.stored = stored
        self.responseStorage = responseStorage
        self.timesEmptied = timesEmptied
        account =
            switch stored {
            case .noUser: ""
            // The bytes could be another user's.
            case .unreadStore: UUID().uuidString
            // The ID of a guest, and an empty one, do not tell two users apart.
            case .session(let session, _) where responseStorage.tokens?.state.isGuest(in: session) == true:
                session.rawValue
            case .session(let session, let userID): userID.flatMap { $0.isEmpty ? nil : $0 } ?? session.rawValue
            }
    }

    /// Whether the call has no account, so that all its credentials decide which bytes it may resume. With an account,
    /// only those that replace the session's token do.
    var isAnonymous: Bool { stored == .noUser }

    /// Whether a download that breaks off may leave its bytes for a later one.
    var mayKeepBytes: Bool {
        switch stored {
        case .session: true
        case .noUser: timesEmptied == responseStorage.timesEmptied
        // No later download could resume them.
        case .unreadStore: false
        }
    }

    /// A fingerprint of a request and its owner. It is stored on the disk in place of the URL, which may be private.
    func fingerprint(of request: String) -> String {
        String("\(request) \(account)".fingerprint, radix: 16)
    }
}

extension SessionState {
    /// Whether the user of a session is a guest.
    fileprivate func isGuest(in session: SessionID) -> Bool {
        if case .signedIn(let current) = self { current.id == session && current.account.isGuest } else { false }
    }
}

/// Follows the user who is signed in while a call downloads a file without a session. The response may still depend on
/// the user's cookies, so the file must not appear for the next user.
final class DownloadUser: Sendable {
    private struct State {
        var hasLeft = false
        /// Stops following the user.
        var stop: (@Sendable () -> Void)?
    }

    private let tokens: TokenManager
    private let owner: CallOwner
    private let state = Locked(State())

    init(_ tokens: TokenManager) {
        self.tokens = tokens
        owner = tokens.currentOwner
        let stop = tokens.onDeparture { [weak self] _ in self?.state.withLock { $0.hasLeft = true } }
        state.withLock { $0.stop = stop }
    }

    deinit {
        state.withLock { $0.stop }?()
    }

    /// Whether the user has signed out, or another one has signed in.
    var hasLeft: Bool { state.withLock(\.hasLeft) && tokens.resolvedNow(owner).session != nil }
}
