#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// Keeps secrets in Apple's Keychain, each as one generic password.
///
/// It distinguishes a locked device from an empty Keychain. Before the first unlock, Keychain services may report an
/// existing item as not found. So "not found" is trusted only if an item that requires an unlocked device can be
/// written at that moment. Otherwise reading throws ``StorageError/Kind/locked``.
///
/// Items with another accessibility, for example from an older version of the app, are found, too. They get the
/// configured accessibility when they are read or, if they are under access control, when they are next written.
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
    private let queue: BlockingQueue
    private let state: Locked<State>
    /// Whether the items are sessions, which are not under access control. The user is prompted before they are read.
    private let isForSessions: Bool

    private struct State {
        var usesLogin: Bool
        /// Whether the data protection Keychain has served this process, so the process is signed for it.
        var isSigned = false
        /// Incremented each time the user's authentication is forgotten.
        var generation = 0
        /// The current or last prompt for reading sessions, and its generation.
        var prompt: (generation: Int, response: Task<KeychainStatus, Never>)?
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
        self.marker = settings.reinstallMarkerFolder.flatMap { InstallMarker(folder: $0) }
        self.makeUnlockStream = makeUnlockStream
        self.queue = BlockingQueue("martlet.keychain")
        self.state = Locked(State(usesLogin: settings.macKeychain == .login))
        self.isForSessions = false
    }

    /// The same storage for sessions. Both share the authentication of the user.
    private init(forSessionsOf storage: KeychainStorage) {
        settings = storage.settings
        calls = storage.calls
        hasLogin = storage.hasLogin
        marker = storage.marker
        makeUnlockStream = storage.makeUnlockStream
        queue = storage.queue
        state = storage.state
        isForSessions = true
    }

    /// Whether the items are in the login keychain of macOS. A fallback to it is known only after the first call.
    var usesLoginKeychain: Bool { state.withLock(\.usesLogin) }

    /// The login keychain, for items of other programs; `nil` if the system has none, or this storage uses it.
    package var loginKeychain: KeychainStorage? {
        guard hasLogin, !usesLoginKeychain else { return nil }
        return KeychainStorage(
            Settings(service: settings.service, macKeychain: .login), calls: calls, hasLogin: hasLogin)
    }

    package func choice() async throws(StorageError) -> StorageChoice? {
        if mayFallBack {
            _ = try? await perform("find the Keychain") { keychain throws(KeychainStatus) in
                try keychain.find(self.identity(of: nil), withData: false) != nil
            }
        }
        return usesLoginKeychain ? .loginKeychain : .keychain
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
        try await write(value, for: key)
    }

    /// - Parameter id: The session that the value contains; `nil` if it is another secret.
    private func write(_ value: Data, for key: String, ofSession id: String? = nil) async throws(StorageError) {
        try await perform("write \(name(of: key))") { keychain throws(KeychainStatus) in
            // Create the number first: an item whose number is not in the file counts as a leftover.
            let installation = self.marker?.readOrCreate()
            var contents: KeychainAttributes = [.data: .bytes(value)]
            contents[.label] = .text(self.settings.service)
            contents[bytes: .generic] = installation ?? Data()
            if let id { contents[text: .comment] = try self.binding(ofSession: id, key, in: keychain) }
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

    /// Calls the closure on the queue, and again with the login keychain if this process may use only that one.
    /// - Parameter action: For error texts, as in "read the session".
    package func perform<Value: Sendable>(
        _ action: String, _ body: @escaping @Sendable (KeychainAccess) throws(KeychainStatus) -> Value
    ) async throws(StorageError) -> Value {
        guard !settings.authentication.lacksReason else {
            throw StorageError(
                .unreachable,
                "could not \(action) in the Keychain: the reason for the prompt is empty. Pass a message for the user "
                    + "to .userPresence(_:) or .currentBiometry(_:)")
        }
        return try await queue.run { () throws(StorageError) in
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
                throw error.failure(action, inLogin: self.usesLoginKeychain)
            }
        }
    }

    /// Whether this process may fall back to the login keychain, which has neither access groups nor authentication. A
    /// signed process may not, because its session is not there.
    private var mayFallBack: Bool {
        settings.macKeychain == .automatic && settings.accessGroup == nil && settings.authentication == .none
            && state.withLock { !$0.usesLogin && !$0.isSigned }
    }

    private var access: KeychainAccess {
        let state = state.withLock { $0 }
        return KeychainAccess(
            calls: calls, service: settings.service, accessibility: settings.accessibility,
            authentication: isForSessions ? .none : settings.authentication, generation: state.generation,
            isLogin: state.usesLogin)
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

    /// Whether an earlier installation of the app definitely left an item.
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
        guard keychain.authentication == .none, !keychain.isLogin,
            case .accessible(let found)? = item[.accessible], found != settings.accessibility
        else { return }
        _ = calls.update(keychain.query(identity(of: key)), keychain.protection)
    }
}

