// https://developer.apple.com/documentation/os/logger
@available(iOS 14, macOS 11, tvOS 14, watchOS 7, visionOS 1, *)
public struct Logger: Sendable {
    // https://developer.apple.com/documentation/os/logger/init(subsystem:category:)
    public init(subsystem: String, category: String) { fatalError() }

    // https://developer.apple.com/documentation/os/logger/log(level:_:)
    public func log(level: OSLogType, _ message: OSLogMessage) { fatalError() }
}

// https://developer.apple.com/documentation/os/oslogtype
@available(iOS 10, macOS 10.12, tvOS 10, watchOS 3, visionOS 1, *)
public struct OSLogType: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { fatalError() }

    // https://developer.apple.com/documentation/os/oslogtype/default
    public static var `default`: OSLogType { fatalError() }
    // https://developer.apple.com/documentation/os/oslogtype/info
    public static var info: OSLogType { fatalError() }
    // https://developer.apple.com/documentation/os/oslogtype/debug
    public static var debug: OSLogType { fatalError() }
    // https://developer.apple.com/documentation/os/oslogtype/error
    public static var error: OSLogType { fatalError() }
}
