public import FoundationEssentials

// https://developer.apple.com/documentation/accessibility/accessibilitynotification
@available(macOS 14, iOS 17, watchOS 10, tvOS 17, visionOS 1, *)
public enum AccessibilityNotification {}

// https://developer.apple.com/documentation/accessibility/accessibilitynotification/announcement
@available(macOS 14, iOS 17, watchOS 10, tvOS 17, visionOS 1, *)
extension AccessibilityNotification {
    public struct Announcement {
        public init(_ announcement: String) { fatalError() }
        public init(_ announcement: AttributedString) { fatalError() }
        public func post() { fatalError() }
    }
}

// https://developer.apple.com/documentation/foundation/attributescopes/accessibilityattributes/announcementpriorityattribute
// Apple declares it as an attribute of a scope, which a dynamic member finds.
@available(macOS 14, iOS 17, watchOS 10, tvOS 17, visionOS 1, *)
public enum AnnouncementPriority: Hashable, Sendable {
    case high
    case `default`
    case low
}

// https://developer.apple.com/documentation/foundation/attributescopes/accessibilityattributes/accessibilityspeechannouncementpriority
@available(macOS 14, iOS 17, watchOS 10, tvOS 17, visionOS 1, *)
extension AttributedString {
    public var accessibilitySpeechAnnouncementPriority: AnnouncementPriority? {
        get { fatalError() }
        set { fatalError() }
    }
}
