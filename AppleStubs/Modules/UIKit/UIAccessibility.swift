// https://developer.apple.com/documentation/uikit/uiaccessibility
@MainActor public struct UIAccessibility {
    public struct Notification: Hashable, Sendable {
        public static let announcement = Notification()
    }

    public static func post(notification: Notification, argument: Any?) { fatalError() }
}
