import Foundation
import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

@Suite("Responses that an observer sees", .timeLimit(.minutes(10))) struct ObservedResponseTests {
    private static let secret = "q8Zk3Vt1Lx9Rb7Yw2Np5Hd6Mf4Jc0Gs8EaTi"

    private final class Watch: NetworkObserver {
        let seen = Locked<[ObservedResponse]>([])

        func observe(_ event: CallEvent) {
            if case .received(_, let response) = event { seen.withLock { $0.append(response) } }
        }
    }

    private func responses(to transport: StubTransport, attempts: Int = 1) async -> [ObservedResponse] {
        let watch = Watch()
        var config = NetworkConfig()
        config.observers = [watch]
        config.retry = RetryPolicy(maximumAttempts: attempts, firstDelay: .zero)
        config.time = ManualTimeSource()
        let client = NetworkClient(baseURL: "https://api.example.com", config: config, transport: transport)
        _ = try? await client.data(for: Call<NoContent>.get("/articles", authentication: .none))
        return watch.seen.withLock { $0 }
    }

    @Test("each attempt's response has its status, header fields and body") func complete() async throws {
        let transport = StubTransport { request in
            request.number == 1
                ? .json(#"{"message":"busy"}"#, status: 503)
                : .json(#"[{"title":"On the wing"}]"#)
        }
        let seen = await responses(to: transport, attempts: 2)
        #expect(seen.map(\.status) == [503, 200])
        #expect(seen.first?.bodyText() == #"{"message":"busy"}"#)
        let last = try #require(seen.last)
        #expect(last.head.headerFields[.contentType]?.hasPrefix("application/json") == true)
        #expect(last.bodyText() == #"[{"title":"On the wing"}]"# && last.bytes == 25)
        #expect(last.bodyText(limit: 24) == nil)
    }

    @Test("the body of a stream is the caller's, but that of a refusal is shown") func streamed() async throws {
        let transport = StubTransport { request in
            request.number == 1 ? .json(#"{"message":"gone"}"#, status: 404) : .json(#"{"page":1}"#)
        }
        let watch = Watch()
        var config = NetworkConfig()
        config.observers = [watch]
        config.retry = .never
        config.time = ManualTimeSource()
        let client = NetworkClient(baseURL: "https://api.example.com", config: config, transport: transport)
        let call = Call<NoContent>.get("/articles", authentication: .none)
        _ = try? await client.stream(call)
        let body = try await client.stream(call).value.collect(upTo: 100)
        #expect(watch.seen.withLock { $0.map { $0.bodyText() } } == [#"{"message":"gone"}"#, ""])
        #expect(body == Data(#"{"page":1}"#.utf8))
    }

    @Test("secrets in header fields and in the body are masked, in dumps as well") func masked() async throws {
        let body = Data(#"{"accessToken":"\#(Self.secret)","page":1}"#.utf8)
        var head = HTTPResponse(status: .init(code: 200, reasonPhrase: Self.secret))
        head.headerFields[.contentType] = "application/json"
        head.headerFields[.setCookie] = "session=\(Self.secret)"
        head.headerFields[.location] = "https://api.example.com/?token=\(Self.secret)"
        let response = ObservedResponse(ServerResponse(head: head, body: body), bytes: body.count)
        var dumped = ""
        dump(response, to: &dumped)
        for text in ["\(response)", String(reflecting: response), dumped, response.bodyText() ?? ""] {
            #expect(!text.contains(Self.secret), "\(text)")
        }
        #expect(response.bodyText()?.contains(#""page":1"#) == true)
        #expect(response.bytes == body.count)
    }
}
