#if !os(watchOS)
    // https://developer.apple.com/documentation/uikit/uiviewcontroller
    @available(iOS 2, tvOS 9, visionOS 1, *)
    @available(watchOS, unavailable)
    @MainActor open class UIViewController: UIResponder {}

    // https://developer.apple.com/documentation/uikit/uiview
    @available(iOS 2, tvOS 9, visionOS 1, *)
    @available(watchOS, unavailable)
    @MainActor open class UIView: UIResponder {}

    // https://developer.apple.com/documentation/uikit/uiwindow
    @available(iOS 2, tvOS 9, visionOS 1, *)
    @available(watchOS, unavailable)
    @MainActor open class UIWindow: UIView {
        open var rootViewController: UIViewController? {
            get { fatalError() }
            set { fatalError() }
        }
    }
#endif
