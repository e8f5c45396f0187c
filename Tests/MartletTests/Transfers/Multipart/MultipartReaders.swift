internal import Foundation

/// A part of a form, as parsed.
struct ReadPart: Equatable {
    var name: String?
    var filename: String?
    var contentType: String?
    var content: Data
    var headers: [String] = []

    /// The part with its names escaped as they are sent, because parsers differ in whether they undo the escaping.
    var escaped: ReadPart {
        ReadPart(
            name: name.map(Self.escaped), filename: filename.map(Self.escaped), contentType: contentType,
            content: content)
    }

    private static func escaped(_ text: String) -> String {
        let escapes: [UInt8: String] = [0x22: "%22", 0x0D: "%0D", 0x0A: "%0A", 0: "%00"]
        return String(decoding: text.utf8.flatMap { escapes[$0].map { Array($0.utf8) } ?? [$0] }, as: UTF8.self)
    }
}

/// A strict parser of forms according to RFC 2046.
enum ReferenceParser {
    struct Malformed: Error {
        let reason: String
    }

    static func parts(of body: Data, boundary: String) throws -> [ReadPart] {
        let lineBreak = Data("\r\n".utf8)
        let delimiter = Data("--\(boundary)".utf8)
        var rest = lineBreak + body
        var parts: [ReadPart] = []
        while true {
            guard rest.starts(with: lineBreak + delimiter) else { throw Malformed(reason: "no delimiter") }
            rest = rest.dropFirst(2 + delimiter.count)
            if rest == Data("--\r\n".utf8) { return parts }
            guard rest.starts(with: lineBreak) else { throw Malformed(reason: "no line break after a delimiter") }
            guard let head = rest.range(of: lineBreak + lineBreak) else { throw Malformed(reason: "no empty line") }
            let lines = split(rest[rest.startIndex + 2..<head.lowerBound], by: lineBreak)
            guard let end = rest.range(of: lineBreak + delimiter, in: head.upperBound..<rest.endIndex) else {
                throw Malformed(reason: "no end of a part")
            }
            parts.append(part(lines, Data(rest[head.upperBound..<end.lowerBound])))
            rest = rest[end.lowerBound...]
        }
    }

    // Works on bytes throughout: in a String, a quote followed by a combining accent is not a quote.
    private static func part(_ headers: [Data], _ content: Data) -> ReadPart {
        var part = ReadPart(content: content, headers: headers.map { String(decoding: $0, as: UTF8.self) })
        for header in headers {
            let type = Data("Content-Type: ".utf8)
            if header.starts(with: type) {
                part.contentType = String(decoding: header.dropFirst(type.count), as: UTF8.self)
            }
            guard header.starts(with: "Content-Disposition: form-data; name=".utf8) else { continue }
            let pieces = split(header, by: Data("\"".utf8))
            if pieces.count >= 3 { part.name = unescaped(pieces[1]) }
            if pieces.count == 5 { part.filename = unescaped(pieces[3]) }
        }
        return part
    }

    private static func split(_ bytes: Data, by separator: Data) -> [Data] {
        var pieces: [Data] = []
        var rest = bytes
        while let found = rest.range(of: separator) {
            pieces.append(rest[rest.startIndex..<found.lowerBound])
            rest = rest[found.upperBound...]
        }
        return pieces + [rest]
    }

    private static func unescaped(_ bytes: Data) -> String {
        let escapes = [("%22", "\""), ("%0D", "\r"), ("%0A", "\n"), ("%00", "\0")]
        let text = escapes.reduce(Array(bytes)) { bytes, escape in
            var result: [UInt8] = []
            var index = 0
            while index < bytes.count {
                let isEscape = bytes[index...].starts(with: escape.0.utf8)
                result.append(contentsOf: isEscape ? Array(escape.1.utf8) : [bytes[index]])
                index += isEscape ? 3 : 1
            }
            return result
        }
        return String(decoding: text, as: UTF8.self)
    }
}
