#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Keeps secrets in Apple's Keychain, each as one generic password.
///
/// ```swift
/// let secrets: some SecureStorage = .keychain(service: "com.example.app")
/// ```
///
/// Reading never mistakes a locked device for an empty Keychain. Before a device is first unlocked Keychain services may
/// say that an item is not there which is only out of reach, so a "not found" is believed only where the device is
/// unlocked: where an item that needs that could be written at that moment. Until then reading throws
/// ``StorageFailure/Kind/locked``.
///
/// Items that are there under another accessibility, from an older version of the app for example, are found, and moved
/// to the one that is asked for: when they are read, or with ``KeychainAuthentication`` when they are next written.
public final class KeychainStorage: SecureStorage {
    struct Settings: Sendable {
        var service: String
        var accessGroup: String?
        var accessibility = KeychainAccessibility.afterFirstUnlockThisDeviceOnly
        var authentication = KeychainAuthentication.none
        var reinstallPolicy = KeychainReinstallPolicy.keep
        var macKeychain = MacKeychain.dataProtectionOrLogin
    }

    /// What the items of this storage have in common (`kSecAttrService`).
    public var service: String { settings.service }

    let settings: Settings
    private let calls: KeychainCalls
    /// Where the number of this installation is; `nil` where items of earlier ones are kept.
    private let marker: InstallMarker?
    private let whenUnlocked: @Sendable () -> AsyncStream<Void>?
    private let queue = BlockingQueue("martlet.keychain")
    private let state: Locked<State>

    private struct State {
        var usesLogin: Bool
        var generation = 0
    }

    /// - Parameters:
    ///   - hasLogin: Whether there is a login keychain besides the other one.
    ///   - whenUnlocked: One value whenever what was locked may be readable.
    init(
        _ settings: Settings, calls: KeychainCalls, hasLogin: Bool,
        whenUnlocked: @escaping @Sendable () -> AsyncStream<Void>? = { nil }
    ) {
        var settings = settings
        if !hasLogin { settings.macKeychain = .dataProtection }
        self.settings = settings
        self.calls = calls
        self.marker =
            if case .forget(let folder) = settings.reinstallPolicy { InstallMarker(folder: folder) } else { nil }
        self.whenUnlocked = whenUnlocked
        self.state = Locked(State(usesLogin: settings.macKeychain == .login))
    }

    /// Whether the items are in the login keychain of macOS: because that was asked for, or because this process is not
    /// signed for the other one, which is known once it was used.
    public var usesLoginKeychain: Bool { state.withLock(\.usesLogin) }

    /// Forgets that the person was recognised: the next access asks again, where ``KeychainAuthentication`` says so. A
    /// ``TokenManager`` that has read its session keeps it in memory all the same.
    public func lock() {
        state.withLock { $0.generation += 1 }
    }

    /// Reads a value.
    /// - Throws: ``StorageFailure``: ``StorageFailure/Kind/locked`` while the device is, or where the person did not
    ///   confirm who they are.
    public func read(_ key: String) async throws(StorageFailure) -> Data? {
        try await queue.run { () throws(StorageFailure) in
            try self.attempt("read \(self.name(of: key))") { keychain throws(KeychainStatus) in
                if try self.removedLeftover(key, in: keychain) { return nil }
                guard let item = try keychain.find(self.place(of: key), withData: true) else { return nil }
                guard let data = item[bytes: .data] else { throw .decode }
                self.adjust(item, key, in: keychain)
                return data
            }
        }
    }

    /// Saves a value: adds the item, or updates it where there is one.
    /// - Throws: ``StorageFailure``; what was there before is still there.
    public func save(_ value: Data, for key: String) async throws(StorageFailure) {
        try await queue.run { () throws(StorageFailure) in
            // An item that names an installation must never be there before the installation knows its name.
            let installation = self.marker?.make()
            try self.attempt("write \(self.name(of: key))") { keychain throws(KeychainStatus) in
                var contents: KeychainAttributes = [.data: .bytes(value)]
                contents[.label] = .text(self.settings.service)
                contents[bytes: .generic] = installation ?? Data()
                try keychain.put(contents, at: self.place(of: key))
            }
        }
    }

    /// Deletes a value; does nothing where there is none.
    /// - Throws: ``StorageFailure``; the value is still there.
    public func delete(_ key: String) async throws(StorageFailure) {
        try await queue.run { () throws(StorageFailure) in
            try self.attempt("delete \(self.name(of: key))") { keychain throws(KeychainStatus) in
                try keychain.delete(self.place(of: key))
            }
        }
    }

    /// The keys that have a value, sorted.
    /// - Throws: ``StorageFailure`` where that cannot be told now.
    public func keys() async throws(StorageFailure) -> [String] {
        try await queue.run { () throws(StorageFailure) in
            try self.attempt("list the items of \(self.settings.service)") { keychain throws(KeychainStatus) in
                try keychain.findAll(self.place(of: nil)).filter { !self.isLeftover($0) }.compactMap {
                    $0[text: .account]
                }
                .sorted()
            }
        }
    }

    /// One value whenever the device was unlocked; `nil` where that is not told.
    public func changes() -> AsyncStream<Void>? {
        whenUnlocked()
    }

