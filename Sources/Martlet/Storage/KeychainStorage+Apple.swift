#if canImport(Security)
    internal import Foundation

    #if canImport(UIKit) && !os(watchOS)
        internal import UIKit
    #endif

    extension KeychainStorage {
        /// A storage in the Keychain.
        /// - Parameters:
        ///   - service: What the items have in common: usually the app's bundle identifier.
        ///   - accessGroup: Who shares them: one of the app's keychain access groups or app groups, the team's prefix
        ///     included where it has one. `nil` for the app alone.
        ///   - accessibility: When they may be read.
        ///   - authentication: Whether a person must confirm who they are first. Not on tvOS, where that fails.
        ///   - reinstallPolicy: What becomes of items that an earlier installation has left.
        ///   - macKeychain: Which Keychain to use on macOS.
        public convenience init(
            service: String, accessGroup: String? = nil,
            accessibility: KeychainAccessibility = .afterFirstUnlockThisDeviceOnly,
            authentication: KeychainAuthentication = .none, reinstallPolicy: KeychainReinstallPolicy = .keep,
            macKeychain: MacKeychain = .dataProtectionOrLogin
        ) {
            #if os(macOS)
                let hasLogin = true
            #else
                let hasLogin = false
            #endif
            self.init(
                Settings(
                    service: service, accessGroup: accessGroup, accessibility: accessibility,
                    authentication: authentication, reinstallPolicy: reinstallPolicy, macKeychain: macKeychain),
                calls: .system(), hasLogin: hasLogin,
                whenUnlocked: ProtectedData.becameAvailable)
        }
    }

    extension SecureTokenStore where Storage == KeychainStorage {
        /// A store for one session in the Keychain, as one generic password.
        /// - Parameters:
        ///   - service: Usually the app's bundle identifier (`kSecAttrService`).
        ///   - account: What tells this session from others of the app (`kSecAttrAccount`).
        ///   - accessGroup: Who shares the session: one of the app's keychain access groups or app groups. `nil` for the
        ///     app alone.
        ///   - accessibility: When the session may be read.
        ///   - authentication: Whether a person must confirm who they are first. Not on tvOS, where that fails.
        ///   - reinstallPolicy: What becomes of a session that an earlier installation has left; see ``KeychainStorage``.
        ///   - macKeychain: Which Keychain to use on macOS.
        ///   - folder: Where processes that share the session leave each other notes. By default a folder of the service
        ///     below the container's `Library/Application Support`, on tvOS `Library/Caches`; an app that shares the
        ///     session with its extensions names one in the container of their app group, and all of them the same.
        public convenience init(
            service: String, account: String = "session", accessGroup: String? = nil,
            accessibility: KeychainAccessibility = .afterFirstUnlockThisDeviceOnly,
            authentication: KeychainAuthentication = .none, reinstallPolicy: KeychainReinstallPolicy = .keep,
            macKeychain: MacKeychain = .dataProtectionOrLogin, folder: String? = nil
        ) {
            let storage = KeychainStorage(
                service: service, accessGroup: accessGroup, accessibility: accessibility,
                authentication: authentication, reinstallPolicy: reinstallPolicy, macKeychain: macKeychain)
            self.init(storage: storage, key: account, folder: folder ?? Disk.stateFolder(of: service))
        }
    }

    extension TokenStore where Self == KeychainTokenStore {
        /// The session of an app, in its Keychain: readable once the device was first unlocked, on this device alone.
        /// - Parameter service: Usually the app's bundle identifier.
        public static func keychain(service: String) -> KeychainTokenStore {
            KeychainTokenStore(service: service)
        }
    }

    extension SecureStorage where Self == KeychainStorage {
        /// An app's secrets, in its Keychain: readable once the device was first unlocked, on this device alone.
        /// - Parameter service: Usually the app's bundle identifier.
        public static func keychain(service: String) -> KeychainStorage {
            KeychainStorage(service: service)
        }
    }

    /// Tells when the device is unlocked.
    private enum ProtectedData {
        static func becameAvailable() -> AsyncStream<Void>? {
            #if canImport(UIKit) && !os(watchOS)
                let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
                // It is not marked as Sendable, and is only handed back to whoever gave it.
                nonisolated(unsafe) let observer = NotificationCenter.default.addObserver(
                    forName: UIApplication.protectedDataDidBecomeAvailableNotification, object: nil, queue: nil
                ) { _ in
                    continuation.yield()
                }
                continuation.onTermination = { _ in NotificationCenter.default.removeObserver(observer) }
                return stream
            #else
                return nil
            #endif
        }
    }
#endif
