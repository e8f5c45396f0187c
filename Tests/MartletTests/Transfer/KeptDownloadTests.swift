import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("A download that keeps what has come") struct KeptDownloadTests {
    private let content: Data
    private let server: DownloadServer
    private let options: DownloadOptions

    init() {
        var generator = SeededGenerator(seed: 7)
        content = generator.bytes(10_500)
        server = DownloadServer(content)
        var options = DownloadOptions()
        options.keepsPartial = true
        self.options = options
    }

    private func breakOff(_ path: String, at count: Int, _ source: String = "/film") async {
        server.change { $0.breaks = [count] }
        let failure = await error {
            try await client(server.transport) { $0.retry = .never }.download(
                Get(source, .none), to: path, options: options)
        }
        #expect(failure != nil)
    }

    @Test("goes on with the next call, and nothing is left of it then") func goesOn() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            await breakOff(path, at: 4000)
            let names = folder.names
            #expect(names.count == 2 && names.allSatisfy { $0.hasPrefix(".martlet-download-") })
            let transport = server.transport
            let answer = try await client(transport).download(Get("/film", .none), to: path, options: options)
            #expect(answer.value == DownloadedFile(path: path, size: 10_500, keptBytes: 4000))
            #expect(transport.requests.first?.headers[.range] == "bytes=4000-")
            #expect(FileManager.default.contents(atPath: path) == content)
            #expect(folder.names == ["film.bin"])
        }
    }

    @Test("leaves nothing behind once another one to the same place has succeeded that keeps nothing itself")
    func succeeded() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            await breakOff(path, at: 4000)
            try await client(server.transport).download(Get("/film", .none), to: path)
            #expect(folder.names == ["film.bin"])
        }
    }

    @Test("that is under way is not disturbed by another one to the same place that succeeds meanwhile")
    func succeededMeanwhile() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            let other = DownloadServer(content)
            let hasCome = Locked(false)
            server.beforePiece { position in
                if position == 5000, !hasCome.withLock({ $0 }) {
                    hasCome.withLock { $0 = true }
                    try await client(other.transport).download(Get("/film", .none), to: path)
                }
            }
            await breakOff(path, at: 6000)
            #expect(hasCome.withLock { $0 })
            let transport = server.transport
            try await client(transport).download(Get("/film", .none), to: path, options: options)
            #expect(transport.requests.first?.headers[.range] == "bytes=6000-")
            #expect(folder.names == ["film.bin"])
        }
    }

    @Test("begins anew when the file has changed, or another one is asked for") func begins() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            await breakOff(path, at: 4000)
            server.change { $0.headers[.eTag] = "\"two\"" }
            let answer = try await client(server.transport).download(Get("/film", .none), to: path, options: options)
            #expect(answer.value.keptBytes == 0)
            #expect(FileManager.default.contents(atPath: path) == content)

            await breakOff(path, at: 4000)
            let transport = server.transport
            try await client(transport).download(Get("/other", .none), to: path, options: options)
            #expect(transport.requests.first?.headers[.range] == nil)
            #expect(FileManager.default.contents(atPath: path) == content)
        }
    }

    @Test("keeps nothing that it could not go on with") func useless() async throws {
        try await TemporaryFolder.with { folder in
            server.change { $0.headers = [:] }
            await breakOff(folder.path + "/film.bin", at: 4000)
            #expect(folder.names == [])
            server.change { $0.headers = [.eTag: "\"one\""] }
            await breakOff(folder.path + "/film.bin", at: 0)
            #expect(folder.names == [])
        }
    }

    @Test("what is kept can be thrown away") func discarded() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            await breakOff(path, at: 4000)
            await client(server.transport).discardPartialDownload(to: path)
            #expect(folder.names == [])
        }
    }

    @Test("one that is under way is not disturbed when what is kept is thrown away") func discardedMeanwhile()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            let client = client(server.transport)
            server.beforePiece { position in
                if position == 5000 { await client.discardPartialDownload(to: path) }
            }
            try await client.download(Get("/film", .none), to: path, options: options)
            #expect(FileManager.default.contents(atPath: path) == content)
            #expect(folder.names == ["film.bin"])
        }
    }

    @Test("what one download has kept is not taken away by another that comes to nothing") func others() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            await breakOff(path, at: 4000)
            let kept = folder.names
            let offline = StubTransport { _ in throw TransportError.offline }
            _ = await error {
                try await client(offline).download(Get("/other", .none), to: path, options: options)
            }
            #expect(folder.names == kept)
        }
    }

    @Test("nobody goes on with what somebody else has begun") func somebodyElse() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/export"
            var headers: [String?] = []
            for _ in 0..<2 {
                let app = try await App.signedIn { $0.retry = .never }
                let server = server
                server.change { $0.breaks = [4000] }
                let seen = Locked<[String?]>([])
                app.backend.beforeCall { request in
                    seen.withLock { $0.append(request.headers[.range]) }
                    return server.answer(request)
                }
                _ = await error { try await app.client.download(Get("/me/export"), to: path, options: options) }
                headers += seen.withLock { $0 }
            }
            #expect(headers == [nil, nil])
        }
    }

    @Test("goes on for an endpoint whose own header fields are the same, and for no other") func ownFields()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/report"
            server.change { state in
                state.headers = [
                    .acceptRanges: "bytes", .lastModified: "Fri, 20 Nov 2026 10:00:00 GMT",
                    .date: "Sat, 21 Nov 2026 12:00:00 GMT",
                ]
            }
            let transport = server.transport
            let client = client(transport) { $0.retry = .never }
            func breakOff(_ headers: HTTPFields) async {
                server.change { $0.breaks = [4000] }
                _ = await error {
                    try await client.download(
                        Call<Empty>(.get, "/report", headers: headers, authentication: .none), to: path,
                        options: options)
                }
            }
            await breakOff([.accept: "text/csv"])
            await breakOff([.accept: "application/pdf"])
            await breakOff([.accept: "application/pdf", .authorization: "Basic QWRhOmxvdmVsYWNl"])
            await breakOff([.accept: "application/pdf", .authorization: "Basic R3JhY2U6aG9wcGVy"])
            await breakOff([.accept: "application/pdf", .authorization: "Basic R3JhY2U6aG9wcGVy"])
            #expect(transport.requests.map { $0.headers[.range] } == [nil, nil, nil, nil, "bytes=4000-"])
            let notes = try Data(contentsOf: URL(fileURLWithPath: PartialDownload(path).place.notes))
            #expect(!String(decoding: notes, as: UTF8.self).contains("R3JhY2"))
        }
    }

    @Test("notes that are damaged, or say less than there is, are not trusted") func damaged() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            for damage in [#"{"source":"#, #"{"source":"x","validator":"\"one\"","total":3}"#, ""] {
                await breakOff(path, at: 4000)
                try Data(damage.utf8).write(to: URL(fileURLWithPath: PartialDownload(path).place.notes))
                let transport = server.transport
                try await client(transport).download(Get("/film", .none), to: path, options: options)
                #expect(transport.requests.first?.headers[.range] == nil)
                #expect(FileManager.default.contents(atPath: path) == content)
            }
        }
    }

    /// What a process leaves that is killed after the last byte, before the file is in its place.
    private func keepAll(_ path: String, _ content: Data) async throws {
        await breakOff(path, at: 1)
        try content.write(to: URL(fileURLWithPath: PartialDownload(path).place.partial))
    }

    @Test("that has come whole is not fetched again but for its last byte") func whole() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            try await keepAll(path, content)
            let transport = server.transport
            let answer = try await client(transport).download(Get("/film", .none), to: path, options: options)
            #expect(answer.value == DownloadedFile(path: path, size: 10_500, keptBytes: 10_499))
            #expect(transport.requests.map { $0.headers[.range] } == ["bytes=10499-"])
            #expect(FileManager.default.contents(atPath: path) == content)
            #expect(folder.names == ["film.bin"])
        }
    }

    @Test("that has come whole is fetched anew when the file has changed") func wholeOfAnother() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            try await keepAll(path, content)
            var generator = SeededGenerator(seed: 9)
            let newer = generator.bytes(9000)
            server.change { state in
                state.content = newer
                state.headers[.eTag] = "\"two\""
            }
            let answer = try await client(server.transport).download(Get("/film", .none), to: path, options: options)
            #expect(answer.value == DownloadedFile(path: path, size: 9000))
            #expect(FileManager.default.contents(atPath: path) == newer)
        }
    }

    @Test("that has come whole is fetched anew where the server has no such byte") func wholeRefused() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            try await keepAll(path, content)
            server.change { $0.first = [.status(416, headers: [.contentRange: "bytes */17"])] }
            let transport = server.transport
            let answer = try await client(transport).download(Get("/film", .none), to: path, options: options)
            #expect(answer.value == DownloadedFile(path: path, size: 10_500))
            #expect(transport.requests.map { $0.headers[.range] } == ["bytes=10499-", nil])
            #expect(FileManager.default.contents(atPath: path) == content)
            #expect(folder.names == ["film.bin"])
        }
    }

    @Test("of a single byte is fetched anew") func wholeByte() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            let byte = Data("b".utf8)
            server.change { $0.content = Data("bc".utf8) }
            await breakOff(path, at: 1)
            let partial = PartialDownload(path)
            let head = HTTPResponse(status: .ok, headerFields: [.contentLength: "1", .eTag: "\"one\""])
            let written = try Data(contentsOf: URL(fileURLWithPath: partial.place.notes))
            let notes = try JSONDecoder().decode(PartialDownload.Notes.self, from: written)
            try partial.write(try #require(PartialDownload.Notes(head, source: notes.source)))
            server.change { $0.content = byte }
            let transport = server.transport
            let answer = try await client(transport).download(Get("/film", .none), to: path, options: options)
            #expect(answer.value == DownloadedFile(path: path, size: 1))
            #expect(transport.requests.map { $0.headers[.range] } == [nil])
            #expect(FileManager.default.contents(atPath: path) == byte)
        }
    }

    @Test("of which the rest comes short is not whole, whatever the server says of it") func shortRest() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            await breakOff(path, at: 4000)
            let rest = content.dropFirst(4000).dropLast(100)
            let transport = StubTransport { _ in
                StubTransport.Answer(
                    206, headers: [.contentRange: "bytes 4000-10499/10500", .eTag: "\"one\""], body: rest)
            }
            let failure = await error {
                try await client(transport) { $0.retry = .never }.download(
                    Get("/film", .none), to: path, options: options)
            }
            guard case .connectionLost = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(FileManager.default.contents(atPath: path) == nil)
        }
    }

    @Test("whose notes cannot be written fails for the reason the system gives") func unwritableNotes() async throws {
        try await TemporaryFolder.with { folder in
            let head = HTTPResponse(status: .ok, headerFields: [.contentLength: "10", .eTag: "\"one\""])
            let notes = try #require(PartialDownload.Notes(head, source: "film"))
            #expect(throws: FileProblem(.missing, path: folder.path + "/none")) {
                try PartialDownload(folder.path + "/none/film.bin").write(notes)
            }
        }
    }

    @Test("clears away what killed processes have left beside it") func leftovers() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            let place = PartialDownload(path).place
            try folder.file(place.hiddenName + ".1f.tmp")
            await breakOff(path, at: 4000)
            #expect(Set(folder.names) == [place.hiddenName, place.hiddenName + ".json"])
            try folder.file(place.hiddenName + ".2f.tmp")
            await client(server.transport).discardPartialDownload(to: path)
            #expect(folder.names == [])
        }
    }

    @Test("looks once for what killed processes have left, and not again for its notes") func clearedOnce() async throws
    {
        try await TemporaryFolder.with { folder in
            let partial = PartialDownload(folder.path + "/film.bin")
            let head = HTTPResponse(status: .ok, headerFields: [.contentLength: "10", .eTag: "\"one\""])
            let notes = try #require(PartialDownload.Notes(head, source: "film"))
            let left = partial.place.hiddenName + ".1f.tmp"
            try folder.file(left)
            try partial.write(notes)
            #expect(Set(folder.names) == [left, partial.place.hiddenName + ".json"])
        }
    }

    @Test("another one to the same place at the same time goes its own way") func shared() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            let client = client(server.transport)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<20 {
                    group.addTask { try await client.download(Get("/film", .none), to: path, options: options) }
                }
                try await group.waitForAll()
            }
            #expect(FileManager.default.contents(atPath: path) == content)
            #expect(folder.names == ["film.bin"])
        }
    }
}
