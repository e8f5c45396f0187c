internal import Foundation
internal import HTTPTypes
internal import Testing

@testable import Martlet

@Suite("Multipart forms", .timeLimit(.minutes(10)))
struct MultipartFormTests {
    @Test("a form is encoded according to RFC 7578")
    func wholeForm() async throws {
        var form = try MultipartForm(boundary: "B")
        form.append("Ada", named: "name")
        form.append(Data("{}".utf8), named: "meta", contentType: "application/json")
        form.append(Data([1, 2]), named: "image", filename: "me.jpg")
        let expected = """
            --B\r\nContent-Disposition: form-data; name="name"\r\n\r\nAda\r\n\
            --B\r\nContent-Disposition: form-data; name="meta"\r\nContent-Type: application/json\r\n\r\n{}\r\n\
            --B\r\nContent-Disposition: form-data; name="image"; filename="me.jpg"\r\n\
            Content-Type: image/jpeg\r\n\r\n\u{1}\u{2}\r\n--B--\r\n
            """
        #expect(try await text(of: form) == expected)
        #expect(try form.contentLength() == Int64(expected.utf8.count))
        #expect(form.contentType == "multipart/form-data; boundary=B")
    }

    @Test("a form without parts is its closing delimiter")
    func empty() async throws {
        let form = try MultipartForm(boundary: "B")
        #expect(try await text(of: form) == "--B--\r\n")
        #expect(try form.contentLength() == 7)
    }

    @Test("a form is a value, and copies are independent")
    func valueSemantics() async throws {
        var form = try MultipartForm(boundary: "B")
        form.append("1", named: "a")
        var copy = form
        copy.append(singleUse: Chunks(chunks: []), named: "b")
        #expect(form.isReplayable)
        #expect(!copy.isReplayable)
        #expect(try form.contentLength() == Int64(try await text(of: form).utf8.count))
        #expect(copy.boundary == form.boundary)
    }

    @Test("random boundaries are unique and need no quotes")
    func randomBoundaries() {
        let boundaries = (0..<200).map { _ in MultipartForm().boundary }
        #expect(Set(boundaries).count == 200)
        for boundary in boundaries {
            #expect(boundary.count == 32)
            #expect(throws: Never.self) { try MultipartForm(boundary: boundary) }
        }
        #expect(!MultipartForm().contentType.contains("\""))
    }

    @Test(
        "valid boundaries of RFC 2046 are accepted, and quoted if necessary",
        arguments: [
            ("a", "a"), (String(repeating: "x", count: 70), String(repeating: "x", count: 70)),
            ("gc0pJq0M:08jU534c0p", "\"gc0pJq0M:08jU534c0p\""), ("a b", "\"a b\""),
            ("'()+_,-./:=?", "\"'()+_,-./:=?\""), ("'+_-.", "'+_-."),
        ])
    func goodBoundaries(boundary: String, parameter: String) throws {
        #expect(try MultipartForm(boundary: boundary).contentType == "multipart/form-data; boundary=" + parameter)
    }

    @Test(
        "invalid boundaries are rejected without a trap",
        arguments: ["", "a ", " ", String(repeating: "x", count: 71), "a\"b", "a\r\nX: y", "é", "a;b", "a~b", "a\0"])
    func badBoundaries(boundary: String) {
        #expect(throws: InvalidRequestError.self) { try MultipartForm(boundary: boundary) }
    }

    @Test(
        "quotes, line breaks and zero bytes in names are escaped, and nothing else",
        arguments: [
            ("a\"b", "a%22b"), ("a\r\nX-Evil: 1", "a%0D%0AX-Evil: 1"), ("a\nb\rc", "a%0Ab%0Dc"), ("a\0b", "a%00b"),
            ("Grüße 👩‍🚀", "Grüße 👩‍🚀"), ("100%25 a;b=c\\d'e", "100%25 a;b=c\\d'e"), ("", ""),
            ("\"\u{301}x", "%22\u{301}x"), ("\n\u{301}", "%0A\u{301}"),
        ])
    func names(name: String, written: String) async throws {
        var form = try MultipartForm(boundary: "B")
        form.append(Data(), named: name, filename: name, contentType: "a/b")
        let expected =
            "--B\r\nContent-Disposition: form-data; name=\"\(written)\"; filename=\"\(written)\"\r\n"
            + "Content-Type: a/b\r\n\r\n\r\n--B--\r\n"
        let bytes = try await collected(form)
        #expect(bytes == Data(expected.utf8))
    }

