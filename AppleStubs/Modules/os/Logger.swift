// https://developer.apple.com/documentation/os/logger
public struct Logger: Sendable {
    // https://developer.apple.com/documentation/os/logger/init(subsystem:category:)
    public init(subsystem: String, category: String) { fatalError() }

    // https://developer.apple.com/documentation/os/logger/log(level:_:)
    public func log(level: OSLogType, _ message: OSLogMessage) { fatalError() }
}

// https://developer.apple.com/documentation/os/oslogtype
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
