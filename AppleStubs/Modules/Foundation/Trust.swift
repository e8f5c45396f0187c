public import Security

// https://developer.apple.com/documentation/foundation/urlprotectionspace/servertrust
extension URLProtectionSpace {
    public var serverTrust: SecTrust? { fatalError() }
}

// https://developer.apple.com/documentation/foundation/urlcredential
extension URLCredential {
    // https://developer.apple.com/documentation/foundation/urlcredential/init(trust:)
    public convenience init(trust: SecTrust) { fatalError() }
    // https://developer.apple.com/documentation/foundation/urlcredential/init(identity:certificates:persistence:)
    public convenience init(
        identity: SecIdentity, certificates certArray: [Any]?, persistence: URLCredential.Persistence
    ) { fatalError() }
}

// https://developer.apple.com/documentation/foundation/urlsessionconfiguration/tlsminimumsupportedprotocolversion
extension URLSessionConfiguration {
    public var tlsMinimumSupportedProtocolVersion: tls_protocol_version_t {
        get { fatalError() }
        set { fatalError() }
    }
}
