import Foundation
import MartletTesting
import Testing

@testable import Martlet

// MARK: - Parts with all bytes

extension PartialDownloadTests {
    /// The state after a crash between the last byte and the move into place.
    private func keepAll(_ path: String, _ content: Data) async throws {
        await breakOff(path, at: 1)
        try content.write(to: URL(fileURLWithPath: PartialDownload(path).destination.partial))
    }

    @Test("a complete part requests only its last byte again") func whole() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            try await keepAll(path, content)
            let transport = server.transport
            let response = try await client(transport).download(Get("/film", .none), to: path, options: options)
            #expect(response.value == DownloadedFile(path: path, size: 10_500, resumedBytes: 10_499))
            #expect(transport.requests.map { $0.headers[.range] } == ["bytes=10499-"])
            #expect(FileManager.default.contents(atPath: path) == content)
            #expect(folder.names == ["film.bin"])
        }
    }

    @Test("a complete part of a changed file is downloaded again") func wholeOfAnother() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            try await keepAll(path, content)
            var generator = SeededGenerator(seed: 9)
            let newer = generator.bytes(9000)
            server.change { state in
                state.content = newer
                state.headers[.eTag] = "\"two\""
            }
            let response = try await client(server.transport).download(Get("/film", .none), to: path, options: options)
            #expect(response.value == DownloadedFile(path: path, size: 9000))
            #expect(FileManager.default.contents(atPath: path) == newer)
        }
    }

    @Test("a complete part is downloaded again if the server rejects the range") func wholeRefused() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            try await keepAll(path, content)
            server.change { $0.first = [.status(416, headers: [.contentRange: "bytes */17"])] }
            let transport = server.transport
            let response = try await client(transport).download(Get("/film", .none), to: path, options: options)
            #expect(response.value == DownloadedFile(path: path, size: 10_500))
            #expect(transport.requests.map { $0.headers[.range] } == ["bytes=10499-", nil])
            #expect(FileManager.default.contents(atPath: path) == content)
            #expect(folder.names == ["film.bin"])
        }
    }

    @Test("a complete part of a single byte is downloaded again") func wholeByte() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            let byte = Data("b".utf8)
            server.change { $0.content = Data("bc".utf8) }
            await breakOff(path, at: 1)
            let partial = PartialDownload(path)
            let head = HTTPResponse(status: .ok, headerFields: [.contentLength: "1", .eTag: "\"one\""])
            let written = try Data(contentsOf: URL(fileURLWithPath: partial.destination.resumeData))
            let notes = try JSONDecoder().decode(PartialDownload.ResumeData.self, from: written)
            let ofByte = try #require(PartialDownload.ResumeData(head, resumeFingerprint: notes.resumeFingerprint))
            try await BlockingQueue.run { try partial.write(ofByte) }
            server.change { $0.content = byte }
            let transport = server.transport
            let response = try await client(transport).download(Get("/film", .none), to: path, options: options)
            #expect(response.value == DownloadedFile(path: path, size: 1))
            #expect(transport.requests.map { $0.headers[.range] } == [nil])
            #expect(FileManager.default.contents(atPath: path) == byte)
        }
    }

    @Test("a rest that ends early is not complete, whatever its range says") func shortRest() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            await breakOff(path, at: 4000)
            let rest = content.dropFirst(4000).dropLast(100)
            let transport = StubTransport { _ in
                StubTransport.Response(
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
}
