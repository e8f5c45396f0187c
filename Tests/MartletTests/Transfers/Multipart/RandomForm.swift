import Foundation
import MartletTesting

@testable import Martlet

/// A form that is hard to parse, made from a seed: names that try to break out of their quotes, sizes at chunk
/// boundaries, and content that resembles a delimiter.
///
/// The tests of the reference backend parse it too.
struct RandomForm {
    struct Part: Equatable {
        var name: String
        var filename: String?
        var content: Data
    }

    /// The content type of every part.
    static let contentType = "a/b"

    let form: MultipartForm
    var boundary: String { form.boundary }
    let parts: [Part]
    /// Whether the form must know its length.
    let isLengthKnown: Bool

    /// - Parameters:
    ///   - seed: Determines the form, except for a random boundary.
    ///   - folder: The folder for the form's files.
    ///   - isPlain: Whether names avoid the backslash. Parsers disagree on it: RFC 9110, section 5.6.4, makes it an
    ///     escape, and the WHATWG's HTML standard does not.
    init(seed: UInt64, folder: String, isPlain: Bool = false) throws {
        var generator = SeededGenerator(seed: seed)
        var form = try Self.emptyForm(&generator)
        var parts: [Part] = []
        var isLengthKnown = true
        for index in 0..<generator.number(below: 7) {
            let name = Self.name(&generator, isPlain: isPlain)
            var filename = generator.isTrue(inPercent: 50) ? Self.name(&generator, isPlain: isPlain) : nil
            let content = Self.content(&generator, boundary: form.boundary)
            let pieces = RandomPieces(pieces: Self.cut(content, &generator))
            let length = generator.isTrue(inPercent: 60) ? Int64(content.count) : nil
            switch generator.number(below: 4) {
            case 0:
                form.append(content, named: name, filename: filename, contentType: Self.contentType)
            case 1:
                let path = "\(folder)/\(seed)-\(index)"
                try content.write(to: URL(fileURLWithPath: path))
                form.append(fileAt: path, named: name, filename: filename, contentType: Self.contentType)
                filename = filename ?? "\(seed)-\(index)"
            case 2:
                form.append(
                    stream: { ByteStream(pieces) }, length: length, named: name, filename: filename,
                    contentType: Self.contentType)
                isLengthKnown = isLengthKnown && length != nil
            default:
                form.append(
                    singleUse: pieces, length: length, named: name, filename: filename, contentType: Self.contentType)
                isLengthKnown = isLengthKnown && length != nil
            }
            parts.append(Part(name: name, filename: filename, content: content))
        }
        self.form = form
        self.parts = parts
        self.isLengthKnown = isLengthKnown
    }

    /// Splits bytes at random positions. Some pieces are empty.
    static func cut(_ content: Data, _ generator: inout SeededGenerator) -> [Data] {
        var pieces: [Data] = []
        var rest = content
        while !rest.isEmpty {
            let size = generator.number(below: max(rest.count / 2, 40))
            pieces.append(rest.prefix(size))
            rest = rest.dropFirst(size)
        }
        return pieces
    }

    private static func emptyForm(_ generator: inout SeededGenerator) throws -> MultipartForm {
        switch generator.number(below: 4) {
        case 0: try MultipartForm(boundary: "--B:\(generator.number(below: 1000))Z")
        case 1: try MultipartForm(boundary: "Z")
        case 2: try MultipartForm(boundary: String(repeating: "'()+_,-./:=? z", count: 5).prefix(69) + "Z")
        default: MultipartForm()
        }
    }

    private static func name(_ generator: inout SeededGenerator, isPlain: Bool) -> String {
        if generator.isTrue(inPercent: 20) {
            return "user[address][\(generator.number(below: 3))]"
        }
        let pieces =
            [
                "a", "\"", "\r", "\n", "\r\n", "\"; filename=\"x", "\r\n\r\n--Z--\r\n", "é", "👩‍🚀", "\u{301}", "%", "=",
                " b", "\0", ":", "--B", ";", "[]", "日本",
            ] + (isPlain ? [] : ["\\", "\\\""])
        return text(of: pieces, below: 8, &generator)
    }

    private static func content(_ generator: inout SeededGenerator, boundary: String) -> Data {
        if generator.isTrue(inPercent: 20) {
            let border = [1, 16 * 1024, 256 * 1024, 512 * 1024][generator.number(below: 4)]
            let filling = [UInt8(ascii: "-"), UInt8(ascii: "\r"), 0][generator.number(below: 3)]
            return Data(repeating: filling, count: border - 1 + generator.number(below: 3))
        }
        let pieces = [
            "\r\n", "--", "\r\n--", "\r\n--\(boundary.dropLast())", "x--\(boundary)", "\r\n-\(boundary)",
            "--\(boundary.dropLast())--\r\n", "x", "\r", "\n", "-", "\0", "é", "Content-Type: a/b\r\n\r\n",
        ]
        var content = Data(text(of: pieces, below: 60, &generator).utf8)
        // A delimiter is the only content a form with a given boundary cannot carry. Random pieces may form one.
        while let delimiter = content.range(of: Data("\n--\(boundary)".utf8)) {
            content.replaceSubrange(delimiter, with: Data("\n-".utf8))
        }
        return content.starts(with: Data("--\(boundary)".utf8)) ? content.dropFirst() : content
    }

    private static func text(of pieces: [String], below limit: Int, _ generator: inout SeededGenerator) -> String {
        (0..<generator.number(below: limit)).map { _ in pieces[generator.number(below: pieces.count)] }.joined()
    }
}

/// A sequence of pieces in memory.
private struct RandomPieces: AsyncSequence, Sendable {
    let pieces: [Data]

    struct AsyncIterator: AsyncIteratorProtocol {
        var rest: ArraySlice<Data>
        mutating func next() async -> Data? { rest.popFirst() }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: pieces[...]) }
}
