public import Dispatch

// https://developer.apple.com/documentation/network/nwpathmonitor
@available(iOS 12, macOS 10.14, tvOS 12, watchOS 5, visionOS 1, *)
public final class NWPathMonitor {
    public init() { fatalError() }
    @preconcurrency
    public final var pathUpdateHandler: (@Sendable (NWPath) -> Void)? {
        get { fatalError() }
        set { fatalError() }
    }
    public final func start(queue: DispatchQueue) { fatalError() }
    public final func cancel() { fatalError() }
}

// https://developer.apple.com/documentation/network/nwpath
@available(iOS 12, macOS 10.14, tvOS 12, watchOS 5, visionOS 1, *)
public struct NWPath: Equatable, Sendable {
    // https://developer.apple.com/documentation/network/nwpath/status-swift.enum
    public enum Status: Sendable {
        case satisfied
        case unsatisfied
        case requiresConnection
    }
    public let status: NWPath.Status
}
