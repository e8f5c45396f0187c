internal import Foundation

/// A part as a reader of forms sees it.
struct ReadPart: Equatable {
    var name: String?
    var filename: String?
    var contentType: String?
    var content: Data
    var headers: [String] = []
}

/// Reads forms as RFC 2046 defines them and forgives nothing.
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

    // By bytes throughout: to a String, a quote with a combining accent is no quote.
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

/// Parsers of forms that others wrote, in Python.
enum ForeignParser: String, CaseIterable {
    case email, werkzeug

    static let isMissing = "needs python3 with the package werkzeug; `make test` installs them"

    static let isInstalled: Bool = {
        let check = Process()
        check.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        check.arguments = ["python3", "-c", "import werkzeug.sansio.multipart"]
        check.standardOutput = FileHandle.nullDevice
        check.standardError = FileHandle.nullDevice
        guard (try? check.run()) != nil else { return false }
        check.waitUntilExit()
        return check.terminationStatus == 0
    }()

    struct Failed: Error {
        let status: Int32
    }

    private struct Record: Decodable {
        let name: String?
        let filename: String?
        let contentType: String?
        let content: Data
    }

    /// Has a body read. It goes through files, so that no full pipe can stop either side.
    func parts(of body: Data, contentType: String) async throws -> [ReadPart] {
        try await TemporaryFolder.with { folder in
            let output = try folder.file("parts.json")
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["python3", Self.script, rawValue, contentType]
            let input = try folder.file("body", body)
            process.standardInput = try FileHandle(forReadingFrom: URL(fileURLWithPath: input))
            process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: output))
            let status = try await withCheckedThrowingContinuation { continuation in
                process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
                do { try process.run() } catch { continuation.resume(throwing: error) }
            }
            guard status == 0 else { throw Failed(status: status) }
            let json = try Data(contentsOf: URL(fileURLWithPath: output))
            return try JSONDecoder().decode([Record].self, from: json).map {
                ReadPart(name: $0.name, filename: $0.filename, contentType: $0.contentType, content: $0.content)
            }
        }
    }

    private static let script = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Support/parse_multipart.py")
        .path
}
