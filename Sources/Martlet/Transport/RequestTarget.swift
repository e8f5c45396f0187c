internal import HTTPTypes

extension HTTPRequest {
    /// The URL of the request.
    ///
    /// The parts are joined unchanged. They were validated and encoded when the request was built, and parsing them
    /// again would be one of the most expensive steps of a request.
    func target() throws(TransportError) -> String {
        guard let scheme, scheme == "https" || scheme == "http" else {
            throw .invalidRequest("its scheme is neither https nor http")
        }
        guard let authority, !authority.isEmpty, !authority.utf8.contains(where: Self.endsAuthority) else {
            throw .invalidRequest("it has no host")
        }
        let path = path ?? "/"
        guard path.utf8.first == UInt8(ascii: "/") else {
            throw .invalidRequest("its path does not start with a slash")
        }
        var target = ""
        target.reserveCapacity(scheme.utf8.count + 3 + authority.utf8.count + path.utf8.count)
        target += scheme
        target += "://"
        target += authority
        target += path
        return target
    }

    /// Whether a byte would end the authority of a URL or, like `@`, change its host.
    private static func endsAuthority(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "@"), UInt8(ascii: "\\"): true
        default: false
        }
    }
}
