#if canImport(SwiftUI)
    internal import Accessibility
    internal import Foundation
    internal import Martlet
    #if canImport(UIKit)
        internal import UIKit
    #endif

    extension Announcer {
        /// Announces with the system's VoiceOver.
        static let system = Announcer(time: .system) { text in
            #if canImport(UIKit) && !os(watchOS)
                guard UIAccessibility.isVoiceOverRunning else { return .spoken }
                return await sayAndListen(text)
            #else
                say(text)
                return .unknown
            #endif
        }

        private static func say(_ text: String) {
            if #available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *) {
                var announcement = AttributedString(text)
                // A high-priority announcement interrupts other speech, and only another high-priority one interrupts
                // it.
                announcement.accessibilitySpeechAnnouncementPriority = .high
                AccessibilityNotification.Announcement(announcement).post()
            } else {
                #if canImport(UIKit) && !os(watchOS)
                    UIAccessibility.post(notification: .announcement, argument: text)
                #endif
            }
        }

        #if canImport(UIKit) && !os(watchOS)
            private static func sayAndListen(_ text: String) async -> Outcome {
                let (outcomes, continuation) = AsyncStream<Outcome>.makeStream()
                let textKey = UIAccessibility.announcementStringValueUserInfoKey
                let successKey = UIAccessibility.announcementWasSuccessfulUserInfoKey
                let observer = NotificationCenter.default.addObserver(
                    forName: UIAccessibility.announcementDidFinishNotification, object: nil, queue: nil
                ) { notification in
                    let info = notification.userInfo
                    // Ignore the end of another announcement. The text may also be an attributed string.
                    if let said = info?[textKey] as? String, said != text { return }
                    continuation.yield(info?[successKey] as? Bool == false ? .dropped : .spoken)
                }
                defer { NotificationCenter.default.removeObserver(observer) }
                say(text)
                // At its slowest, VoiceOver reads about eight characters a second.
                let longest = Duration.seconds(3) + .milliseconds(120) * text.count
                let limit = Task {
                    try? await Task.sleep(for: longest)
                    continuation.yield(.unreported)
                }
                defer { limit.cancel() }
                for await outcome in outcomes { return outcome }
                return .unreported
            }
        #endif
    }
#endif
