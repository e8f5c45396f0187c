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
        ///   - accessibility: When the secrets may be read.
        ///   - authentication: Whether the user must authenticate first. Reading then fails on tvOS.
        ///   - reinstallMarkerFolder: Keychain items outlive the app that created them, and by default the secrets of
        ///     an earlier installation are used. With a folder they are deleted if the app was definitely deleted in
        ///     between: a random number is in each item and in a file of this folder, which must be deleted with the
        ///     app only. In a folder of caches, which the system empties, a missing file proves nothing, and no item is
        ///     deleted; tvOS has no other folder. An item without a number is kept and gets one at its next write.
        ///     If the file cannot be read, nothing is deleted. Extensions that share the items pass a folder of their
        ///     app group.
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
                // Not marked as Sendable. It is only passed back to the notification center.
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
