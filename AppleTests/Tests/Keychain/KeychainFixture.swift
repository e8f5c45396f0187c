import Foundation
import Security

@testable import Martlet
@testable import MartletStorage

/// A service of its own for one test, whose items are deleted at the end.
struct KeychainFixture {
    let service = "com.example.martlet.AppleTests.\(UUID().uuidString)"

    /// Whether the process is expected to have only the login keychain: on macOS, `make apple-test` signs no entitlement.
    #if os(macOS)
        static let hasLoginKeychainOnly = true
    #else
        static let hasLoginKeychainOnly = false
    #endif

    func storage(_ change: (inout KeychainStorage.Settings) -> Void = { _ in }) -> KeychainStorage {
        var settings = KeychainStorage.Settings(service: service)
        change(&settings)
        return KeychainStorage(settings)
    }

    /// The attributes of an item as the system returns them, without Martlet in between; `nil` if there is none.
    func systemAttributes(of account: String) -> [String: Any]? {
        var query = query(account)
        query[kSecReturnAttributes as String] = true
        query[kSecMatchLimit as String] = kSecMatchLimitOne
        var found: CFTypeRef?
        guard SecItemCopyMatching(query as CFDictionary, &found) == errSecSuccess else { return nil }
        return found as? [String: Any]
    }

    /// Adds an item as another library would, and returns the status.
    func add(_ data: Data, account: String, _ attributes: [String: Any]) -> OSStatus {
        var query = query(account).merging(attributes) { $1 }
        query[kSecValueData as String] = data
        return SecItemAdd(query as CFDictionary, nil)
    }

    /// Deletes all items of the service, with or without synchronization.
    func clear() {
        var query = query(nil)
        query[kSecAttrSynchronizable as String] = kSecAttrSynchronizableAny
        _ = SecItemDelete(query as CFDictionary)
    }

    private func query(_ account: String?) -> [String: Any] {
        var query: [String: Any] = [kSecAttrService as String: service]
        query[kSecClass as String] = kSecClassGenericPassword
        query[kSecAttrAccount as String] = account
        if !Self.hasLoginKeychainOnly { query[kSecUseDataProtectionKeychain as String] = true }
        return query
    }
}
