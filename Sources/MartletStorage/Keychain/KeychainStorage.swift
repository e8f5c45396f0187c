#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// Keeps secrets in Apple's Keychain, each as one generic password.
///
/// It distinguishes a locked device from an empty Keychain. Before the first unlock, Keychain services may report an
/// existing item as not found. So "not found" counts only if an item that requires an unlocked device can be written at
/// that moment; otherwise reading throws ``StorageError/Kind/locked``.
///
/// Items with another accessibility, for example from an older version of the app, are found. They get the configured
/// accessibility when they are read or, with ``KeychainAuthentication``, when they are next written.
package final class KeychainStorage: SystemStorage {
    /// The items that the storage uses, and their protection. The factory `.keychain(…)` describes each setting.
    package struct Settings: Sendable {
        package var service: String
        var accessGroup: String?
        var accessibility: KeychainAccessibility
        var authentication: KeychainAuthentication
        /// The folder of the file that tells whether the app was deleted; `nil` keeps all items.
        var reinstallMarkerFolder: String?
        var macKeychain: MacKeychain

        package init(
            service: String, accessGroup: String? = nil,
            accessibility: KeychainAccessibility = .afterFirstUnlockThisDeviceOnly,
            authentication: KeychainAuthentication = .none, reinstallMarkerFolder: String? = nil,
            macKeychain: MacKeychain = .automatic
        ) {
            self.service = service
            self.accessGroup = accessGroup
            self.accessibility = accessibility
            self.authentication = authentication
            self.reinstallMarkerFolder = reinstallMarkerFolder
            self.macKeychain = macKeychain
        }
    }

    package let settings: Settings
    private let calls: KeychainCalls
    /// Whether the system has a login keychain.
    private let hasLogin: Bool
    /// `nil` if items of earlier installations are kept.
    private let marker: InstallMarker?
    private let makeUnlockStream: @Sendable () -> AsyncStream<Void>?
    private let queue = BlockingQueue("martlet.keychain")
    private let state: Locked<State>

    private struct State {
        var usesLogin: Bool
        /// Whether the data protection Keychain has served this process, which then is signed for it.
        var isSigned = false
        /// Incremented each time the user's authentication is forgotten.
        var generation = 0
    }

    /// - Parameters:
    ///   - hasLogin: Whether the system has a login keychain.
    ///   - makeUnlockStream: Returns a stream that yields each time locked items may have become readable.
    init(
        _ settings: Settings, calls: KeychainCalls, hasLogin: Bool,
        makeUnlockStream: @escaping @Sendable () -> AsyncStream<Void>? = { nil }
    ) {
        var settings = settings
        if !hasLogin { settings.macKeychain = .dataProtection }
        self.settings = settings
        self.calls = calls
        self.hasLogin = hasLogin
        self.marker = settings.reinstallMarkerFolder.map { InstallMarker(folder: $0) }
        self.makeUnlockStream = makeUnlockStream
        self.state = Locked(State(usesLogin: settings.macKeychain == .login))
    }

    /// Whether the items are in the login keychain of macOS. Whether this process falls back to it is known after its
    /// first call.
    var usesLoginKeychain: Bool { state.withLock(\.usesLogin) }

    /// The login keychain, for items of other programs; `nil` if the system has none, or if this storage uses it already.
    package var loginKeychain: KeychainStorage? {
        guard hasLogin, !usesLoginKeychain else { return nil }
        return KeychainStorage(
            Settings(service: settings.service, macKeychain: .login), calls: calls, hasLogin: hasLogin)
    }

    package func choice() async throws(StorageError) -> StorageChoice? {
        usesLoginKeychain ? .loginKeychain : .keychain
    }

    package func forgetAuthentication() {
        state.withLock { $0.generation += 1 }
    }

    package func read(_ key: String) async throws(StorageError) -> Data? {
        try await perform("read \(name(of: key))") { keychain throws(KeychainStatus) in
            if try self.removedLeftover(key, in: keychain) { return nil }
            guard let item = try keychain.find(self.identity(of: key), withData: true) else { return nil }
            guard let data = item[bytes: .data] else { throw .decode }
            self.adjust(item, key, in: keychain)
            return data
        }
    }

    package func save(_ value: Data, for key: String) async throws(StorageError) {
        try await perform("write \(name(of: key))") { keychain throws(KeychainStatus) in
            // Create the number first: an item with a number that is not in the file counts as a leftover.
            let installation = self.marker?.readOrCreate()
            var contents: KeychainAttributes = [.data: .bytes(value)]
            contents[.label] = .text(self.settings.service)
            contents[bytes: .generic] = installation ?? Data()
            try keychain.put(contents, for: self.identity(of: key))
        }
    }

    package func delete(_ key: String) async throws(StorageError) {
        try await perform("delete \(name(of: key))") { keychain throws(KeychainStatus) in
            try keychain.delete(self.identity(of: key))
        }
    }

    package func keys() async throws(StorageError) -> [String] {
        try await perform("list the items of \(settings.service)") { keychain throws(KeychainStatus) in
            try keychain.findAll(self.identity(of: nil)).filter { !self.isLeftover($0) }
                .compactMap { $0[text: .account] }
                .sorted()
        }
    }

    package func changes() -> AsyncStream<Void>? {
        makeUnlockStream()
    }

    package var readingPromptsUser: Bool { settings.authentication != .none }

    // MARK: - Parts

    /// Calls the closure on the queue, and again with the login keychain if this process may use only that.
    /// - Parameter action: For error texts, as in "read the session".
    package func perform<Value: Sendable>(
        _ action: String, _ body: @escaping @Sendable (KeychainAccess) throws(KeychainStatus) -> Value
    ) async throws(StorageError) -> Value {
        try await queue.run { () throws(StorageError) in
            do throws(KeychainStatus) {
                do throws(KeychainStatus) {
                    let access = self.access
                    let value = try body(access)
                    if !access.isLogin { self.state.withLock { $0.isSigned = true } }
                    return value
                } catch .missingEntitlement where self.mayFallBack {
                    self.state.withLock { $0.usesLogin = true }
                    return try body(self.access)
                }
            } catch {
                throw error.failure(action)
            }
        }
    }

    /// With an access group or an authentication of the user there is no fallback: the login keychain has neither, and
    /// the error says that the app must be signed. Nor is there one for a signed process, whose session is not there.
    private var mayFallBack: Bool {
        settings.macKeychain == .automatic && settings.accessGroup == nil && settings.authentication == .none
            && state.withLock { !$0.usesLogin && !$0.isSigned }
    }

    private var access: KeychainAccess {
        let state = state.withLock { $0 }
        return KeychainAccess(
            calls: calls, service: settings.service, accessibility: settings.accessibility,
            authentication: settings.authentication, generation: state.generation, isLogin: state.usesLogin)
    }

    /// The attributes that identify the item of a key, or all items if `nil`.
    package func identity(of key: String?) -> KeychainAttributes {
        var identity: KeychainAttributes = [.service: .text(settings.service)]
        identity[text: .account] = key
        identity[text: .accessGroup] = settings.accessGroup
        return identity
    }

    private func name(of key: String) -> String { "\(key) of \(settings.service)" }

    /// Deletes the item of a key if an earlier installation left it. Does not prompt the user.
    private func removedLeftover(_ key: String, in keychain: KeychainAccess) throws(KeychainStatus) -> Bool {
        guard marker != nil, let item = try keychain.find(identity(of: key), withData: false), isLeftover(item) else {
            return false
        }
        var leftover = identity(of: key)
        // Do not delete an item that another process has written in the meantime.
        leftover[.generic] = item[.generic]
        try keychain.delete(leftover)
        return try keychain.find(identity(of: key), withData: false) == nil
    }

    /// Whether an earlier installation of the app certainly left an item.
    private func isLeftover(_ item: KeychainAttributes) -> Bool {
        guard let marker, let installation = item[bytes: .generic], !installation.isEmpty else { return false }
        return switch marker.read() {
        case .number(let number): number != installation
        case .missing: true
        case .unknown: false
        }
    }

    /// Gives an item the configured accessibility. If that fails, the item stays usable.
    private func adjust(_ item: KeychainAttributes, _ key: String, in keychain: KeychainAccess) {
        guard settings.authentication == .none, !keychain.isLogin,
            case .accessible(let found)? = item[.accessible], found != settings.accessibility
        else { return }
        _ = calls.update(keychain.query(identity(of: key)), keychain.protection)
    }
}
