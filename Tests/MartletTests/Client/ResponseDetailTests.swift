import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("What responses tell", .timeLimit(.minutes(10))) struct ResponseDetailTests {
    private struct User: Decodable, Sendable { var name: String }
    private struct Paging: Decodable, Sendable, Equatable { var page: Int, total: Int }
    private struct Problem: Decodable, Sendable, Equatable { var reason: String, hint: String? }

    private func client(
        _ body: String, status: Int = 200,
        _ configure: (inout NetworkConfig) -> Void = { $0.envelope = ResponseEnvelope() }
    ) -> NetworkClient {
        var config = NetworkConfig()
        config.retry = .never
        configure(&config)
        let transport = StubTransport { _ in .json(body, status: status) }
        return NetworkClient(baseURL: "https://api.example.com", config: config, transport: transport)
    }

    private func failure(_ client: NetworkClient) async -> NetworkError? {
        await #expect(throws: NetworkError.self) { try await client.send(Call<User>.get("/me")) }
    }

    @Test("a response carries the code, the message and the meta of its envelope") func success() async throws {
        let response = try await client(
            """
            {"success":true,"code":"CREATED","message":"Welcome, Ada","data":{"name":"Ada"},"errors":[],
             "meta":{"timestamp":"2026-01-02T03:04:05.678Z","path":"/me","requestId":"7f3a","durationMs":3,
                     "page":2,"total":9}}
            """
        ).response(for: Call<User>.get("/me"))
        #expect(response.value.name == "Ada")
        #expect(response.code == "CREATED")
        #expect(response.message == "Welcome, Ada")
        let meta = try #require(response.meta)
        #expect(abs((meta.timestamp?.timeIntervalSince1970 ?? 0) - 1_767_323_045.678) < 0.001)
        #expect(meta.path == "/me")
        #expect(meta.requestID == "7f3a")
        #expect(meta.duration == .milliseconds(3))
        #expect(try response.meta(as: Paging.self) == Paging(page: 2, total: 9))
        #expect(throws: DecodingError.self) { try response.meta(as: User.self) }
    }

    @Test("a response without an envelope, or with an empty one, tells nothing more") func nothingToTell() async throws
    {
        let plain = try await client(#"{"name":"Ada","message":"hi"}"#) { _ in }.response(for: Call<User>.get("/me"))
        #expect(plain.code == nil && plain.message == nil && plain.meta == nil)
        #expect(try plain.meta(as: Paging.self) == nil)
        let bare = try await client(#"{"success":true,"data":{"name":"Ada"}}"#).response(for: Call<User>.get("/me"))
        #expect(bare.code == nil && bare.message == nil && bare.meta == nil)
        #expect(throws: (any Error).self) { try bare.meta(as: Paging.self) }
        let none = try await client("", status: 204).response(for: Call<NoContent>.get("/me"))
        #expect(none.message == nil)
    }

    @Test("an error carries the time, the path and the duration that the server reports") func refusal() async throws {
        let error = await failure(
            client(
                """
                {"success":false,"code":"NO","message":"No","data":null,
                 "meta":{"timestamp":1767323045678,"path":"/me","requestId":"7f3a","durationMs":12.5}}
                """, status: 422))
        guard case .api(_, let refusal) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(abs((refusal.meta?.timestamp?.timeIntervalSince1970 ?? 0) - 1_767_323_045.678) < 0.001)
        #expect(refusal.meta?.path == "/me")
        #expect(refusal.meta?.duration == .microseconds(12_500))
        #expect(refusal.meta?.requestID == refusal.requestID)
        #expect(refusal.body == nil)
    }

    @Test("a declared error type is decoded from a failure", arguments: [400, 401, 422, 500])
    func errorBody(status: Int) async throws {
        let error = await failure(
            client(#"{"reason":"taken","hint":"Choose another name"}"#, status: status) { $0.errorBody = Problem.self })
        guard case .api(_, let refusal) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(refusal.body(as: Problem.self) == Problem(reason: "taken", hint: "Choose another name"))
        #expect(refusal.body(as: User.self) == nil)
        #expect(refusal.status == status)
    }

    @Test("a failure whose body does not match the declared type is reported without it")
    func otherBody() async throws {
        let error = await failure(client("<html>", status: 502) { $0.errorBody = Problem.self })
        guard case .unacceptableStatus = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("a declared error type describes the whole envelope") func errorBodyInEnvelope() async throws {
        let body = #"{"success":false,"code":"TAKEN","message":"Taken","reason":"taken"}"#
        let error = await failure(
            client(body) {
                $0.envelope = ResponseEnvelope()
                $0.errorBody = Problem.self
            })
        guard case .api(_, let refusal) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(refusal.code == "TAKEN")
        #expect(refusal.body(as: Problem.self)?.reason == "taken")
    }

    @Test("an error's texts do not show its decoded body") func masked() async throws {
        let secret = "q8Zk3Vt1Lx9Rb7Yw2Np5Hd6Mf4Jc0Gs8EaTi"
        let error = await failure(
            client(#"{"reason":"\#(secret)"}"#, status: 400) { $0.errorBody = Problem.self })
        guard case .api(_, let refusal) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        var dumped = ""
        dump(refusal, to: &dumped)
        for text in ["\(refusal)", dumped, refusal.localizedDescription, "\(String(reflecting: error))"] {
            #expect(!text.contains(secret))
        }
    }
}
