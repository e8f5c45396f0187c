#if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
    internal import Foundation

    extension ExpiringActivities {
        /// The activities of the operating system.
        package static var platform: ExpiringActivities? {
            ExpiringActivities { reason, block in
                ProcessInfo.processInfo.performExpiringActivity(withReason: reason, using: block)
            }
        }
    }
#else
    extension ExpiringActivities {
        /// `nil`: this system does not end suspended processes that hold a lock.
        package static var platform: ExpiringActivities? { nil }
    }
#endif
