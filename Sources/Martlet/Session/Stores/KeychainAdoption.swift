#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension AnyTokenStore {
    /// Takes over, once, the tokens that another library left in a Keychain item.
    ///
    /// Call it at launch, before a ``TokenManager`` uses the store:
    ///
    /// ```swift
    /// struct Old: Decodable { let access: String, refresh: String }
    /// let store: AnyTokenStore = .keychain(service: "com.example.app")
    /// try await store.adoptKeychainItem(service: "com.example.app.auth", account: "credentials") { data in
    ///     let old = try JSONDecoder().decode(Old.self, from: data)
    ///     return Tokens(accessToken: Secret(old.access), refreshToken: Secret(old.refresh))
    /// }
    /// ```
    ///
    /// If this store has a session already, that session stays. An item is adopted only once, even if it is not
    /// deleted: after the user signs out, later calls do nothing. On a Mac, the item is looked for in the Keychain that
    /// this store uses.
    ///
    /// An item that iCloud Keychain synchronizes is found, too, if there is no other. Each device of the user then adopts
    /// the same tokens, so with a server that rotates refresh tokens only one of them keeps its session.
    /// - Parameters:
    ///   - service: The service of the item (`kSecAttrService`).
    ///   - account: The account of the item (`kSecAttrAccount`).
    ///   - accessGroup: The access group of the item (`kSecAttrAccessGroup`); `nil` for any.
    ///   - deletesItem: Whether to delete the item afterwards. The other library then finds nothing. An item that iCloud
    ///     Keychain synchronizes stays, because the user's other devices would lose it, too.
    ///   - decode: Converts the data of the item to tokens. Set ``Tokens/expiresAt`` if it is known; otherwise the
    ///     access token is used until the server rejects it.
    /// - Returns: Whether tokens were adopted.
    /// - Throws: The error of `decode`; ``StorageError`` if the Keychain cannot be read or written now, or if this
    ///   store is not a Keychain store. After an error, call it again: the next call continues where this one failed.
    @discardableResult
    public func adoptKeychainItem(
        service: String, account: String, accessGroup: String? = nil, deletingIt deletesItem: Bool = false,
        _ decode: @Sendable (Data) throws -> Tokens
    ) async throws -> Bool {
        guard let store = base as? SecureTokenStore, let keychain = store.storage as? KeychainStorage else {
            throw StorageError(
                .unreachable,
                "could not adopt \(account) of \(service): the store is not in the Keychain; use .keychain(…)")
        }
        let item = KeychainItem(service: service, account: account, accessGroup: accessGroup)
        return try await store.adopt(item, from: keychain, deletingIt: deletesItem, decode)
    }
}

/// An item that another library left in the Keychain: a generic password.
struct KeychainItem: Sendable, Hashable {
    var service: String
    var account: String
    var accessGroup: String?

    /// The item that is not synchronized.
    fileprivate var identity: KeychainAttributes {
        var identity: KeychainAttributes = [.service: .text(service), .account: .text(account)]
        identity[text: .accessGroup] = accessGroup
        return identity
    }

    /// The item, whether it is synchronized or not. There may be one of each.
    fileprivate var anyIdentity: KeychainAttributes {
        identity.merging([.synchronizable: .either]) { _, either in either }
    }
}

extension SecureTokenStore {
    fileprivate func adopt(
        _ item: KeychainItem, from keychain: KeychainStorage, deletingIt deletesItem: Bool,
        _ decode: @Sendable (Data) throws -> Tokens
    ) async throws -> Bool {
        if try await keychain.hasAdopted(item) {
            if deletesItem { try await keychain.delete(item) }
            return false
        }
        guard let data = try await keychain.read(item) else { return false }
        let session = StoredSession(adopting: try decode(data), now: Date())
        let former = try await update { reading in
            switch reading {
            case .empty: return .write(session)
            case .ended(let mark):
                var session = session
                session.generation = mark.order.generation + 1
                return .write(session)
            case .found, .unavailable: return .keep
            }
        }
        if case .unavailable(let failure) = former { throw failure }
        try await keychain.recordAdoption(of: item)
        if deletesItem { try await keychain.delete(item) }
        if case .found = former { return false }
        return true
    }
}

extension StoredSession {
    /// A session that begins with tokens issued earlier.
    fileprivate init(adopting bundle: Tokens, now: Date) {
        self.init(id: SessionID(), bundle: bundle.storable, estimatedExpiry: bundle.expiresAt)
        // The full lifetime of the token is unknown. An hour is usual, and most of it may have passed.
        lifetime = bundle.expiresAt.flatMap { Duration(untrusted: max($0.timeIntervalSince(now), 3600)) }
    }
}

extension KeychainStorage {
    fileprivate func read(_ item: KeychainItem) async throws(StorageError) -> Data? {
        try await perform("read \(item.account) of \(item.service)") { keychain throws(KeychainStatus) in
            var found = try keychain.find(item.identity, withData: true)
            if found == nil { found = try keychain.find(item.anyIdentity, withData: true) }
            guard let found else { return nil }
            guard let data = found[bytes: .data] else { throw .decode }
            return data
        }
    }

    fileprivate func delete(_ item: KeychainItem) async throws(StorageError) {
        try await perform("delete \(item.account) of \(item.service)") { keychain throws(KeychainStatus) in
            try keychain.delete(item.identity)
        }
    }

    /// Whether an item was adopted before, by any installation of the app.
    fileprivate func hasAdopted(_ item: KeychainItem) async throws(StorageError) -> Bool {
        let record = adoptionRecord(of: item)
        return try await perform("read what was adopted") { keychain throws(KeychainStatus) in
            try keychain.find(record, withData: false) != nil
        }
    }

    fileprivate func recordAdoption(of item: KeychainItem) async throws(StorageError) {
        let record = adoptionRecord(of: item)
        try await perform("record what was adopted") { keychain throws(KeychainStatus) in
            try keychain.put([.data: .bytes(Data([1]))], for: record)
        }
    }

    /// The item that records an adoption. Its service is not the app's, so its key does not show among the app's keys.
    private func adoptionRecord(of item: KeychainItem) -> KeychainAttributes {
        var record = identity(of: [item.accessGroup ?? "", item.service, item.account].joined(separator: " "))
        record[text: .service] = settings.service + ".adopted"
        return record
    }
}
