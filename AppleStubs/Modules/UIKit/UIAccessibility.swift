public import Foundation

// https://developer.apple.com/documentation/uikit/uiaccessibility
@available(iOS 3, tvOS 9, visionOS 1, *)
@available(watchOS, unavailable)
@MainActor public struct UIAccessibility {
    public struct Notification: Hashable, Sendable {
        public static let announcement = Notification()
    }

    public static func post(notification: Notification, argument: Any?) { fatalError() }
    public static var isVoiceOverRunning: Bool { fatalError() }

    // https://developer.apple.com/documentation/uikit/uiaccessibility/announcementdidfinishnotification
    public nonisolated static let announcementDidFinishNotification = NSNotification.Name("")
    public nonisolated static let announcementStringValueUserInfoKey = ""
    public nonisolated static let announcementWasSuccessfulUserInfoKey = ""
}
