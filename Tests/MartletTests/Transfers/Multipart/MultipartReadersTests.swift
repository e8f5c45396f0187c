internal import Foundation
internal import MartletTesting
internal import Testing

@testable import Martlet

@Suite("Forms read by other parsers", .timeLimit(.minutes(10)))
struct MultipartReadersTests {
    @Test(
        "other parsers read the same parts", .enabled(if: ForeignParser.isInstalled, "\(ForeignParser.isMissing)"),
        .timeLimit(.minutes(10)), arguments: ForeignParser.allCases)
    func foreignParsers(parser: ForeignParser) async throws {
        try await TemporaryFolder.with { folder in
            var forms: [ForeignParser.Form] = []
            var expectations: [[ReadPart]] = []
            for (_, fill) in awkwardForms {
                var form = MultipartForm()
                expectations.append(try fill(&form, folder))
                let body = try await form.stream().collect(upTo: 10_000_000)
                forms.append(.init(contentType: form.contentType, body: body))
            }
            let read = try await parser.parts(of: forms)
            #expect(read.count == forms.count)
            for ((title, _), (parts, expected)) in zip(awkwardForms, zip(read, expectations)) {
                // Some parsers undo the escaping of the WHATWG standard, and others keep it.
                #expect(parts.map(\.escaped) == expected.map(\.escaped), "\(title)")
            }
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
        "names of nested fields, and parts of one name",
        { form, _ in
            let names = ["user[address][0]", "user[address][1]", "user.tags[]", "user.tags[]", "a[b]=c&d", "[]"]
            return names.map { name in
                form.append(name + "!", named: name)
                return ReadPart(name: name, content: Data((name + "!").utf8))
            }
        }
    ),
    (
        "types by content, by name and by decree",
        { form, folder in
            let gif = Data("GIF89a".utf8)
            form.append(gif, named: "a")
            form.append(fileAt: try folder.file("gif", gif), named: "b")
            form.append(gif, named: "c", filename: "c.png")
            form.append("{}", named: "d", contentType: "application/vnd.api+json")
            return [
                ReadPart(name: "a", contentType: "image/gif", content: gif),
                ReadPart(name: "b", filename: "gif", contentType: "image/gif", content: gif),
                ReadPart(name: "c", filename: "c.png", contentType: "image/png", content: gif),
                ReadPart(name: "d", contentType: "application/vnd.api+json", content: Data("{}".utf8)),
            ]
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
