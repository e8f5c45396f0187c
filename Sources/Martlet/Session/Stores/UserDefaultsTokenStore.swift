#if !os(Linux) || URLSession || !AsyncHTTPClient
    internal import Foundation

    /// Keeps the session in `UserDefaults`. For prototypes only.
    struct UserDefaultsTokenStore: LockedTokenStore {
        let key: String
        /// The domain; `nil` for the app's own.
        let suiteName: String?

        let queue = BlockingQueue("martlet.user-defaults")
        var updateLock: ProcessLock? { nil }
        let updateLease = CoordinationFiles.updateLease
        var markFile: PrivateFile? { nil }
        let keepsMarkInPlace = true

        init(key: String = "martlet.session", suiteName: String? = nil) {
            self.key = key
            self.suiteName = suiteName
        }

        func readBytes() async throws(StorageError) -> Data? {
            try await queue.run { () throws(StorageError) in
                guard let value = try defaults().object(forKey: key) else { return nil }
                guard let bytes = value as? Data else {
                    throw StorageError(
                        .foreign, "the value of \(key) in UserDefaults is not a session; remove it or use another key")
                }
                return bytes
            }
        }

        func replace(with bytes: Data, while isHeld: @escaping @Sendable () -> Bool) async throws(StorageError) -> Bool
        {
            try await change { $0.set(bytes, forKey: key) }
            return true
        }

        func remove(while isHeld: @escaping @Sendable () -> Bool) async throws(StorageError) -> Bool {
            try await change { $0.removeObject(forKey: key) }
            return true
        }

        func reportMark() async {}

        private func change(_ change: @escaping @Sendable (UserDefaults) -> Void) async throws(StorageError) {
            try await queue.run { () throws(StorageError) in
                let defaults = try defaults()
                change(defaults)
                // The closest thing to a flush: UserDefaults does not report when a value is on the disk.
                _ = defaults.synchronize()
            }
        }

        /// A new object each time, because not every Foundation allows threads to share one. This takes a microsecond.
        private func defaults() throws(StorageError) -> UserDefaults {
            guard let suiteName else { return .standard }
            guard let defaults = UserDefaults(suiteName: suiteName) else {
                throw StorageError(
                    .unreachable,
                    "UserDefaults has no domain \(suiteName): use neither the bundle identifier nor the global domain")
            }
            return defaults
        }
    }

    extension UserDefaultsTokenStore: AdoptionRecording {
        private var adoptedKey: String { key + ".adopted" }

        func hasRecorded(_ place: String) async throws(StorageError) -> Bool {
            try await queue.run { () throws(StorageError) in
                (try defaults().object(forKey: adoptedKey) as? [String])?.contains(place) == true
            }
        }

        func recordAdoption(of place: String) async throws(StorageError) {
            try await change { [adoptedKey] defaults in
                let places = defaults.object(forKey: adoptedKey) as? [String] ?? []
                if !places.contains(place) { defaults.set(places + [place], forKey: adoptedKey) }
            }
        }
    }

    extension TokenStore where Self == AnyTokenStore {
        /// Keeps the session in the app's `UserDefaults`. For prototypes only: see ``userDefaults(key:suiteName:)``.
        public static var userDefaults: AnyTokenStore { AnyTokenStore(UserDefaultsTokenStore()) }

        /// Keeps the session in `UserDefaults`. For prototypes only, never for the tokens of users:
        /// - The value is plain text. A copy of the device's files or an unencrypted backup reveals the tokens.
        /// - Backups copy it to other devices, where a second copy of the app refreshes the same tokens.
        /// - It is written with a delay. A crash may lose the last refresh.
        /// - It looks empty before the device is first unlocked. An app that the system launches then is signed out.
        /// - Processes that share it do not notice each other.
        ///
        /// To move to the Keychain, write the session that this store returns to the new store, then delete it here.
        ///
        /// Apple requires apps to declare why they use `UserDefaults`. Martlet's privacy manifest states C56D.1, a
        /// wrapper that only the app calls, and what it wraps: CA92.1, the defaults of the app, and 1C8F.1, those of
        /// its group.
        /// - Parameters:
        ///   - key: The key of the session's value.
        ///   - suiteName: The domain; `nil` for the app's own. Do not pass the bundle identifier or the global domain:
        ///     calls then throw a ``StorageError``.
        public static func userDefaults(
            key: String = "martlet.session", suiteName: String? = nil
        ) -> AnyTokenStore {
            AnyTokenStore(UserDefaultsTokenStore(key: key, suiteName: suiteName))
        }
    }
#endif
