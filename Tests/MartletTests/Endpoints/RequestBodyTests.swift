internal import Foundation
internal import Testing

@testable import Martlet

@Suite("Request bodies", .timeLimit(.minutes(10)))
struct RequestBodyTests {
    @Test("a body of bytes is sent unchanged")
    func bytes() async throws {
        let body = RequestBody.bytes(Data([0, 1, 2]))
        #expect(body.contentType == "application/octet-stream")
        #expect(body.isReplayable)
        #expect(try await sent(body) == Sent(Data([0, 1, 2]), length: 3))
    }

    @Test("a text is sent in UTF-8")
    func text() async throws {
        let body = RequestBody.text("Grüße")
        #expect(body.contentType == "text/plain; charset=utf-8")
        #expect(try await sent(body) == Sent("Grüße", length: 7))
    }

    @Test("JSON is encoded with the client's encoder")
    func json() async throws {
        struct Draft: Encodable, Sendable { let fullTitle: String }
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        let body = RequestBody.json(Draft(fullTitle: "x"))
        #expect(body.contentType == "application/json")
        #expect(try await sent(body, encoder: encoder) == Sent(#"{"full_title":"x"}"#, length: 18))
    }

    @Test("a value that cannot be encoded throws when it is encoded")
    func jsonThatDoesNotEncode() async {
        await #expect(throws: EncodingError.self) { try await sent(.json(Double.nan)) }
    }

    @Test("a form is encoded as browsers encode it")
    func form() async throws {
        let body = RequestBody.form(["a b": "1+1=2 & 3", "ü": "~*-._", "empty": "", "gone": nil])
        #expect(body.contentType == "application/x-www-form-urlencoded")
        #expect(try await sent(body).text == "a+b=1%2B1%3D2+%26+3&%C3%BC=%7E*-._&empty=")
    }

    @Test("a file is read again for each attempt")
    func file() async throws {
        try await TemporaryFolder.with { folder in
            let body = RequestBody.file(at: try folder.file("note.txt", Data("one".utf8)))
            #expect(body.contentType == "text/plain")
            #expect(body.isReplayable)
            #expect(try await sent(body) == Sent("one", length: 3))
            try folder.file("note.txt", Data("three".utf8))
            #expect(try await sent(body) == Sent("three", length: 5))
        }
    }

    @Test("a transport that has to send a file or a form again can read it again, but not a single-use stream")
    func repeatable() async throws {
        try await TemporaryFolder.with { folder in
            let path = try folder.file("note.txt", Data("one".utf8))
            var form = MultipartForm()
            form.append(fileAt: path, named: "file")
            for body in [RequestBody.file(at: path), .multipart(form), .text("one")] {
                let outgoing = try outgoing(body)
                #expect(outgoing.isRepeatable)
                let counted = outgoing.counted(onProgress: {}) { { _ in } }
                let first = try await collected(counted)
                #expect(!first.isEmpty)
                #expect(try await collected(counted) == first)
            }
            form.append(singleUse: ByteStream(Data("two".utf8)), named: "text")
            for body in [
                RequestBody.singleUse(ByteStream(Data("one".utf8)), length: 3, contentType: nil), .multipart(form),
            ] {
                #expect(!(try outgoing(body).isRepeatable))
            }
        }
    }

    @Test("a missing file fails before anything is sent")
    func missingFile() {
        let body = RequestBody.file(at: "/nowhere/x.pdf", contentType: "text/plain")
        #expect(body.contentType == "text/plain")
        #expect(throws: FileError(.missing, path: "/nowhere/x.pdf")) { try outgoing(body) }
    }

    @Test("a file that changes after its length was announced fails")
    func changedFile() async throws {
        try await TemporaryFolder.with { folder in
            let path = try folder.file("a.bin", Data(repeating: 7, count: 100))
            let announced = try outgoing(.file(at: path))
            try folder.extend(path, by: Data([8]))
            await #expect(throws: FileError(.changed, path: path)) { try await collected(announced) }
        }
    }

    @Test("a stream is opened once per attempt")
    func stream() async throws {
        let opened = Locked(0)
        let body = RequestBody.stream(length: 4, contentType: "a/b") {
            opened.withLock { $0 += 1 }
            return ByteStream(Chunks(chunks: [Data([1, 2]), Data([3, 4])]))
        }
        #expect(body.isReplayable)
        #expect(try await sent(body) == Sent(Data([1, 2, 3, 4]), length: 4))
        #expect(try await sent(body) == Sent(Data([1, 2, 3, 4]), length: 4))
        #expect(opened.withLock { $0 } == 2)
    }

    @Test("a stream can have an unknown length")
    func streamWithoutLength() async throws {
        let body = RequestBody.stream(length: nil, contentType: nil) { ByteStream(Data([1])) }
        #expect(try await sent(body) == Sent(Data([1]), length: nil))
    }

    @Test("a stream longer or shorter than announced fails", arguments: [-1, 0, 3, 5] as [Int64])
    func wrongLength(announced: Int64) async {
        let body = RequestBody.stream(length: announced, contentType: nil) { ByteStream(Data([1, 2, 3, 4])) }
        await #expect(throws: InvalidRequestError.self) { try await sent(body) }
    }

    @Test("a single-use sequence can be sent once, and its stream read once")
    func singleUse() async throws {
        let body = RequestBody.singleUse(Chunks(chunks: [Data("ab".utf8), Data("c".utf8)]), length: 3)
        #expect(!body.isReplayable)
        let first = try outgoing(body)
        #expect(try await collected(first) == Data("abc".utf8))
        await #expect(throws: BodySpentError.self) { try await collected(first) }
        #expect(throws: BodySpentError.self) { try outgoing(body) }
    }

    @Test("a multipart form provides the boundary and the length")
    func multipart() async throws {
        var form = try MultipartForm(boundary: "a:b c")
        form.append("x", named: "n")
        let body = RequestBody.multipart(form)
        #expect(body.contentType == "multipart/form-data; boundary=\"a:b c\"")
        #expect(body.isReplayable)
        let expected = "--a:b c\r\nContent-Disposition: form-data; name=\"n\"\r\n\r\nx\r\n--a:b c--\r\n"
        #expect(try await sent(body) == Sent(expected, length: Int64(expected.utf8.count)))
    }
}

/// The bytes of a body as sent, with the length that was announced for it.
private struct Sent: Equatable {
    let bytes: Data
    let length: Int64?
    var text: String { String(decoding: bytes, as: UTF8.self) }

    init(_ bytes: Data, length: Int64?) {
        self.bytes = bytes
        self.length = length
    }

    init(_ text: String, length: Int64?) {
        self.init(Data(text.utf8), length: length)
    }
}

private func outgoing(_ body: RequestBody, encoder: JSONEncoder = JSONEncoder()) throws -> OutgoingBody {
    switch body.source {
    case .bytes(let bytes): OutgoingBody(bytes)
    case .encoded(let encode): OutgoingBody(try encode(encoder))
    case .stream(let open): try open()
    }
}

private func collected(_ body: OutgoingBody) async throws -> Data {
    switch body.content {
    case .bytes(let bytes): bytes
    case .stream(let stream): try await stream.collect(upTo: 10_000_000)
    }
}

@discardableResult
private func sent(_ body: RequestBody, encoder: JSONEncoder = JSONEncoder()) async throws -> Sent {
    let outgoing = try outgoing(body, encoder: encoder)
    return Sent(try await collected(outgoing), length: outgoing.length)
}
