import Foundation
import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

@Suite("Kept bytes of another representation", .timeLimit(.minutes(10))) struct PartialDownloadVariantsTests {
    private static let jwtA = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJBIn0.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    private static let jwtB = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJCIn0.BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB"

    @Test("kept bytes are not continued with those of another language, even if only the client asks for it")
    func language() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/file"
            let (german, english) = (Data(repeating: 0x64, count: 4000), Data(repeating: 0x65, count: 4000))
            let transport = StubTransport { request in
                let content = request.headers[.acceptLanguage] == "de" ? german : english
                var fields: HTTPFields = [
                    .acceptRanges: "bytes", .lastModified: "Sat, 01 Nov 2025 00:00:00 GMT",
                    .date: "Sat, 08 Nov 2025 00:00:00 GMT",
                    .vary: "Accept-Language", .contentLength: "4000",
                ]
                if let range = request.headers[.range], let start = Int(range.dropFirst(6).dropLast()) {
                    fields[.contentRange] = "bytes \(start)-3999/4000"
                    fields[.contentLength] = "\(4000 - start)"
                    return StubTransport.Response(206, headers: fields, body: content.dropFirst(start))
                }
                guard request.number == 1 else { return StubTransport.Response(200, headers: fields, body: content) }
                return StubTransport.Response(
                    200, headers: fields,
                    stream: ByteStream {
                        var isFirst = true
                        return {
                            defer { isFirst = false }
                            if isFirst { return Data(content.prefix(2000)) }
                            throw TransportError.connectionLost("reset")
                        }
                    })
            }
            var options = DownloadOptions()
            options.keepsPartial = true
            func load(_ language: String) async throws {
                let client = client(transport) {
                    $0.headers = [.acceptLanguage: language]
                    $0.retry = .never
                }
                _ = try await client.download(Visit("/f"), to: path, options: options)
            }
            await #expect(throws: NetworkError.self) { try await load("de") }
            try await load("en")
            #expect(FileManager.default.contents(atPath: path) == english)
        }
    }

    @Test("kept bytes of another user's JWT in a field of another name are not continued")
    func keptJWT() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/file"
            let server = DownloadServer(Data(repeating: 7, count: 5000))
            server.change { $0.breaks = [2000] }
            let transport = server.transport
            var options = DownloadOptions()
            options.keepsPartial = true
            func load(_ token: String) async throws -> Int64 {
                let client = client(transport) {
                    $0.headers = [(HTTPField.Name("X-JWT") ?? .server): token]
                    $0.retry = .never
                }
                return try await client.download(Visit("/f"), to: path, options: options).value.resumedBytes
            }
            await #expect(throws: NetworkError.self) { try await load(Self.jwtA) }
            let resumedBytes = try await load(Self.jwtB)
            #expect(resumedBytes == 0)
        }
    }
}
