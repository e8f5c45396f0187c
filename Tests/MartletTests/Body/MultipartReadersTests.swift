internal import Foundation
internal import MartletTesting
internal import Testing

@testable import Martlet

@Suite("What a multipart form says, others read")
struct MultipartReadersTests {
    @Test(
        "with parsers that are not ours", .enabled(if: ForeignParser.isInstalled, "\(ForeignParser.isMissing)"),
        .timeLimit(.minutes(2)), arguments: ForeignParser.allCases)
    func foreignParsers(parser: ForeignParser) async throws {
        try await TemporaryFolder.with { folder in
            for (title, fill) in awkwardForms {
                var form = MultipartForm()
                let expected = try fill(&form, folder)
                let body = try await form.stream().collect(upTo: 10_000_000)
                let parts = try await parser.parts(of: body, contentType: form.contentType)
                #expect(parts.count == expected.count, "\(title)")
                for (part, expected) in zip(parts, expected) {
                    // One parser undoes the escaping of the WHATWG, the other leaves it.
                    #expect(part.name.map(escaped) == expected.name.map(escaped), "\(title)")
                    #expect(part.filename.map(escaped) == expected.filename.map(escaped), "\(title)")
                    #expect(part.contentType == expected.contentType, "\(title)")
                    #expect(part.content == expected.content, "\(title)")
                }
            }
        }
    }

    @Test("whatever names, sizes and borders of chunks it has", arguments: 0..<300)
    func fuzz(seed: Int) async throws {
        try await TemporaryFolder.with { folder in
            var generator = SeededGenerator(seed: UInt64(seed))
            var form = try MultipartForm(boundary: "--B:\(seed)Z")
            var expected: [ReadPart] = []
            var isLengthKnown = true
            for index in 0..<Int.random(in: 0...6, using: &generator) {
                let name = randomText(&generator)
                let filename = Bool.random(using: &generator) ? randomText(&generator) : nil
                let content = randomContent(&generator)
                let cut = randomCut(content, &generator)
                let length = Bool.random(using: &generator) ? Int64(content.count) : nil
                switch Int.random(in: 0...3, using: &generator) {
                case 0: form.append(content, named: name, filename: filename, contentType: "a/b")
                case 1:
                    let path = try folder.file("\(index)", content)
                    form.append(fileAt: path, named: name, filename: filename ?? "f", contentType: "a/b")
                case 2:
                    form.append(
                        stream: { ByteStream(Chunks(chunks: cut)) }, length: length, named: name, filename: filename,
                        contentType: "a/b")
                    isLengthKnown = isLengthKnown && length != nil
                default:
                    form.append(
                        oneShot: Chunks(chunks: cut), length: length, named: name, filename: filename,
                        contentType: "a/b")
                    isLengthKnown = isLengthKnown && length != nil
                }
                expected.append(ReadPart(name: name, filename: filename, contentType: "a/b", content: content))
            }
            let length = try form.contentLength()
            let body = try await form.stream().collect(upTo: 10_000_000)
            #expect((length != nil) == isLengthKnown)
            #expect(length ?? Int64(body.count) == Int64(body.count))
            let parts = try ReferenceParser.parts(of: body, boundary: form.boundary)
            #expect(parts.map(\.name) == expected.map(\.name))
            #expect(parts.map(\.content) == expected.map(\.content))
            #expect(zip(parts, expected).allSatisfy { $1.filename == nil || $0.filename == $1.filename })
        }
    }
}

private typealias Fill = @Sendable (inout MultipartForm, TemporaryFolder) throws -> [ReadPart]

