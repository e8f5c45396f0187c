public import Martlet
internal import MartletStorage

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension FormerTokens {
    /// Tokens in one item of the Keychain, a generic password.
    ///
    /// ```swift
    /// struct Old: Decodable { let access: String, refresh: String }
    /// let adopting = store.adopting(
    ///     .keychain(service: "com.example.app.auth", account: "credentials") { data in
    ///         let old = try JSONDecoder().decode(Old.self, from: data)
    ///         return Tokens(accessToken: Secret(old.access), refreshToken: Secret(old.refresh))
    ///     })
    /// ```
    ///
    /// The store must be in the Keychain, too. On a Mac, the Keychain that the store uses is searched first, then the
    /// login keychain. An item that iCloud Keychain synchronizes is used only if there is no other. It is not deleted,
    /// because the user's other devices would lose it, too. Each of these devices adopts the same tokens, so with a
    /// server that rotates refresh tokens only one of them keeps its session.
    /// - Parameters:
    ///   - service: The service of the item (`kSecAttrService`); empty for an item that was saved without one.
    ///   - account: The account of the item (`kSecAttrAccount`).
    ///   - accessGroup: The access group of the item (`kSecAttrAccessGroup`); `nil` for any. Pass it if an item with
    ///     the same service and account may be in another group.
    ///   - user: The user of the tokens, if the app knows it.
    ///   - decode: Converts the data of the item to tokens.
    public static func keychain(
        service: String, account: String, accessGroup: String? = nil,
        user: @escaping @Sendable (Tokens) -> SessionAccount = { _ in SessionAccount() },
        decode: @escaping @Sendable (Data) throws -> Tokens
    ) -> FormerTokens {
        let item = KeychainItem(service: service, account: account, accessGroup: accessGroup)
        return .keychain(item) { data, _ in
            let tokens = try decode(data)
            return (tokens, user(tokens))
        }
    }

    /// Tokens in two items of the Keychain, one for each token, as UTF-8 text.
    ///
    /// ```swift
    /// let adopting = store.adopting(
    ///     .keychain(service: "com.example.app", accessToken: "accessToken", refreshToken: "refreshToken"),
    ///     deletingThem: true)
    /// ```
    ///
    /// If there is only a refresh token, the session begins with a refresh.
    /// ``keychain(service:account:accessGroup:user:decode:)`` says which Keychains are searched.
    /// - Parameters:
    ///   - service: The service of both items (`kSecAttrService`).
    ///   - accessToken: The account of the item with the access token (`kSecAttrAccount`).
    ///   - refreshToken: The account of the item with the refresh token.
    ///   - accessGroup: The access group of the items; `nil` for any.
    ///   - user: The user of the tokens, if the app knows it.
    public static func keychain(
        service: String, accessToken: String, refreshToken: String, accessGroup: String? = nil,
        user: @escaping @Sendable (Tokens) -> SessionAccount = { _ in SessionAccount() }
    ) -> FormerTokens {
        let access = KeychainItem(service: service, account: accessToken, accessGroup: accessGroup)
        let refresh = KeychainItem(service: service, account: refreshToken, accessGroup: accessGroup)
        return FormerTokens(
            place: access.place + " " + refreshToken,
            read: { store in
                let keychain = try store.keychain(for: access)
                let texts = (try await keychain.text(of: access), try await keychain.text(of: refresh))
                return Tokens(formerAccess: texts.0, refresh: texts.1).map { ($0, user($0)) }
            },
            delete: { store in
                let keychain = try store.keychain(for: access)
                try await keychain.delete(access)
                try await keychain.delete(refresh)
            })
    }

    /// The session in an item of the Keychain that another library has written. The cases of ``FormerLibrary`` say
    /// where each library keeps it.
    ///
    /// ```swift
    /// let adopting = store.adopting(
    ///     .keychain(service: "com.example.app", account: "credentials", writtenBy: .auth0), deletingThem: true)
    /// ```
    ///
    /// The session has the user's ID if the record contains it. ``keychain(service:account:accessGroup:user:decode:)``
    /// says which Keychains are searched.
    /// - Parameters:
    ///   - service: The service of the item (`kSecAttrService`).
    ///   - account: The account of the item (`kSecAttrAccount`).
    ///   - library: The library that has written the item.
    ///   - accessGroup: The access group of the item; `nil` for any.
    public static func keychain(
        service: String, account: String, writtenBy library: FormerLibrary, accessGroup: String? = nil
    ) -> FormerTokens {
        .keychain(KeychainItem(service: service, account: account, accessGroup: accessGroup)) { data, keychain in
            var record = try library.record(data)
            for second in record.secondItems(besideItem: account) {
                let item = KeychainItem(service: service, account: second, accessGroup: accessGroup)
                guard let data = try await keychain.read(item) else { continue }
                record.add(secondItem: data)
                break
            }
            return record.session
        }
    }

    private static func keychain(
        _ item: KeychainItem,
        decode: @escaping @Sendable (Data, KeychainStorage) async throws -> (tokens: Tokens, account: SessionAccount)
    ) -> FormerTokens {
        FormerTokens(
            place: item.place,
            read: { store in
                let keychain = try store.keychain(for: item)
                guard let data = try await keychain.read(item) else { return nil }
                return try await decode(data, keychain)
            },
            delete: { store in try await store.keychain(for: item).delete(item) })
    }
}

