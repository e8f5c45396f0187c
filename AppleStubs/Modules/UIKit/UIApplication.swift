#if !os(watchOS)
    public import Foundation

    // https://developer.apple.com/documentation/uikit/uiresponder
    @available(iOS 2, tvOS 9, visionOS 1, *)
    @available(watchOS, unavailable)
    @available(watchOS, unavailable)
    @MainActor open class UIResponder: NSObject {}

    // https://developer.apple.com/documentation/uikit/uiapplication
    @available(iOS 2, tvOS 9, visionOS 1, *)
    @available(watchOS, unavailable)
    @available(watchOS, unavailable)
    @MainActor open class UIApplication: UIResponder {
        open class var shared: UIApplication { fatalError() }
        open var isProtectedDataAvailable: Bool { fatalError() }
        // https://developer.apple.com/documentation/uikit/uiapplication/connectedscenes
        @available(iOS 13, tvOS 13, visionOS 1, *)
        open var connectedScenes: Set<UIScene> { fatalError() }
        public nonisolated static let protectedDataDidBecomeAvailableNotification = NSNotification.Name("")
        public nonisolated static let protectedDataWillBecomeUnavailableNotification = NSNotification.Name("")
    }

    // https://developer.apple.com/documentation/uikit/uiapplicationdelegate
    @available(iOS 2, tvOS 9, visionOS 1, *)
    @available(watchOS, unavailable)
    @MainActor public protocol UIApplicationDelegate: NSObjectProtocol {
        func application(
            _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
            completionHandler: @escaping () -> Void
        )
    }
#endif
