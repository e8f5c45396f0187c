#if canImport(Darwin)
    internal import Foundation
    public import Martlet

    /// The app group's container, which the app and its widget share. It contains one session with one lock.
    public struct SharedSession: Sendable {
        /// The processes of the app.
        public enum Process: String, Sendable {
            case app, widget
        }

        /// The app group in the entitlements of both.
        public static let group = "group.com.example.martlet.GuestApp"

        /// The container of the app group. The system may move it, so ask for it at each launch.
        public let folder: String

        /// - Returns: `nil` if this process is not signed for the app group.
        public init?() {
            guard let url = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: Self.group) else {
                return nil
            }
            folder = url.path
        }

        /// The store of the session. Both processes refresh the same tokens: the lock in the container lets one of them
        /// at a time do so, and the other adopts the result.
        ///
        /// The session is readable once the device has been unlocked after it started, even if it is locked again. A
        /// widget needs that, because the system asks it for content behind the lock screen.
        /// - Parameter authentication: Whether the user must confirm first. The widget passes `.none`, because it
        ///   cannot ask.
        public func store(authentication: KeychainAuthentication = .none) -> AnyTokenStore {
            .keychain(
                service: "com.example.martlet.GuestApp", accessGroup: Self.group, authentication: authentication,
                folder: folder + "/session")
        }

        /// The identifier of the background session of a process. Only one process may use an identifier. With a shared
        /// identifier, the other process's transfers fail with `NSURLErrorBackgroundSessionInUseByAnotherProcess`
        /// (-996).
        public static func transfersIdentifier(of process: Process) -> String {
            "com.example.martlet.GuestApp.transfers.\(process.rawValue)"
        }

        /// The folder for the list of a process's transfers.
        public func transfersFolder(of process: Process) -> String {
            folder + "/transfers-" + process.rawValue
        }
    }
#endif
