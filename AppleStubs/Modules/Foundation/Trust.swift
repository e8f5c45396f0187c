public import Security

// https://developer.apple.com/documentation/foundation/urlprotectionspace/servertrust
@available(iOS 3, macOS 10.6, tvOS 9, watchOS 2, visionOS 1, *)
extension URLProtectionSpace {
    public var serverTrust: SecTrust? { fatalError() }
}

// https://developer.apple.com/documentation/foundation/urlcredential
@available(iOS 3, macOS 10.6, tvOS 9, watchOS 2, visionOS 1, *)
extension URLCredential {
    // https://developer.apple.com/documentation/foundation/urlcredential/init(trust:)
    public convenience init(trust: SecTrust) { fatalError() }
    // https://developer.apple.com/documentation/foundation/urlcredential/init(identity:certificates:persistence:)
    public convenience init(
        identity: SecIdentity, certificates certArray: [Any]?, persistence: URLCredential.Persistence
    ) { fatalError() }
}

// https://developer.apple.com/documentation/foundation/urlsessionconfiguration/tlsminimumsupportedprotocolversion
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
extension URLSessionConfiguration {
    public var tlsMinimumSupportedProtocolVersion: tls_protocol_version_t {
        get { fatalError() }
        set { fatalError() }
    }
}