// MARK: - Sessions

extension KeychainStorage {
    package func forSessions() -> any SystemStorage {
        settings.authentication == .none || isForSessions ? self : KeychainStorage(forSessionsOf: self)
    }

    package func save(_ value: Data, ofSession id: String, for key: String) async throws(StorageError) {
        try await write(value, for: key, ofSession: id)
    }

    /// Prompts the user, unless the user was authenticated already or there is nothing to read. The queue is free
    /// during the prompt, so other readers and writers of the storage do not wait for the user.
    package func confirmUser(toRead key: String) async throws(StorageError) {
        guard isForSessions, let requirement = settings.authentication.requirement else { return }
        let action = "read \(name(of: key))"
        let item = try await perform(action) { keychain throws(KeychainStatus) -> KeychainAttributes? in
            if keychain.isLogin { return nil }
            if try self.removedLeftover(key, in: keychain) { return nil }
            return try keychain.find(self.identity(of: key), withData: false)
        }
        guard let item else { return }
        let status = await promptOnce(requirement)
        guard status == .success else { throw status.failure(action) }
        guard requirement == .currentBiometry else { return }
        try await perform(action) { keychain throws(KeychainStatus) in
            try self.compareBiometry(of: item, key, in: keychain)
        }
    }

    /// Shows one prompt for all concurrent readers. A refusal is forgotten, so the next reader prompts again.
    private func promptOnce(_ requirement: KeychainAuthentication.Requirement) async -> KeychainStatus {
        let reason = settings.authentication.reason
        let prompt = state.withLock { [calls] state in
            if let prompt = state.prompt, prompt.generation == state.generation { return prompt }
            let response = Task { await calls.authenticate(requirement, reason) }
            let prompt = (generation: state.generation, response: response)
            state.prompt = prompt
            return prompt
        }
        let status = await prompt.response.value
        if status != .success {
            state.withLock { state in
                if state.prompt?.response == prompt.response { state.prompt = nil }
            }
        }
        return status
    }

    /// Compares the faces and fingerprints that were enrolled at the sign-in with those that are enrolled now.
    private func compareBiometry(
        of item: KeychainAttributes, _ key: String, in keychain: KeychainAccess
    ) throws(KeychainStatus) {
        guard let enrolled = calls.enrolledBiometry() else { throw .authenticationFailed }
        guard let binding = item[text: .comment].flatMap(BiometryBinding.init) else { return }
        if let biometry = binding.biometry {
            guard biometry == enrolled else { throw .biometryChanged }
            return
        }
        // At the sign-in, the system did not say what was enrolled.
        let bound = BiometryBinding(session: binding.session, biometry: enrolled)
        _ = calls.update(keychain.query(identity(of: key)), [.comment: .text(bound.text)])
    }

    /// The text that binds a new session to the enrolled faces and fingerprints; `nil` to leave the item as it is. A
    /// refresh does not bind its session again, because another face may have been enrolled since the sign-in.
    private func binding(
        ofSession id: String, _ key: String, in keychain: KeychainAccess
    ) throws(KeychainStatus) -> String? {
        guard !keychain.isLogin, settings.authentication.requirement == .currentBiometry else { return nil }
        let item = try keychain.find(identity(of: key), withData: false)
        if item?[text: .comment].flatMap(BiometryBinding.init)?.session == id { return nil }
        return BiometryBinding(session: id, biometry: calls.enrolledBiometry()).text
    }
}

/// A session and the faces and fingerprints that were enrolled when it began, as the text of an item's attribute.
private struct BiometryBinding {
    let session: String
    /// In Base64; `nil` if the system did not say.
    let biometry: String?

    init(session: String, biometry: String?) {
        self.session = session
        self.biometry = biometry
    }

    init?(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        biometry = parts[0].isEmpty ? nil : String(parts[0])
        session = String(parts[1])
    }

    var text: String { "\(biometry ?? "") \(session)" }
}
