internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The key that separates stored responses: a request is answered only from its own partition.
struct CachePartition: Hashable, Sendable {
    let owner: ResponseOwner
    /// Whether the request carried the owner's token.
    let isSigned: Bool
    /// The header fields of the request that may identify a user, without the session's own token.
    let credentials: [HTTPField]
}

/// A stored response, with the facts that decide whether it may be used (RFC 9111, sections 4.1 and 4.2).
struct CachedResponse: Sendable {
    let partition: CachePartition
    let response: ServerResponse
    /// The values of the request's fields that the response's `Vary` names; `nil` for missing fields.
    private let varyValues: [HTTPField.Name: String?]
    private let control: CacheControl
    private let lifetime: Duration
    /// The age of the response when it arrived.
    private let initialAge: Duration
    private let receivedAt: Duration
    /// The time at which the server made the response.
    private let date: Date
    /// Rises with each use, so that the least recently used response is evicted first.
    private(set) var lastUse = 0

    /// The times at which a request was made and answered.
    struct Timing {
        let requestedAt: Duration
        let receivedAt: Duration
        let date: Date
    }

    /// - Returns: `nil` if the response must not be stored, or if storing it would be of no use.
    init?(_ response: ServerResponse, to request: HTTPFields, _ partition: CachePartition, _ timing: Timing) {
        let fields = response.headers
        let control = CacheControl(fields)
        guard [200, 203, 204, 404, 410].contains(response.status), !control.contains("no-store"),
            let varyValues = Self.varyValues(fields, in: request)
        else { return nil }
        let date = fields[.date].flatMap(HTTPDate.parse) ?? timing.date
        self.lifetime = Self.lifetime(of: fields, control, from: date)
        let mayReplaceErrors = control.duration("stale-if-error").map { $0 > .zero } ?? false
        guard lifetime > .zero || mayReplaceErrors || fields[.eTag] != nil || fields[.lastModified] != nil else {
            return nil
        }
        // If there are several, the first counts (RFC 9111, section 5.1).
        let stated = fields[.age].flatMap { CacheControl.seconds($0.prefix { $0 != "," }.trimmingBlanks) } ?? .zero
        let apparent = max(.zero, Self.duration(timing.date.timeIntervalSince(date)))
        self.initialAge = max(apparent, stated + (timing.receivedAt - timing.requestedAt))
        self.receivedAt = timing.receivedAt
        self.date = date
        self.partition = partition
        self.control = control
        self.varyValues = varyValues
        var head = response.head
        // The age is computed for each use, and cookies go to the jar when they arrive.
        for name in [.age, .setCookie] as [HTTPField.Name] { head.headerFields[name] = nil }
        self.response = ServerResponse(head: head, body: response.body)
    }

    mutating func noteUse(_ number: Int) {
        lastUse = number
    }

