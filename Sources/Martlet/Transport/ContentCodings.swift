internal import HTTPTypes

/// The codings of a body in the order in which the server has applied them: the last one is the outermost and has to be
/// decoded first (RFC 9110, section 8.4).
struct ContentCodings: Sendable, Equatable {
    /// In lower case, without `identity`, which changes nothing, and without empty members (section 5.6.1.2).
    var names: [String]

    /// The codings of all `Content-Encoding` fields together.
    init(_ fields: HTTPFields) {
        guard fields.contains(.contentEncoding) else {
            names = []
            return
        }
        names = fields[values: .contentEncoding].flatMap { value in
            value.split(separator: ",").map { $0.trimmingBlanks.lowercased() }
        }.filter { !$0.isEmpty && $0 != "identity" }
    }

    /// The value of `Content-Encoding`; `nil` if there is no coding.
    var field: String? { names.isEmpty ? nil : names.joined(separator: ", ") }

    /// The reason why a body with these codings cannot be read; `nil` if there is none. It is short even if the
    /// server's list is long.
    var unsupportedReason: String? {
        guard let field else { return nil }
        return "unsupported content coding \"\(field.count > 40 ? field.prefix(40) + "…" : field)\""
    }
}
