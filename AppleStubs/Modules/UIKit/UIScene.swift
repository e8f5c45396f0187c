#if !os(watchOS)
    // https://developer.apple.com/documentation/uikit/uiscene
    @available(iOS 13, tvOS 13, visionOS 1, *)
    @available(watchOS, unavailable)
    @MainActor open class UIScene: UIResponder {}

    // https://developer.apple.com/documentation/uikit/uiwindowscene
    @available(iOS 13, tvOS 13, visionOS 1, *)
    @available(watchOS, unavailable)
    @MainActor open class UIWindowScene: UIScene {
        // https://developer.apple.com/documentation/uikit/uiwindowscene/keywindow
        @available(iOS 15, tvOS 15, visionOS 1, *)
        open var keyWindow: UIWindow? { fatalError() }
    }
#endif
