import Foundation
import Martlet
import MartletTesting
import Testing

@Suite("A mock client", .timeLimit(.minutes(10))) struct MockAPIClientTests {
    private struct User: Codable, Sendable, Equatable { var name: String }
    private struct Profile: APIRequest {
        typealias Response = User
        let path: RequestPath = "/me"
    }
    private enum ArticleEndpoint: APIEndpoint {
        case all(page: Int)
        case delete(id: Int)
        var path: RequestPath {
            switch self {
            case .all: "/articles"
            case .delete(let id): "/articles/\(id)"
            }
        }
        var method: HTTPRequest.Method { if case .delete = self { .delete } else { .get } }
        var query: Query { if case .all(let page) = self { ["page": page] } else { [:] } }
    }

    @Test("it responds with values per endpoint") func values() async throws {
        let client = MockAPIClient()
        client.when(Profile()).respond(User(name: "Ada"), status: 203)
        client.when(ArticleEndpoint.all(page: 1)).respond(["one"])
        client.when(ArticleEndpoint.all(page: 2)).respond(["two"])
        let delete = client.when(ArticleEndpoint.delete(id: 7)).respond()
        #expect(try await client.send(Profile()).name == "Ada")
        #expect(try await client.response(for: Profile()).status == 203)
        let second: [String] = try await client.send(ArticleEndpoint.all(page: 2))
        #expect(second == ["two"])
        try await client.send(ArticleEndpoint.delete(id: 7))
        #expect(delete.calls == 1)
        #expect(try await client.data(for: Profile()).value == Data(#"{"name":"Ada"}"#.utf8))
        #expect(client.calls(to: Profile()).map(\.number) == [1, 2, 5])
        #expect(client.calls.last?.endpoint is Profile)
    }

    @Test("its empty response is what a client makes of a response without a body") func emptyResponse() async throws {
        let mock = MockAPIClient()
        mock.when(ArticleEndpoint.all(page: 1)).respond()
        let real = client(StubTransport { _ in .status(204) })
        for client in [mock, real] as [any APIClient] {
            #expect(try await client.data(for: ArticleEndpoint.all(page: 1)).value.isEmpty)
            let page: [String]? = try await client.send(ArticleEndpoint.all(page: 1))
            #expect(page == nil)
            let failure = await error { let _: [String] = try await client.send(ArticleEndpoint.all(page: 1)) }
            guard case .decoding = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
        }
    }

    @Test("it responds to all endpoints of a type") func types() async throws {
        let client = MockAPIClient()
        client.when(ArticleEndpoint.self).respond { endpoint in
            switch endpoint {
            case .all(let page): ["page \(page)"]
            case .delete: NoContent()
            }
        }
        client.when(Profile.self).respond(User(name: "Ada"))
        let page = try await client.send(ArticleEndpoint.all(page: 3), as: [String].self)
        #expect(page == ["page 3"])
        try await client.send(ArticleEndpoint.delete(id: 1))
        #expect(try await client.send(Profile()) == User(name: "Ada"))
    }

    @Test("it fails with any client error") func failures() async throws {
        let client = MockAPIClient()
        client.when(Profile()).fail(with: NetworkError.offline).fail { .timedOut($0, after: .seconds(30)) }
            .fail(status: 404, body: "gone").fail(status: 401).respond { _ in throw CancellationError() }
            .respond { _ in throw URLError(.badURL) }
        var seen: [String] = []
        for _ in 0..<6 {
            seen.append(
                await result { () async throws(NetworkError) in try await client.send(Profile()) }.error?.description
                    ?? ""
            )
        }
        #expect(seen[0].hasPrefix("GET /me: this device is offline"))
        #expect(seen[1].contains("within 30 s"))
        #expect(seen[2].contains("404: gone"))
        #expect(seen[3].contains("not authorized"))
        #expect(seen[4] == "GET /me: the call was cancelled.")
        #expect(seen[5].hasPrefix("GET /me: the transport failed"))
    }

    @Test("a response of another type than requested is an error") func mismatch() async throws {
        let client = MockAPIClient()
        client.when(ArticleEndpoint.all(page: 1)).respond("text")
        let error = await result { () async throws(NetworkError) in
            try await client.send(ArticleEndpoint.all(page: 1), as: [Int].self)
        }.error
        #expect(error?.description.contains("the test responds with a String") == true)
        #expect(error?.description.contains("Array<Int>") == true)
    }

    @Test("it reports upload progress to a monitor") func monitor() async throws {
        let client = MockAPIClient()
        let gate = Gate()
        let upload = Call<User>.post("/me/picture", .bytes(Data(count: 200)))
        client.when(upload).report(sent: 50, of: 200).hold(at: gate).respond(User(name: "Ada"))
        let monitor = TransferMonitor()
        let task = Task { try await client.send(upload, monitor: monitor) }
        await gate.waitForArrivals()
        #expect(monitor.attempt == 1 && monitor.sent.fraction == 0.25)
        gate.open()
        #expect(try await task.value.name == "Ada")
        #expect(monitor.sent == TransferCount(completed: 200, total: 200))
        // The stream ends with the call.
        var last: TransferEvent?
        for await event in monitor.events { last = event }
        #expect(last == .sent(TransferCount(completed: 200, total: 200)))

        client.when(Call<User>.post("/form", .json(User(name: "Ada")))).respond(User(name: "Bo"))
        let other = TransferMonitor()
        _ = try await client.send(Call<User>.post("/form", .json(User(name: "Ada"))), monitor: other)
        #expect(other.sent == TransferCount(completed: 14, total: 14))
    }

    @Test("its calls can be cancelled, waiting at a gate or not") func cancelled() async throws {
        let client = MockAPIClient()
        let gate = Gate()
        client.when(Profile()).hold(at: gate).respond(User(name: "Ada"))
        let task = Task { try await client.send(Profile()) }
        await gate.waitForArrivals()
        task.cancel()
        let held = await #expect(throws: NetworkError.self) { try await task.value }
        #expect(held?.isCancelled == true)
        let early = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await client.send(Profile())
        }
        let error = await #expect(throws: NetworkError.self) { try await early.value }
        #expect(error?.isCancelled == true)
    }
}