extension Tokens {
    /// The tokens of a place that stores each one separately; `nil` if there are none.
    init?(formerAccess access: String?, refresh: String?) {
        let texts = [access, refresh].map { $0.flatMap { $0.isEmpty ? nil : $0 } }
        switch (texts[0], texts[1]) {
        case (nil, nil): return nil
        case (let access?, let refresh):
            self.init(accessToken: Secret(access), refreshToken: refresh.map { Secret($0) })
        case (nil, let refresh?):
            // Never sent: an expired token is refreshed first.
            self.init(accessToken: Secret("expired"), refreshToken: Secret(refresh), expiresAt: .distantPast)
        }
    }
}

/// An item that another library left in the Keychain: a generic password.
struct KeychainItem: Sendable, Hashable {
    var service: String
    var account: String
    var accessGroup: String?

    /// The name under which the store remembers the item.
    var place: String { [accessGroup ?? "", service, account].joined(separator: " ") }

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

extension AnyTokenStore {
    fileprivate func keychain(for item: KeychainItem) throws(StorageError) -> KeychainStorage {
        guard let keychain = storage as? KeychainStorage else {
            throw StorageError(
                .unreachable,
                "could not adopt \(item.account) of \(item.service): the store is not in the Keychain; use .keychain(…)"
            )
        }
        return keychain
    }
}

extension KeychainStorage {
    /// The Keychains that may have the item. The login keychain of a Mac has no access groups.
    private func places(of item: KeychainItem) -> [KeychainStorage] {
        [self] + (item.accessGroup == nil ? [loginKeychain].compactMap(\.self) : [])
    }

    fileprivate func read(_ item: KeychainItem) async throws(StorageError) -> Data? {
        for place in places(of: item) {
            if let data = try await place.readHere(item) { return data }
        }
        return nil
    }

    private func readHere(_ item: KeychainItem) async throws(StorageError) -> Data? {
        try await perform("read \(item.account) of \(item.service)") { keychain throws(KeychainStatus) in
            var found = try keychain.find(item.identity, withData: true)
            if found == nil { found = try keychain.find(item.anyIdentity, withData: true) }
            guard let found else { return nil }
            guard let data = found[bytes: .data] else { throw .decode }
            return data
        }
    }

    fileprivate func text(of item: KeychainItem) async throws -> String? {
        guard let data = try await read(item) else { return nil }
        guard let text = String(data: data, encoding: .utf8) else {
            throw StorageError(.foreign, "could not adopt \(item.account) of \(item.service): it is not text")
        }
        return text
    }

    fileprivate func delete(_ item: KeychainItem) async throws(StorageError) {
        for place in places(of: item) {
            try await place.perform("delete \(item.account) of \(item.service)") { keychain throws(KeychainStatus) in
                var identity = item.identity
                // Without a group, a deletion would include the items of the developer's other apps in shared groups.
                if item.accessGroup == nil, let found = try keychain.find(identity, withData: false) {
                    identity[text: .accessGroup] = found[text: .accessGroup]
                }
                try keychain.delete(identity)
            }
        }
    }
}
