internal import HTTPTypes

/// The request that follows a redirect (RFC 9110, section 15.4).
struct Redirect {
    private(set) var request: HTTPRequest
    let origin: Origin
    /// Whether the body is sent again.
    let keepsBody: Bool
    /// Whether the redirect leads to another origin, where the token must not go.
    let leavesOrigin: Bool

    /// The reason why a redirect is not followed.
    enum Refusal: Error {
        case insecure(url: String)
        case unusable(String)
    }

    /// - Parameter field: A field that stays although its name makes it count as sensitive; `nil` for none.
    /// - Returns: `nil` if the response is not a redirect.
    init?(
        of request: HTTPRequest, by head: HTTPResponse, from origin: Origin,
        keeping field: @autoclosure () -> HTTPField.Name? = nil
    ) throws(Refusal) {
        guard [301, 302, 303, 307, 308].contains(head.status.code), let target = head.headerFields[.location] else {
            return nil
        }
        let location: Location
        switch Location.resolve(target, relativeTo: request, at: origin) {
        case .success(let found): location = found
        case .failure(let problem): throw .unusable(problem.description)
        }
        if origin.scheme == "https", location.origin.scheme == "http" {
            throw .insecure(url: location.redactedText)
        }
        self.request = request
        self.request.scheme = location.origin.scheme
        self.request.authority = location.authority
        self.request.path = location.target
        self.origin = location.origin
        self.keepsBody = !Self.becomesGet(request.method, after: head.status.code)
        self.leavesOrigin = location.origin != origin
        if !keepsBody { self.request.becomeGet() }
        if leavesOrigin { self.request.removeFieldsOfOrigin(except: field()) }
    }

    /// Whether the next request is a GET without a body.
    private static func becomesGet(_ method: HTTPRequest.Method, after status: Int) -> Bool {
        switch status {
        case 301, 302: method == .post
        case 303: !method.isGetOrHead
        default: false
        }
    }
}

extension HTTPRequest {
    fileprivate mutating func becomeGet() {
        method = .get
        // RFC 9110, section 15.4.
        let bodyFields: [HTTPField.Name] = [
            .contentType, .contentLength, .contentEncoding, .contentLanguage, .contentLocation, .contentDisposition,
            .contentRange, .lastModified, .expect,
        ]
        let digests = HTTPFields.digests + ["Digest", "Content-MD5"].compactMap { HTTPField.Name($0) }
        for name in bodyFields + digests { headerFields[name] = nil }
    }

    /// Removes credentials, and the name of the server.
    fileprivate mutating func removeFieldsOfOrigin(except kept: HTTPField.Name?) {
        headerFields = HTTPFields(
            headerFields.filter { field in
                field.name == kept || !field.isSensitive && field.name.canonicalName != "host"
            })
    }
}

extension Location {
    /// Resolves a `Location` field, which may be relative, against the redirected request (RFC 3986, section 5).
    static func resolve(
        _ reference: String, relativeTo request: HTTPRequest, at origin: Origin
    ) -> Result<Location, InvalidRequestError> {
        let reference = reference.prefix { $0 != "#" }
        guard !reference.utf8.contains(where: { $0 <= 32 || $0 == 127 }) else {
            return .failure(InvalidRequestError("The Location field of the redirect is not a URL."))
        }
        let scheme = reference.prefix { $0 != ":" && $0 != "/" && $0 != "?" }
        if reference.dropFirst(scheme.count).first == ":" { return parse(encoded(reference)).map(\.withoutDotSegments) }
        if reference.hasPrefix("//") {
            return parse("\(origin.scheme):\(encoded(reference))").map(\.withoutDotSegments)
        }
        let base = request.path ?? "/"
        let basePath = base.prefix { $0 != "?" }
        let authority = request.authority ?? origin.host
        let target: String
        if reference.isEmpty {
            target = base
        } else if reference.hasPrefix("/") {
            target = String(reference)
        } else if reference.hasPrefix("?") {
            target = String(basePath + reference)
        } else {
            let folder = basePath.lastIndex(of: "/").map { basePath[...$0] } ?? "/"
            target = String(folder + reference)
        }
        return parse("\(origin.scheme)://\(authority)\(encoded(target[...]))").map { $0.withoutDotSegments }
    }

    /// Escapes characters that a URL must not contain but that servers put into `Location`, as browsers do.
    private static func encoded(_ text: Substring) -> String {
        PercentEncoding.encode(String(text)) { byte in
            byte == UInt8(ascii: "%") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "[")
                || byte == UInt8(ascii: "]") || PercentEncoding.isPathCharacter(byte)
        }
    }

    private var withoutDotSegments: Location {
        var kept: [Substring] = []
        let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch segment {
            case ".": if isLast { kept.append("") }
            case "..":
                if !kept.isEmpty { kept.removeLast() }
                if isLast { kept.append("") }
            default: kept.append(segment)
            }
        }
        var copy = self
        copy.path = "/" + kept.joined(separator: "/")
        return copy
    }
}
