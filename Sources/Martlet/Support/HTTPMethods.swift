package import HTTPTypes

extension HTTPRequest.Method {
    package var isGetOrHead: Bool { self == .get || self == .head }

    /// Whether a request with this method only reads (RFC 9110, section 9.2.1).
    package var isSafe: Bool { isGetOrHead || self == .options || self == .trace }

    /// Whether sending a request with this method twice has the same effect as sending it once (RFC 9110,
    /// section 9.2.2).
    package var isIdempotent: Bool { isSafe || self == .put || self == .delete }
}
