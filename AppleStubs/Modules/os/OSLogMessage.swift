// https://developer.apple.com/documentation/os/oslogmessage
@available(iOS 14, macOS 11, tvOS 14, watchOS 7, visionOS 1, *)
public struct OSLogMessage: ExpressibleByStringInterpolation {
    public init(stringInterpolation: OSLogInterpolation) { fatalError() }
    public init(stringLiteral value: String) { fatalError() }
}

// https://developer.apple.com/documentation/os/osloginterpolation
@available(iOS 14, macOS 11, tvOS 14, watchOS 7, visionOS 1, *)
public struct OSLogInterpolation: StringInterpolationProtocol {
    public init(literalCapacity: Int, interpolationCount: Int) { fatalError() }
    public mutating func appendLiteral(_ literal: String) { fatalError() }

    // https://developer.apple.com/documentation/os/osloginterpolation/appendinterpolation(_:align:privacy:)-6tazr
    public mutating func appendInterpolation(
        _ argumentString: @autoclosure @escaping () -> String, align: OSLogStringAlignment = .none,
        privacy: OSLogPrivacy = .auto
    ) { fatalError() }
}

// https://developer.apple.com/documentation/os/oslogstringalignment
@available(iOS 14, macOS 11, tvOS 14, watchOS 7, visionOS 1, *)
public struct OSLogStringAlignment {
    // https://developer.apple.com/documentation/os/oslogstringalignment/none
    public static var none: OSLogStringAlignment { fatalError() }
}

// https://developer.apple.com/documentation/os/oslogprivacy
@available(iOS 14, macOS 11, tvOS 14, watchOS 7, visionOS 1, *)
public struct OSLogPrivacy {
    // https://developer.apple.com/documentation/os/oslogprivacy/mask
    public enum Mask: Equatable, Hashable {
        // https://developer.apple.com/documentation/os/oslogprivacy/mask/hash
        case hash
        // https://developer.apple.com/documentation/os/oslogprivacy/mask/none
        case none
    }

    // https://developer.apple.com/documentation/os/oslogprivacy/auto
    public static var auto: OSLogPrivacy { fatalError() }
    // https://developer.apple.com/documentation/os/oslogprivacy/public
    public static var `public`: OSLogPrivacy { fatalError() }
    // https://developer.apple.com/documentation/os/oslogprivacy/private(mask:)
    public static func `private`(mask: OSLogPrivacy.Mask) -> OSLogPrivacy { fatalError() }
}
