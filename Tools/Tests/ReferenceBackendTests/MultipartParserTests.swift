import NIOCore
import Testing

@testable import ReferenceBackend

@Suite("Multipart parser", .timeLimit(.minutes(10)))
struct MultipartParserTests {
    private struct Part: Equatable {
        var name: String
        var filename: String?
        var contentType: String?
        var content: [UInt8] = []
        var isEnded = false
    }

    private func parse(_ body: [UInt8], boundary: String, chunk: Int) throws -> [Part] {
        var parser = MultipartParser(boundary: boundary)
        var parts: [Part] = []
        for start in stride(from: 0, to: body.count, by: chunk) {
            let piece = ByteBuffer(bytes: body[start..<min(start + chunk, body.count)])
            for event in try parser.feed(piece) {
                switch event {
                case .partBegan(let headers):
                    parts.append(
                        Part(name: headers.name, filename: headers.filename, contentType: headers.contentType))
                case .content(let bytes): parts[parts.count - 1].content += bytes.readableBytesView
                case .partEnded: parts[parts.count - 1].isEnded = true
                }
            }
        }
        try parser.finish()
        return parts
    }

    private let body = [
        "a preamble to be ignored\r\n--b0", "Content-Disposition: form-data; name=\"name\"", "", "Wren", "--b0 \t",
        "content-type: image/png", "CONTENT-DISPOSITION: form-data; name=\"image\"; filename=\"a%22b;c.png\"", "",
        "\r--b0\r\n--b", "\n--b0--", "\r\n--b0x\r\n\r\n--b0-", "--b0", "Content-Disposition: form-data; name=empty", "",
        "", "--b0--", "an epilogue --b0",
    ].joined(separator: "\r\n")

    @Test("Pieces of any size give the same parts, and boundaries within content are kept", arguments: 1...400)
    func everyChunkSize(chunk: Int) throws {
        let parts = try parse(Array(body.utf8), boundary: "b0", chunk: chunk)
        let image = "\r--b0\r\n--b\r\n\n--b0--\r\n\r\n--b0x\r\n\r\n--b0-"
        #expect(
            parts == [
                Part(name: "name", content: Array("Wren".utf8), isEnded: true),
                Part(
                    name: "image", filename: "a\"b;c.png", contentType: "image/png", content: Array(image.utf8),
                    isEnded: true),
                Part(name: "empty", isEnded: true),
            ])
    }

    @Test("Random content with many prefixes of boundaries is preserved", arguments: 0..<50)
    func randomContent(seed: UInt64) throws {
        var generator = SplitMix(state: seed)
        let pieces = ["\r\n--bou", "\r\n--boundary", "\r", "\n", "-", "--boundary--", "x", "\r\n", " ", "--"]
        var content = ""
        for _ in 0..<200 { content += pieces.randomElement(using: &generator) ?? "" }
        // A letter follows each boundary, so that none of them is a delimiter.
        content = content.replacing("--boundary", with: "--boundaryx")
        let body = "--boundary\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\(content)\r\n--boundary--\r\n"
        for chunk in [1, 2, 3, 7, 64, 1000, 100_000] {
            let parts = try parse(Array(body.utf8), boundary: "boundary", chunk: chunk)
            #expect(parts == [Part(name: "a", content: Array(content.utf8), isEnded: true)])
        }
    }

    @Test("A body without its last boundary is truncated")
    func truncated() {
        let whole = Array("--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n--b--".utf8)
        for length in 0..<whole.count {
            #expect(throws: MultipartParser.ParsingError.truncated) {
                try parse(Array(whole.prefix(length)), boundary: "b", chunk: 5)
            }
        }
    }

    @Test("Endless headers are rejected")
    func longHeaders() {
        let body = "--b\r\nX-Long: \(String(repeating: "x", count: 20_000))\r\n\r\n"
        #expect(throws: MultipartParser.ParsingError.headersTooLong) {
            try parse(Array(body.utf8), boundary: "b", chunk: 1000)
        }
    }

    @Test(
        "A part without a form field name is rejected", arguments: ["X-A: b", "Content-Disposition: attachment", "x"])
    func malformedHeaders(header: String) {
        #expect(throws: MultipartParser.ParsingError.malformedHeaders) {
            try parse(Array("--b\r\n\(header)\r\n\r\nx\r\n--b--".utf8), boundary: "b", chunk: 1000)
        }
    }

    @Test("Too many parts are rejected")
    func manyParts() {
        let part = "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\r\n"
        let body = String(repeating: part, count: MultipartParser.maxParts + 1) + "--b--"
        #expect(throws: MultipartParser.ParsingError.tooManyParts) {
            try parse(Array(body.utf8), boundary: "b", chunk: 4096)
        }
    }
}

/// A deterministic random number generator.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