    /// The approximate size of the response in memory, in bytes.
    var size: Int {
        response.headers.reduce(response.body.count + 512) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count }
    }

    /// Whether a request has the fields that selected the response.
    func matches(_ request: HTTPFields) -> Bool {
        varyValues.allSatisfy { request[$0.key] == $0.value }
    }

    /// Whether this response arrived after the other was requested, and has a later date (RFC 9111, section 4).
    func isNewer(than other: CachedResponse, requestedAt: Duration) -> Bool {
        receivedAt >= requestedAt && date > other.date
    }

    /// Whether the response may be used without asking the server.
    func isFresh(for request: CacheControl, at now: Duration) -> Bool {
        guard !control.contains("no-cache"), !request.contains("no-cache") else { return false }
        let limit = request.duration("max-age").map { min($0, lifetime) } ?? lifetime
        let staleness = age(at: now) + (request.duration("min-fresh") ?? .zero) - limit
        if staleness < .zero { return true }
        return !mustRevalidate && request.maximumStaleness.map { staleness <= $0 } ?? false
    }

    /// Whether the response may be used because the server has failed (RFC 5861, section 4). A request with `no-cache`
    /// wants the server's response, so only its own `stale-if-error` counts.
    func mayReplaceError(for request: CacheControl, at now: Duration) -> Bool {
        guard !mustRevalidate, !control.contains("no-cache") else { return false }
        let offered = request.contains("no-cache") ? nil : control.duration("stale-if-error")
        let limits = [offered, request.duration("stale-if-error")].compactMap { $0 }
        return limits.contains { age(at: now) - lifetime <= $0 }
    }

    /// The response for a call, with its current `Age`.
    func response(at now: Duration, hasBody: Bool = true) -> ServerResponse {
        var head = response.head
        head.headerFields[.age] = "\(age(at: now).components.seconds)"
        return ServerResponse(head: head, body: hasBody ? response.body : Data())
    }

    private var mustRevalidate: Bool { control.contains("must-revalidate") }

    private func age(at now: Duration) -> Duration { initialAge + max(.zero, now - receivedAt) }

    /// - Returns: `nil` if no other request can match (`Vary: *`).
    private static func varyValues(_ fields: HTTPFields, in request: HTTPFields) -> [HTTPField.Name: String?]? {
        var varyValues: [HTTPField.Name: String?] = [:]
        for word in (fields[.vary] ?? "").split(whereSeparator: { $0 == "," || $0 == " " || $0 == "\t" }) {
            guard word != "*", let name = HTTPField.Name(String(word)) else { return nil }
            varyValues.updateValue(request[name], forKey: name)
        }
        return varyValues
    }

    /// The time for which the response is fresh. Zero if the server does not state it: the cache does not guess.
    private static func lifetime(of fields: HTTPFields, _ control: CacheControl, from date: Date) -> Duration {
        if let age = control.duration("max-age") { return age }
        guard let expires = fields[.expires].flatMap(HTTPDate.parse) else { return .zero }
        return duration(expires.timeIntervalSince(date))
    }

    private static func duration(_ seconds: Double) -> Duration {
        Duration(untrusted: seconds) ?? .zero
    }
}

extension CachedResponse {
    /// The request that asks the server whether the response is still valid (RFC 9110, section 13.1); `nil` if the
    /// response has no validator.
    func conditional(_ request: HTTPRequest) -> HTTPRequest? {
        var request = request
        request.headerFields[.ifNoneMatch] = response.headers[.eTag]
        request.headerFields[.ifModifiedSince] = response.headers[.lastModified]
        return request.isConditional ? request : nil
    }

    /// Whether a 304 refers to a representation other than the stored one (RFC 9111, section 4.3.4). The date counts
    /// only if the 304 has no tag.
    func isContradicted(by head: HTTPResponse) -> Bool {
        if let tag = head.headerFields[.eTag] {
            return response.headers[.eTag].map { Self.opaque($0) != Self.opaque(tag) } ?? true
        }
        guard let date = head.headerFields[.lastModified] else { return false }
        return response.headers[.lastModified] != date
    }

    /// The stored response with the header fields of a 304 (RFC 9111, section 3.2).
    func updated(by head: HTTPResponse) -> ServerResponse {
        // The digests of a 304 may be those of the encoded body, but the stored body is decoded.
        let kept = Set(HTTPFields.digests).union([
            .contentLength, .contentEncoding, .contentType, .contentRange, .transferEncoding, .connection, .trailer,
            .upgrade, .setCookie, .proxyAuthenticate,
        ])
        var updated = response.head
        // If the 304 has no date, the time of its arrival counts.
        updated.headerFields[.date] = nil
        for name in Set(head.headerFields.map(\.name)).subtracting(kept) {
            updated.headerFields[fields: name] = head.headerFields[fields: name]
        }
        // The stored body was chosen by the former fields, whatever a proxy does to the 304.
        let former = response.head.headerFields[values: .vary]
        updated.headerFields[values: .vary] = former + head.headerFields[values: .vary].filter { !former.contains($0) }
        return ServerResponse(head: updated, body: response.body)
    }

    private static func opaque(_ tag: String) -> Substring {
        tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]
    }
}

extension HTTPRequest {
    /// Removes the validators that ``CachedResponse/conditional(_:)`` adds.
    mutating func removeCacheConditions() {
        for name in [.ifNoneMatch, .ifModifiedSince] as [HTTPField.Name] { headerFields[name] = nil }
    }

    /// Whether the request depends on a representation that the sender already has.
    var isConditional: Bool {
        let names: [HTTPField.Name] = [
            .ifNoneMatch, .ifModifiedSince, .ifMatch, .ifUnmodifiedSince, .ifRange, .range,
        ]
        return names.contains { headerFields.contains($0) }
    }
}
