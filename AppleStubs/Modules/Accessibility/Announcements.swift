// https://developer.apple.com/documentation/accessibility/accessibilitynotification
@available(macOS 14, iOS 17, watchOS 10, tvOS 17, visionOS 1, *)
public enum AccessibilityNotification {}

// https://developer.apple.com/documentation/accessibility/accessibilitynotification/announcement
@available(macOS 14, iOS 17, watchOS 10, tvOS 17, visionOS 1, *)
extension AccessibilityNotification {
    public struct Announcement {
        public init(_ announcement: String) { fatalError() }
        public func post() { fatalError() }
    }
}
