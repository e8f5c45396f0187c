#if !os(Linux) || URLSession || !AsyncHTTPClient
    internal import Foundation

    /// Keeps the session in `UserDefaults`: for test builds and prototypes, and not for users' tokens.
    ///
    /// What is there is a plain property list in the app's container. It is no safe place:
    /// - Whoever gets at the device's files or at an unencrypted backup reads the tokens.
    /// - Backups take it to other devices, where two apps then renew the same tokens.
    /// - It is written by and by. A rotation that a crash cuts short may be lost.
    /// - Before a device is first unlocked it looks empty, which to an app that the system starts ahead of time means
    ///   that nobody is signed in.
    /// - Processes that share it do not know of each other.
    ///
    /// ``KeychainTokenStore`` has none of these faults. An app that moves there signs its users over with
    /// `try await keychain.write(session)` for what ``read()`` found here.
    ///
    /// Apple asks apps to say why they use it: the reason CA92.1 stands in the library's own privacy manifest.
    public struct UserDefaultsTokenStore: TokenStore {
        /// The key of the session's value.
        public let key: String
        /// The domain that it is in; `nil` for the app's own.
        public let suiteName: String?

        /// A store under a key.
        /// - Parameters:
        ///   - key: The key of the session's value.
        ///   - suiteName: The domain that it is in; `nil` for the app's own. Neither the app's bundle identifier nor the
        ///     global domain: what is written there is an error.
        public init(key: String = "martlet.session", suiteName: String? = nil) {
            self.key = key
            self.suiteName = suiteName
        }

        /// Reads the session.
        public func read() async -> StoreReading {
            do throws(StorageFailure) {
                guard let value = try defaults().object(forKey: key) else { return .empty }
                guard let bytes = value as? Data else {
                    throw StorageFailure(.corrupt, "the value of \(key) in UserDefaults is no session")
                }
                return .found(try StoredSessionCodec.decode(bytes))
            } catch {
                return .unavailable(error)
            }
        }

        /// Writes the session, in place of what was there.
        /// - Throws: ``StorageFailure`` where there can be no such domain.
        public func write(_ session: StoredSession) async throws {
            let defaults = try defaults()
            defaults.set(try StoredSessionCodec.encode(session), forKey: key)
            // As well as it can be done: nobody says when it is on the disk.
            _ = defaults.synchronize()
        }

        /// Deletes the session; does nothing where there is none.
        /// - Throws: ``StorageFailure`` where there can be no such domain.
        public func delete() async throws {
            let defaults = try defaults()
            defaults.removeObject(forKey: key)
            _ = defaults.synchronize()
        }

        /// Made anew each time, since not every Foundation lets it be shared between threads; it costs a microsecond.
        private func defaults() throws(StorageFailure) -> UserDefaults {
            guard let suiteName else { return .standard }
            guard let defaults = UserDefaults(suiteName: suiteName) else {
                throw StorageFailure(.unreachable, "there can be no UserDefaults domain \(suiteName)")
            }
            return defaults
        }
    }

    extension TokenStore where Self == UserDefaultsTokenStore {
        /// The app's own `UserDefaults`: for test builds and prototypes, and not for users' tokens.
        public static var userDefaults: UserDefaultsTokenStore { UserDefaultsTokenStore() }
    }
#endif