    @Test(
        "a content type or a header cannot inject headers or parts",
        arguments: ["a/b\r\nX-Evil: 1", "a/b\n\n--B--", "a/b\0", "a/b\r\n\r\n--B\r\n"])
    func injection(value: String) async throws {
        var form = try MultipartForm(boundary: "B")
        let custom = try #require(HTTPField.Name("X-Custom"))
        form.append("", named: "a", contentType: value, headers: [custom: value])
        let parts = try ReferenceParser.parts(of: try await collected(form), boundary: "B")
        #expect(parts.count == 1)
        #expect(parts.first?.headers.count == 3)
    }

    @Test("a part's own headers are sent, except Content-Disposition")
    func partHeaders() async throws {
        var form = try MultipartForm(boundary: "B")
        let custom = try #require(HTTPField.Name("X-Custom"))
        let headers: HTTPFields = [custom: "1", .contentType: "a/b", .contentDisposition: "attachment"]
        form.append(Data(), named: "a", filename: "x.png", headers: headers)
        form.append(Data(), named: "b", contentType: "c/d", headers: headers)
        let parts = try ReferenceParser.parts(of: try await collected(form), boundary: "B")
        let first = ["Content-Disposition: form-data; name=\"a\"; filename=\"x.png\"", "X-Custom: 1"]
        #expect(parts.map { $0.headers.filter { !$0.hasPrefix("Content-Type") } }.first == first)
        #expect(
            parts.map { $0.headers.filter { $0.hasPrefix("Content-Type") } } == [
                ["Content-Type: a/b"], ["Content-Type: c/d"],
            ])
    }

    @Test("files are streamed under their own names or given ones")
    func files() async throws {
        try await TemporaryFolder.with { folder in
            let path = try folder.file("cv.pdf", Data("pdf".utf8))
            var form = try MultipartForm(boundary: "B")
            form.append(fileAt: path, named: "a")
            form.append(fileAt: path, named: "b", filename: "résumé", contentType: "x/y")
            form.append(fileAt: path, named: "c", filename: "picture.png")
            let parts = try ReferenceParser.parts(of: try await collected(form), boundary: "B")
            #expect(parts.map(\.filename) == ["cv.pdf", "résumé", "picture.png"])
            #expect(parts.map(\.contentType) == ["application/pdf", "x/y", "image/png"])
            #expect(parts.allSatisfy { $0.content == Data("pdf".utf8) })
        }
    }

    @Test("a form can be sent again, with the files as they are then")
    func replay() async throws {
        try await TemporaryFolder.with { folder in
            let path = try folder.file("a.txt", Data("one".utf8))
            var form = MultipartForm()
            form.append(fileAt: path, named: "a")
            form.append(stream: { ByteStream(Data("s".utf8)) }, length: 1, named: "b")
            let first = try await collected(form)
            #expect(try await collected(form) == first)
            try folder.extend(path, by: Data("!!".utf8))
            #expect(try await collected(form).count == first.count + 2)
            #expect(try form.contentLength() == Int64(first.count + 2))
            #expect(form.isReplayable)
        }
    }

    @Test("a missing file is an error before anything is sent, and single-use parts stay unread")
    func missingFile() throws {
        var form = MultipartForm()
        form.append(fileAt: "/nowhere/a.png", named: "a")
        form.append(singleUse: Chunks(chunks: []), named: "b")
        for _ in 0..<2 {
            #expect(throws: FileError(.missing, path: "/nowhere/a.png")) { try form.contentLength() }
            #expect(throws: FileError(.missing, path: "/nowhere/a.png")) { try form.stream() }
        }
    }

    @Test("a file that changes after it was measured fails", arguments: [-1, 1, 300_000])
    func changingFile(change: Int) async throws {
        try await TemporaryFolder.with { folder in
            let path = try folder.file("a.bin", Data(repeating: 1, count: 600_000))
            var form = MultipartForm()
            form.append("x", named: "before")
            form.append(fileAt: path, named: "a")
            form.append("y", named: "after")
            let stream = try form.stream()
            if change < 0 { try folder.cut(path, to: 599_999) }
            if change > 0 { try folder.extend(path, by: Data(count: change)) }
            let pass = stream.makeAsyncIterator()
            await #expect(throws: FileError(.changed, path: path)) { while try await pass.next() != nil {} }
            #expect(try await pass.next() == nil, "nothing may follow an error")
        }
    }

    @Test("a file that changes while it is sent fails")
    func fileThatChangesMidway() async throws {
        try await TemporaryFolder.with { folder in
            let path = try folder.file("a.bin", Data(repeating: 1, count: 600_000))
            var form = MultipartForm()
            form.append(fileAt: path, named: "a")
            let pass = try form.stream().makeAsyncIterator()
            _ = try await pass.next()
            _ = try await pass.next()
            try folder.cut(path, to: 300_000)
            await #expect(throws: FileError(.changed, path: path)) { while try await pass.next() != nil {} }
        }
    }

    @Test("a stream with another length than announced fails", arguments: [-1, 0, 2, 4] as [Int64])
    func wrongStreamLength(length: Int64) async throws {
        var form = MultipartForm()
        form.append(stream: { ByteStream(Data("abc".utf8)) }, length: length, named: "film")
        let problem = await #expect(throws: InvalidRequestError.self) { try await collected(form) }
        #expect(problem?.description.contains("\"film\"") == true)
    }

    @Test("a stream that can be created again is created only when its part is sent, in each pass")
    func createdInTurn() async throws {
        let created = Locked(0)
        var form = MultipartForm()
        form.append("x", named: "a")
        form.append(
            stream: {
                created.withLock { $0 += 1 }
                return ByteStream(Data("abc".utf8))
            }, length: 3, named: "film")
        for pass in 1...2 {
            let stream = try form.stream()
            #expect(created.withLock { $0 } == pass - 1)
            _ = try await stream.collect(upTo: 1000)
            #expect(created.withLock { $0 } == pass)
        }
    }

    @Test("an unknown stream length makes the length unknown, and an overflowing one is an error")
    func lengths() throws {
        var form = MultipartForm()
        form.append(stream: { ByteStream(Data()) }, length: nil, named: "a")
        #expect(try form.contentLength() == nil)
        var endless = MultipartForm()
        endless.append(stream: { ByteStream(Data()) }, length: .max, named: "a")
        #expect(throws: InvalidRequestError.self) { try endless.contentLength() }
    }

    @Test("a form with a single-use part can be sent once")
    func singleUse() async throws {
        var form = MultipartForm()
        form.append(singleUse: Chunks(chunks: [Data("a".utf8), Data(), Data("b".utf8)]), length: 2, named: "a")
        #expect(!form.isReplayable)
        let stream = try form.stream()
        let body = try await stream.collect(upTo: 1000)
        #expect(try ReferenceParser.parts(of: body, boundary: form.boundary).map(\.content) == [Data("ab".utf8)])
        #expect(try form.contentLength() == Int64(body.count))
        #expect(throws: BodySpentError.self) { try form.stream() }
        await #expect(throws: BodySpentError.self) { _ = try await stream.collect(upTo: 1000) }
    }

    @Test("an error of a stream is thrown, and then the form ends")
    func failingStream() async throws {
        struct Broken: Error {}
        var form = MultipartForm()
        form.append(stream: { ByteStream { { throw Broken() } } }, length: nil, named: "a")
        form.append("x", named: "b")
        let pass = try form.stream().makeAsyncIterator()
        await #expect(throws: Broken.self) { _ = try await pass.next() }
        #expect(try await pass.next() == nil)
    }

    @Test("small parts are combined into one chunk, and large ones are split")
    func chunkSizes() async throws {
        try await TemporaryFolder.with { folder in
            var small = MultipartForm()
            for index in 0..<100 { small.append("\(index)", named: "field") }
            for index in 0..<20 { small.append(fileAt: try folder.file("\(index)", Data([1])), named: "file") }
            #expect(try await chunks(of: small).count == 1)

            var large = MultipartForm()
            large.append(Data(count: 1_000_000), named: "a")
            large.append(fileAt: try folder.file("large", Data(count: 1_000_000)), named: "b")
            for index in 0..<2000 { large.append(String(repeating: "x", count: 1000), named: "\(index)") }
            let sizes = try await chunks(of: large).map(\.count)
            #expect(sizes.allSatisfy { $0 > 0 && $0 < 300_000 })
            #expect(sizes.count < 24)
            #expect(Int64(sizes.reduce(0, +)) == (try large.contentLength()))
        }
    }

    @Test("bytes of a live stream are passed on at once")
    func liveStream() async throws {
        let (source, feed) = AsyncStream.makeStream(of: Data.self)
        var form = MultipartForm()
        form.append(singleUse: source, named: "live")
        let pass = try form.stream().makeAsyncIterator()
        for byte in UInt8(1)...3 {
            feed.yield(Data([byte]))
            #expect(try await pass.next()?.last == byte)
        }
        feed.finish()
        #expect(try await pass.next() == Data("\r\n--\(form.boundary)--\r\n".utf8))
        #expect(try await pass.next() == nil)
    }
}

private func chunks(of form: MultipartForm) async throws -> [Data] {
    var result: [Data] = []
    for try await chunk in try form.stream() { result.append(chunk) }
    return result
}

private func collected(_ form: MultipartForm) async throws -> Data {
    try await form.stream().collect(upTo: 10_000_000)
}

private func text(of form: MultipartForm) async throws -> String {
    String(decoding: try await collected(form), as: UTF8.self)
}
