// https://developer.apple.com/documentation/os/ossignposter
@available(iOS 15, macOS 12, tvOS 15, watchOS 8, visionOS 1, *)
public struct OSSignposter: Sendable {
    // https://developer.apple.com/documentation/os/ossignposter/init(subsystem:category:)
    public init(subsystem: String, category: String) { fatalError() }

    // https://developer.apple.com/documentation/os/ossignposter/makesignpostid()
    public func makeSignpostID() -> OSSignpostID { fatalError() }

    // https://developer.apple.com/documentation/os/ossignposter/begininterval(_:id:_:)
    public func beginInterval(
        _ name: StaticString, id: OSSignpostID = .exclusive, _ message: SignpostMetadata
    ) -> OSSignpostIntervalState { fatalError() }

    // https://developer.apple.com/documentation/os/ossignposter/endinterval(_:_:_:)
    public func endInterval(_ name: StaticString, _ state: OSSignpostIntervalState, _ message: SignpostMetadata) {
        fatalError()
    }
}

// https://developer.apple.com/documentation/os/signpostmetadata
@available(iOS 15, macOS 12, tvOS 15, watchOS 8, visionOS 1, *)
public typealias SignpostMetadata = OSLogMessage

// https://developer.apple.com/documentation/os/ossignpostid
@available(iOS 12, macOS 10.14, tvOS 12, watchOS 5, visionOS 1, *)
public struct OSSignpostID: Sendable {
    // https://developer.apple.com/documentation/os/ossignpostid/exclusive
    public static let exclusive: OSSignpostID = { fatalError() }()
}

// https://developer.apple.com/documentation/os/ossignpostintervalstate
@available(iOS 15, macOS 12, tvOS 15, watchOS 8, visionOS 1, *)
public final class OSSignpostIntervalState {
    init() {}
}
