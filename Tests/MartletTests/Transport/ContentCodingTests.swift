import Foundation
import MartletTestSupport
import MartletTesting
import Testing

@testable import Martlet

@Suite("Content codings that a transport has not decoded", .noBlockingCalls, .timeLimit(.minutes(10)))
struct ContentCodingTests {
    private struct User: Codable, Sendable, Equatable {
        var name: String
        var age: Int?
    }

    /// Bytes that no decoder can read.
    private static let brotli = Data([0x8B, 0x06, 0x80]) + Data(#"{"name":"Ada"}"#.utf8) + Data([0x03])

    private static func encoded(_ coding: String, _ body: Data = brotli) -> StubTransport {
        StubTransport { _ in
            StubTransport.Response(
                200, headers: [.contentType: "application/json", .contentEncoding: coding], body: body)
        }
    }

    private static func fields(_ values: [String]) -> HTTPFields {
        var fields = HTTPFields()
        for value in values { fields.append(HTTPField(name: .contentEncoding, value: value)) }
        return fields
    }

    @Test(
        "a list has its members in order, from all lines, without `identity` and blanks",
        arguments: [
            ([], []), (["gzip"], ["gzip"]), (["GZIP, Br"], ["gzip", "br"]), (["gzip", "br"], ["gzip", "br"]),
            (["identity"], []), ([""], []), ([" , ,\t"], []), (["\tx-gzip ,identity,, zstd"], ["x-gzip", "zstd"]),
        ] as [([String], [String])])
    func list(values: [String], names: [String]) {
        let codings = ContentCodings(Self.fields(values))
        #expect(codings.names == names)
        #expect(codings.field == (names.isEmpty ? nil : names.joined(separator: ", ")))
    }

    @Test("a list of ten thousand codings makes a short message") func long() throws {
        let codings = ContentCodings(Self.fields([Array(repeating: "gzip", count: 10_000).joined(separator: ",")]))
        #expect(codings.names.count == 10_000)
        #expect(try #require(codings.unsupportedReason).count < 80)
    }

    @Test("a typed call names the coding and what to do", arguments: [nil, ResponseEnvelope()])
    func typed(envelope: ResponseEnvelope?) async throws {
        let failure = await error {
            _ = try await client(Self.encoded("gzip, br")) { $0.envelope = envelope }
                .send(Get("/me", .none), as: User.self)
        }
        guard case .decoding(_, let problem) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(problem.reason == "unsupported content coding \"gzip, br\"")
        #expect(problem.response.body == Self.brotli)
        let text = try #require(failure?.description)
        #expect(text.hasPrefix("GET https://api.example.com/me: "))
        #expect(text.contains("unsupported content coding \"gzip, br\""))
        #expect(text.contains("data(for:)"))
    }

    @Test("a coding that was decoded after all does not hide the error in the value")
    func decodedAfterAll() async throws {
        let transport = Self.encoded("br", Data(#"{"name":"Ada","age":"old"}"#.utf8))
        let failure = await error { _ = try await client(transport).send(Get("/me", .none), as: User.self) }
        guard case .decoding(_, let problem) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(problem.codingPath == "age")
        let user: User = try await client(Self.encoded("br", Data(#"{"name":"Ada"}"#.utf8))).send(Get("/me", .none))
        #expect(user == User(name: "Ada"))
    }

    @Test("raw data keeps the bytes and the header field") func raw() async throws {
        let response = try await client(Self.encoded("br")).data(for: Get("/me", .none))
        #expect(response.value == Self.brotli)
        #expect(response.headers[.contentEncoding] == "br")
    }

    @Test("a download keeps the bytes, and resumes only if they have no coding", arguments: ["br", "identity"])
    func download(coding: String) async throws {
        try await TemporaryFolder.with { folder in
            let server = DownloadServer(Data((0..<3500).map { UInt8($0 % 251) }))
            server.change { state in
                state.headers[.contentEncoding] = coding
                state.breaks = [2000]
            }
            let transport = server.transport
            let path = folder.path + "/film.bin"
            try await client(transport) { $0.retry = RetryPolicy(maximumAttempts: 3, firstDelay: .zero) }
                .download(Get("/film", .none), to: path)
            #expect(FileManager.default.contents(atPath: path)?.count == 3500)
            #expect(transport.requests.last?.headers[.range] == (coding == "identity" ? "bytes=2000-" : nil))
        }
    }

    @Test("an event stream with a coding is an error and not silence") func events() async throws {
        let transport = StubTransport { _ in
            StubTransport.Response(
                200, headers: [.contentType: "text/event-stream", .contentEncoding: "br"], body: Self.brotli)
        }
        let failure = await error {
            for try await _ in client(transport).serverSentEvents(from: Get("/news", .none), reconnects: false) {}
        }
        guard case .invalidResponse(_, let reason) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(reason == "unsupported content coding \"br\"")
    }

    @Test("a refresh and a sign-in name the coding") func tokens() async throws {
        let transport = Self.encoded("br")
        let time = ManualTimeSource()
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"),
            transport: transport, time: time)
        try await tokens.signIn(
            with: Tokens(accessToken: "access-1", refreshToken: "refresh-1", lifetime: .seconds(60)))
        time.advance(by: .seconds(120))
        let api = NetworkClient(tokens: tokens)
        let failure = await error { try await api.send(Get("/me")) }
        #expect(failure?.description.contains("unsupported content coding \"br\"") == true)
        #expect(tokens.state.isSignedIn)
        let refused = await error { try await api.signIn(Call<NoContent>.post("/auth/login")) }
        #expect(refused?.description.contains("unsupported content coding \"br\"") == true)
    }

    @Test("a cached response keeps its coding, and a 304 does not bring the digest of other bytes") func cached()
        async throws
    {
        let digest = try #require(HTTPField.Name("Repr-Digest"))
        let app = CachingApp { request in
            guard request.headers[.ifNoneMatch] == nil else {
                return .status(304, headers: [.contentEncoding: "gzip", digest: "sha-256=:AAAA:"])
            }
            return StubTransport.Response(
                200, headers: [.eTag: "\"1\"", .contentEncoding: "br"], body: Self.brotli)
        }
        for _ in 1...2 {
            let response = try await app.client.data(for: Visit("/a"))
            #expect(response.headers[.contentEncoding] == "br")
            #expect(response.headers[digest] == nil)
            #expect(response.value == Self.brotli)
        }
        #expect(app.transport.requests.count == 2)
    }
}
