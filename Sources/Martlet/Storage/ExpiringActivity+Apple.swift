#if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
    internal import Foundation

    extension ExpiringActivities {
        /// The system's own.
        static var platform: ExpiringActivities? {
            ExpiringActivities { reason, block in
                ProcessInfo.processInfo.performExpiringActivity(withReason: reason, using: block)
            }
        }
    }
#else
    extension ExpiringActivities {
        /// Nothing suspends a process here that holds a lock, or nothing ends it for that.
        static var platform: ExpiringActivities? { nil }
    }
#endif
