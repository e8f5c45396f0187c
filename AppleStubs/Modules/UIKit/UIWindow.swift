#if !os(watchOS)
    // https://developer.apple.com/documentation/uikit/uiviewcontroller
    @MainActor open class UIViewController: UIResponder {}

    // https://developer.apple.com/documentation/uikit/uiview
    @MainActor open class UIView: UIResponder {}

    // https://developer.apple.com/documentation/uikit/uiwindow
    @MainActor open class UIWindow: UIView {
        open var rootViewController: UIViewController? {
            get { fatalError() }
            set { fatalError() }
        }
    }
#endif
