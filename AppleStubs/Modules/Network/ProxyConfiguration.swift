public import Foundation

// https://developer.apple.com/documentation/network/nwendpoint
@available(iOS 12, macOS 10.14, tvOS 12, watchOS 5, visionOS 1, *)
public enum NWEndpoint: Hashable, Sendable {
    case hostPort(host: NWEndpoint.Host, port: NWEndpoint.Port)
    case unix(path: String)

    // https://developer.apple.com/documentation/network/nwendpoint/host-swift.enum
    public enum Host: Hashable, Sendable {
        case name(String)
        public init(_ string: String) { fatalError() }
    }

    // https://developer.apple.com/documentation/network/nwendpoint/port-swift.struct
    public struct Port: Hashable, Sendable, RawRepresentable {
        public init?(rawValue: UInt16) { fatalError() }
        public var rawValue: UInt16 { fatalError() }
    }
}

// https://developer.apple.com/documentation/network/nwprotocoltls/options
@available(iOS 12, macOS 10.14, tvOS 12, watchOS 5, visionOS 1, *)
public enum NWProtocolTLS {
    public final class Options {}
}

// https://developer.apple.com/documentation/network/proxyconfiguration
@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
public struct ProxyConfiguration: Sendable {
    public init(httpCONNECTProxy proxyEndpoint: NWEndpoint, tlsOptions: NWProtocolTLS.Options? = nil) { fatalError() }
    public init(socksv5Proxy proxyEndpoint: NWEndpoint) { fatalError() }
    public var allowFailover: Bool
    public var excludedDomains: [String]
    public mutating func applyCredential(username: String, password: String) { fatalError() }
}

// https://developer.apple.com/documentation/foundation/urlsessionconfiguration/proxyconfigurations
@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
extension URLSessionConfiguration {
    public var proxyConfigurations: [ProxyConfiguration] {
        get { fatalError() }
        set { fatalError() }
    }
}
