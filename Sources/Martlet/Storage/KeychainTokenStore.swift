#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Keeps the session in Apple's Keychain, as one generic password.
///
/// ```swift
/// let tokens = TokenManager(
///     baseURL: "https://api.example.com", store: .keychain(service: "com.example.app"),
///     refresher: .json(path: "/auth/refresh"))
/// ```
///
/// A session that cannot be read because the device is locked is *unavailable*, never signed out, and is read again when
/// the device is unlocked. An app and its extensions share a session by way of an access group, and a folder of their app
/// group in which they take turns at renewing it:
///
/// ```swift
/// let store = KeychainTokenStore(
///     service: "com.example.app", accessGroup: "group.com.example.app",
///     folder: FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "group.com.example.app")!.path)
/// ```
///
/// What it does with locked devices, with items of an older version and of an earlier installation, and on a Mac, is
/// told by ``KeychainStorage``, ``KeychainAccessibility``, ``KeychainReinstallPolicy`` and ``MacKeychain``.
public typealias KeychainTokenStore = SecureTokenStore<KeychainStorage>

extension SecureTokenStore where Storage == KeychainStorage {
    /// Takes over, once, the tokens that another library has left in a Keychain item.
    ///
    /// Call it at the start, before a ``TokenManager`` uses the store:
    ///
    /// ```swift
    /// struct Old: Decodable { let access: String, refresh: String }
    /// try await store.adopt(KeychainItem(service: "com.example.app.auth", account: "credentials")) { data in
    ///     let old = try JSONDecoder().decode(Old.self, from: data)
    ///     return TokenBundle(accessToken: Secret(old.access), refreshToken: Secret(old.refresh))
    /// }
    /// ```
    ///
    /// Where this store has a session already, that one stays. An item is taken over once only, even where it stays where
    /// it is: whoever signs out later stays signed out. On a Mac it is looked for in the Keychain that this store uses.
    /// - Parameters:
    ///   - item: Where the tokens are.
    ///   - deletesItem: Whether the item is deleted then. The other library finds nothing any more.
    ///   - decode: Turns what the item holds into tokens. Give them ``TokenBundle/expiresAt`` where it is known; otherwise
    ///     the access token is used until the server refuses it.
    /// - Returns: Whether there are tokens now that were taken over.
    /// - Throws: What `decode` throws; ``StorageFailure`` where the Keychain cannot be read or written now. The next call
    ///   goes on from there: what was taken over stays, and is noted then.
    @discardableResult
    public func adopt(
        _ item: KeychainItem, deletingIt deletesItem: Bool = false,
        _ decode: @Sendable (Data) throws -> TokenBundle
    ) async throws -> Bool {
        if try await storage.hasAdopted(item) {
            if deletesItem { try await storage.delete(item) }
            return false
        }
        guard let data = try await storage.read(item) else { return false }
        let session = StoredSession(adopting: try decode(data), now: Date())
        let former = try await update { reading in reading == .empty ? .write(session) : .keep }
        if case .unavailable(let failure) = former { throw failure }
        try await storage.noteAdoption(of: item)
        if deletesItem { try await storage.delete(item) }
        return former == .empty
    }
}

extension StoredSession {
    /// A session that begins with tokens which were issued at some time before.
    fileprivate init(adopting bundle: TokenBundle, now: Date) {
        self.init(id: SessionID(), bundle: bundle, freshUntil: bundle.expiresAt)
        // How long the token lived as a whole nobody knows. An hour is usual, and most of it may be over.
        lifetime = bundle.expiresAt.flatMap { Duration(untrusted: max($0.timeIntervalSince(now), 3600)) }
    }
}