    // MARK: - Another library's item

    /// Reads an item that something else has left.
    func read(_ item: KeychainItem) async throws(StorageFailure) -> Data? {
        try await queue.run { () throws(StorageFailure) in
            try self.attempt("read \(item.account) of \(item.service)") { keychain throws(KeychainStatus) in
                guard let found = try keychain.find(item.place, withData: true) else { return nil }
                guard let data = found[bytes: .data] else { throw .decode }
                return data
            }
        }
    }

    /// Whether the tokens of an item have been taken over before, in whichever installation.
    func hasAdopted(_ item: KeychainItem) async throws(StorageFailure) -> Bool {
        try await queue.run { () throws(StorageFailure) in
            try self.attempt("read what was taken over") { keychain throws(KeychainStatus) in
                try keychain.find(self.placeOfNote(on: item), withData: false) != nil
            }
        }
    }

    /// Notes that the tokens of an item have been taken over, where no key of the app's is.
    func noteAdoption(of item: KeychainItem) async throws(StorageFailure) {
        try await queue.run { () throws(StorageFailure) in
            try self.attempt("note what was taken over") { keychain throws(KeychainStatus) in
                try keychain.put([.data: .bytes(Data([1]))], at: self.placeOfNote(on: item))
            }
        }
    }

    private func placeOfNote(on item: KeychainItem) -> KeychainAttributes {
        var place = place(of: [item.accessGroup ?? "", item.service, item.account].joined(separator: " "))
        place[text: .service] = settings.service + ".adopted"
        return place
    }

    /// Deletes an item that something else has left.
    func delete(_ item: KeychainItem) async throws(StorageFailure) {
        try await queue.run { () throws(StorageFailure) in
            try self.attempt("delete \(item.account) of \(item.service)") { keychain throws(KeychainStatus) in
                try keychain.delete(item.place)
            }
        }
    }

    // MARK: - Parts

    /// Does something in the Keychain that this process may use.
    private func attempt<Value>(
        _ action: String, _ body: (KeychainAccess) throws(KeychainStatus) -> Value
    ) throws(StorageFailure) -> Value {
        do throws(KeychainStatus) {
            do throws(KeychainStatus) {
                return try body(access)
            } catch .missingEntitlement where mayFallBack {
                state.withLock { $0.usesLogin = true }
                return try body(access)
            }
        } catch {
            throw error.failure(action)
        }
    }

    /// Who asks for an access group has signed the app for it, or wants to know that something is wrong.
    private var mayFallBack: Bool {
        settings.macKeychain == .dataProtectionOrLogin && settings.accessGroup == nil && !usesLoginKeychain
    }

    private var access: KeychainAccess {
        let state = state.withLock { $0 }
        return KeychainAccess(
            calls: calls, service: settings.service, accessibility: settings.accessibility,
            authentication: settings.authentication, generation: state.generation, isLogin: state.usesLogin)
    }

    private func place(of key: String?) -> KeychainAttributes {
        var place: KeychainAttributes = [.service: .text(settings.service)]
        place[text: .account] = key
        place[text: .accessGroup] = settings.accessGroup
        return place
    }

    private func name(of key: String) -> String { "\(key) of \(settings.service)" }

    /// Deletes an item that an earlier installation of the app has left. Nobody is asked to confirm that.
    private func removedLeftover(_ key: String, in keychain: KeychainAccess) throws(KeychainStatus) -> Bool {
        guard marker != nil, let item = try keychain.find(place(of: key), withData: false), isLeftover(item) else {
            return false
        }
        var leftover = place(of: key)
        // Another process may have written a new one in its place.
        leftover[.generic] = item[.generic]
        try keychain.delete(leftover)
        return try keychain.find(place(of: key), withData: false) == nil
    }

    /// Whether it is certain that an earlier installation of the app has left an item.
    private func isLeftover(_ item: KeychainAttributes) -> Bool {
        guard let marker, let installation = item[bytes: .generic], !installation.isEmpty else { return false }
        return switch marker.read() {
        case .number(let number): number != installation
        case .missing: true
        case .unknown: false
        }
    }

    /// Moves an item to the accessibility that is asked for; it stays usable where that fails.
    private func adjust(_ item: KeychainAttributes, _ key: String, in keychain: KeychainAccess) {
        guard settings.authentication == .none, !keychain.isLogin,
            case .accessible(let found)? = item[.accessible], found != settings.accessibility
        else { return }
        _ = calls.update(keychain.query(place(of: key)), keychain.protection)
    }
}

/// Where something else has left an item in the Keychain: a generic password.
public struct KeychainItem: Sendable, Hashable {
    /// Its service (`kSecAttrService`).
    public var service: String
    /// Its account (`kSecAttrAccount`).
    public var account: String
    /// Its access group (`kSecAttrAccessGroup`); `nil` for whichever it is in.
    public var accessGroup: String?

    /// An item.
    public init(service: String, account: String, accessGroup: String? = nil) {
        self.service = service
        self.account = account
        self.accessGroup = accessGroup
    }

    fileprivate var place: KeychainAttributes {
        var place: KeychainAttributes = [.service: .text(service), .account: .text(account)]
        place[text: .accessGroup] = accessGroup
        return place
    }
}
