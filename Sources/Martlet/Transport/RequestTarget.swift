internal import HTTPTypes

extension HTTPRequest {
    /// Where the request goes, as one URL.
    ///
    /// The parts are joined as they are: they were validated and percent-encoded when the request was made, and taking
    /// them apart again would be one of the dearest steps of a request.
    func target() throws(TransportError) -> String {
        guard let scheme, scheme == "https" || scheme == "http" else {
            throw .invalidRequest("its scheme is neither https nor http")
        }
        guard let authority, !authority.isEmpty, !authority.utf8.contains(where: Self.endsAuthority) else {
            throw .invalidRequest("it names no host")
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

    /// What would end the authority within a URL, and `@`, which would make another host of its rest.
    private static func endsAuthority(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "@"), UInt8(ascii: "\\"): true
        default: false
        }
    }
}
