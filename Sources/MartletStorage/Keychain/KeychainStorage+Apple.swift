#if canImport(Security)
    internal import Foundation

    #if canImport(UIKit) && !os(watchOS)
        internal import UIKit
    #endif

    extension KeychainStorage {
        package convenience init(_ settings: Settings) {
            #if os(macOS)
                let hasLogin = true
            #else
                let hasLogin = false
            #endif
            self.init(settings, calls: .system(), hasLogin: hasLogin, makeUnlockStream: ProtectedData.makeStream)
        }
    }

    extension SecureStorage where Self == AnySecureStorage {
        /// Keeps secrets in Apple's Keychain, each as one generic password.
        ///
        /// By default they are readable after the first unlock of the device, on this device only. While the device is
        /// locked, calls throw ``StorageError/Kind/locked``.
        /// - Parameters:
        ///   - service: Usually the app's bundle identifier (`kSecAttrService`).
        ///   - accessGroup: One of the app's keychain access groups or app groups, including the team's prefix if it
        ///     has one. `nil` for the app alone.
        ///   - accessibility: The condition under which the secrets may be read.
        ///   - authentication: Whether the user must authenticate first. On tvOS, where no authentication is available,
        ///     reading then fails.
        ///   - reinstallMarkerFolder: A folder that is deleted only together with the app. Keychain items outlive the
        ///     app, and by default the secrets of an earlier installation are used. With this folder, the storage keeps
        ///     the same random number in each item and in a file, and deletes the items if the file is gone or has
        ///     another number. If the file cannot be read, all items are kept, as are items that have no number yet. A
        ///     folder of caches has no effect, because the system empties it; tvOS has no other folder. Extensions that
        ///     share the items pass a folder of their app group.
        ///   - macKeychain: The Keychain to use on macOS.
        public static func keychain(
            service: String, accessGroup: String? = nil,
            accessibility: KeychainAccessibility = .afterFirstUnlockThisDeviceOnly,
            authentication: KeychainAuthentication = .none, reinstallMarkerFolder: String? = nil,
            macKeychain: MacKeychain = .automatic
        ) -> AnySecureStorage {
            AnySecureStorage(
                KeychainStorage(
                    KeychainStorage.Settings(
                        service: service, accessGroup: accessGroup, accessibility: accessibility,
                        authentication: authentication, reinstallMarkerFolder: reinstallMarkerFolder,
                        macKeychain: macKeychain)))
        }
    }

    /// Reports when the device is unlocked.
    private enum ProtectedData {
        /// A stream that yields at each unlock; `nil` if the system does not report it.
        static func makeStream() -> AsyncStream<Void>? {
            #if canImport(UIKit) && !os(watchOS)
                let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
                // The observer is not Sendable. It is only passed back to the notification center.
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
