#if canImport(SwiftUI)
    internal import Accessibility
    #if canImport(UIKit)
        internal import UIKit
    #endif

    /// Makes VoiceOver read out a text that has just appeared away from its focus.
    @MainActor func announce(_ text: String) {
        if #available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *) {
            AccessibilityNotification.Announcement(text).post()
        } else {
            #if canImport(UIKit) && !os(watchOS)
                UIAccessibility.post(notification: .announcement, argument: text)
            #endif
        }
    }
#endif