private let awkwardForms: [(String, Fill)] = [
    ("an empty form", { _, _ in [] }),
    (
        "empty values",
        { form, folder in
            form.append("", named: "")
            form.append(Data(), named: "data", filename: "")
            form.append(fileAt: try folder.file("empty.txt"), named: "file")
            form.append(stream: { ByteStream(Data()) }, length: nil, named: "stream")
            return [
                ReadPart(name: "", content: Data()),
                ReadPart(name: "data", filename: "", contentType: "application/octet-stream", content: Data()),
                ReadPart(name: "file", filename: "empty.txt", contentType: "text/plain", content: Data()),
                ReadPart(name: "stream", contentType: "application/octet-stream", content: Data()),
            ]
        }
    ),
    (
        "unicode, quotes and line breaks in names",
        { form, _ in
            let names = ["Grüße", "她的名字", "👩‍🚀 \"quoted\"", "a\r\nContent-Type: x/y", "a\nb", "semi;colon=1", "'", "a b"]
            return names.map { name in
                form.append(Data(name.utf8), named: name, filename: name + ".png")
                return ReadPart(name: name, filename: name + ".png", contentType: "image/png", content: Data(name.utf8))
            }
        }
    ),
    (
        "content that looks like a delimiter",
        { form, _ in
            let boundary = form.boundary
            let contents = [
                "\r\n--\r\n", "--\r\n--", "\r\n--\(boundary.dropLast())\r\n", "\r\n--\(boundary.dropLast())--\r\n",
                "\r\n", "\n", "\r", "\r\n\r\n", "-- \(boundary)--", "\(boundary)", "\r\n-\(boundary)", "\r\n--",
            ]
            return contents.map { content in
                form.append(Data(content.utf8), named: "a", filename: "b", contentType: "text/plain")
                return ReadPart(name: "a", filename: "b", contentType: "text/plain", content: Data(content.utf8))
            }
        }
    ),
    (
        "every byte there is, and a file of three megabytes",
        { form, folder in
            let bytes = Data((0...255).map { UInt8($0) } + (0...255).reversed().map { UInt8($0) })
            var generator = SeededGenerator(seed: 3)
            let large = generator.bytes(3_000_000)
            form.append(bytes, named: "bytes", filename: "all.bin")
            form.append(fileAt: try folder.file("large.mp4", large), named: "large")
            form.append("after", named: "last")
            return [
                ReadPart(
                    name: "bytes", filename: "all.bin", contentType: "application/octet-stream", content: bytes),
                ReadPart(name: "large", filename: "large.mp4", contentType: "video/mp4", content: large),
                ReadPart(name: "last", content: Data("after".utf8)),
            ]
        }
    ),
]

private func escaped(_ text: String) -> String {
    [("\"", "%22"), ("\r", "%0D"), ("\n", "%0A")].reduce(text) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
}

private func randomText(_ generator: inout SeededGenerator) -> String {
    let pieces = ["a", "\"", "\r", "\n", "; filename=\"x", "é", "👩‍🚀", "\u{301}", "\\", "%", "=", " ", "\0", ":", "--B"]
    return (0..<Int.random(in: 0...8, using: &generator))
        .map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
}

/// The boundary's last character is a `Z`, which no piece has: the content comes close to it and never contains it.
private func randomContent(_ generator: inout SeededGenerator) -> Data {
    if Int.random(in: 0...9, using: &generator) == 0 {
        let size = Int.random(in: 16_000...600_000, using: &generator)
        return Data(repeating: UInt8(ascii: "-"), count: size)
    }
    let pieces = ["\r\n", "--", "--B:", "----B:1", "x", "\r", "\n", "-", "\0", "é", "Content-Type: a/b\r\n\r\n"]
    let count = Int.random(in: 0...60, using: &generator)
    return Data((0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined().utf8)
}

private func randomCut(_ content: Data, _ generator: inout SeededGenerator) -> [Data] {
    var chunks: [Data] = []
    var rest = content
    while !rest.isEmpty {
        let size = Int.random(in: 0...max(rest.count / 2, 20), using: &generator)
        chunks.append(rest.prefix(size))
        rest = rest.dropFirst(size)
    }
    return chunks
}
