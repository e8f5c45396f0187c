public import ObjectiveC

// https://developer.apple.com/documentation/foundation/nsnotification
@available(iOS 2, macOS 10.0, tvOS 9, watchOS 2, visionOS 1, *)
open class NSNotification: NSObject {
    // https://developer.apple.com/documentation/foundation/nsnotification/name-swift.struct
    public struct Name: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(_ rawValue: String) { self.rawValue = rawValue }
        public init(rawValue: String) { self.rawValue = rawValue }
    }
}

// https://developer.apple.com/documentation/foundation/notification
@available(iOS 8, macOS 10.10, tvOS 9, watchOS 2, visionOS 1, *)
public struct Notification {
    public typealias Name = NSNotification.Name
    public var name: Notification.Name { fatalError() }
    public var userInfo: [AnyHashable: Any]? { fatalError() }
}

// https://developer.apple.com/documentation/foundation/notificationcenter
@available(iOS 2, macOS 10.0, tvOS 9, watchOS 2, visionOS 1, *)
open class NotificationCenter: NSObject, @unchecked Sendable {
    open class var `default`: NotificationCenter { fatalError() }

    // https://developer.apple.com/documentation/foundation/notificationcenter/addobserver(forname:object:queue:using:)
    open func addObserver(
        forName name: NSNotification.Name?, object obj: Any?, queue: OperationQueue?,
        using block: @escaping @Sendable (Notification) -> Void
    ) -> any NSObjectProtocol { fatalError() }

    open func removeObserver(_ observer: Any) { fatalError() }

    // https://developer.apple.com/documentation/foundation/notificationcenter/notifications(named:object:)
    public func notifications(
        named name: Notification.Name, object: (any AnyObject & Sendable)? = nil
    ) -> NotificationCenter.Notifications { fatalError() }

    // https://developer.apple.com/documentation/foundation/notificationcenter/notifications
    public final class Notifications: AsyncSequence, @unchecked Sendable {
        public typealias Element = Notification
        public struct Iterator: AsyncIteratorProtocol {
            public mutating func next() async -> Notification? { fatalError() }
        }
        public func makeAsyncIterator() -> Iterator { fatalError() }
    }
}

// https://developer.apple.com/documentation/foundation/notification
@available(iOS 8, macOS 10.10, tvOS 9, watchOS 2, visionOS 1, *)
@available(*, unavailable)
extension Notification: Sendable {}

// https://developer.apple.com/documentation/foundation/notificationcenter/notifications
@available(iOS 2, macOS 10.0, tvOS 9, watchOS 2, visionOS 1, *)
@available(*, unavailable)
extension NotificationCenter.Notifications.Iterator: Sendable {}
