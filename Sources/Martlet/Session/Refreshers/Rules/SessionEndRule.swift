#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Decides which responses of the token endpoint end the session. Every other failure is transient, and the session
/// stays.
///
/// ```swift
/// SessionEndRule.status(401, 422)
/// SessionEndRule.code("invalid_grant")
/// SessionEndRule.status(401).or(.code("SESSION_CLOSED", status: 409))
/// ```
///
/// No rule lets a redirect, a 408, a 429 or a 5xx end a session.
public struct SessionEndRule: Sendable, Hashable {
    /// Responses with one of the statuses and one of the codes; any code if `codes` is `nil`.
    private struct Clause: Sendable, Hashable {
        let statuses: Set<Int>
        let codes: Set<String>?
    }

    private let clauses: [Clause]

    /// Client errors with one of these statuses.
    ///
    /// A proxy or a firewall may use the status for reasons of its own. If the server sends a code too,
    /// ``code(_:status:)`` is safer.
    public static func status(_ statuses: Int...) -> SessionEndRule {
        let clientErrors = statuses.filter { (400..<500).contains($0) }
        return SessionEndRule(clauses: [Clause(statuses: Set(clientErrors), codes: nil)])
    }

    /// Responses whose JSON contains one of these error codes.
    ///
    /// Martlet looks for the code in the members `error`, `code`, `error_code`, `errorCode` and `__type`. If `error` is
    /// an object, Martlet also looks in its members `code`, `status` and `message`.
    /// - Parameters:
    ///   - codes: The codes.
    ///   - status: The statuses that the response may have; 400 and 401 by default.
    public static func code(_ codes: String..., status: Int...) -> SessionEndRule {
        SessionEndRule(clauses: [Clause(statuses: status.isEmpty ? [400, 401] : Set(status), codes: Set(codes))])
    }

    /// A 401, or a 400 with the code `invalid_grant` or `invalid_token`.
    public static let standard = SessionEndRule.status(401).or(.code("invalid_grant", "invalid_token"))

    /// A rule that matches if this one or the other one does.
    public func or(_ other: SessionEndRule) -> SessionEndRule {
        SessionEndRule(clauses: clauses + other.clauses)
    }

    /// The error that ends the session; `nil` if the response does not end it.
    func rejection(in response: ServerResponse) -> RefreshRejectedError? {
        let status = response.status
        guard status < 500, !(300..<400).contains(status), status != 408, status != 429 else { return nil }
        let candidates = clauses.filter { $0.statuses.contains(status) }
        guard !candidates.isEmpty else { return nil }
        let codes = Self.codes(in: response)
        let declared = candidates.reduce(into: Set()) { $0.formUnion($1.codes ?? []) }
        if let code = codes.first(where: declared.contains) { return RefreshRejectedError(code: code) }
        guard candidates.contains(where: { $0.codes == nil }) else { return nil }
        return RefreshRejectedError(code: codes.first)
    }

    /// The error codes of a response, from the most common place to the least common.
    static func codes(in response: ServerResponse) -> [String] {
        guard let json = JSONValue(salvaging: response.body) else { return [] }
        var codes = ["error", "code", "error_code", "errorCode"].compactMap { json[$0]?.text }
        // AWS puts a namespace before the name: `com.amazonaws.example#NotAuthorizedException`.
        if let type = json["__type"]?.string { codes.append(type.split(separator: "#").last.map(String.init) ?? type) }
        if let error = json["error"] {
            // Google adds details after a colon: `INVALID_REFRESH_TOKEN : details`.
            if let message = error["message"]?.string {
                codes.append(String(message.prefix { $0 != " " && $0 != ":" }))
            }
            codes += ["status", "code"].compactMap { error[$0]?.text }
        }
        return codes
    }
}

extension ServerResponse {
    /// The status with the message or code that the server has put into its JSON, or with an excerpt of another body:
    /// `400: the token has been used (invalid_grant)`. For texts that people read.
    var summary: String {
        guard let json = JSONValue(salvaging: body) else { return description }
        let code = SessionEndRule.codes(in: self).first
        let message =
            ["error_description", "message", "detail", "title"].lazy.compactMap { json[$0]?.string }.first
            ?? json["error"]?["message"]?.string
        let words =
            switch (message, code) {
            case (let message?, let code?) where message != code: "\(message) (\(code))"
            case (let text?, _), (nil, let text?): text
            case (nil, nil): ""
            }
        return words.isEmpty ? description : ServerResponse(head: head, body: Data(words.utf8)).description
    }
}
