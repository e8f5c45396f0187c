import HTTPTypes
import HummingbirdCore
import NIOCore

/// A request and its context.
struct RequestScope: Sendable {
    let id: String
    let request: Request
    let method: String
    let path: String
    let query: FormFields
    let parameters: [String: String]
    let startedAt: ContinuousClock.Instant
    let receivedAt: Timestamp
    let channel: any Channel

    var headers: HTTPFields { request.headers }

    var elapsedMilliseconds: Int {
        Int((ContinuousClock.now - startedAt).wholeMilliseconds)
    }

    /// The media type without parameters, in lowercase.
    var mediaType: String? {
        headers[.contentType]?.prefix { $0 != ";" }.lowercased().trimmingBlanks
    }

    func parameter(_ name: String) throws -> String {
        guard let value = parameters[name] else { throw APIError.notFound }
        return value
    }

    func cookie(_ name: String) -> String? {
        for field in headers[values: .cookie] {
            for pair in field.split(separator: ";") {
                let halves = pair.split(separator: "=", maxSplits: 1)
                if halves.count == 2, halves[0].trimmingBlanks == name { return halves[1].trimmingBlanks }
            }
        }
        return nil
    }
}

extension StringProtocol {
    /// The text without leading and trailing spaces and tabs.
    var trimmingBlanks: String {
        var text = self[...]
        while let first = text.first, first == " " || first == "\t" { text = text.dropFirst() }
        while let last = text.last, last == " " || last == "\t" { text = text.dropLast() }
        return String(text)
    }
}
