import Foundation
import MartletTestSupport
import MartletTesting
import Testing

@testable import Martlet

@Suite("An outbox that outlives the process", .noBlockingCalls, .timeLimit(.minutes(10))) struct OutboxTests {
    private static func texts(_ transport: StubTransport) -> [String] {
        transport.requests.map { $0.text }
    }

    private static func client(_ transport: StubTransport) async throws -> NetworkClient {
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"),
            transport: transport, time: ManualTimeSource())
        try await tokens.signIn(with: Tokens(accessToken: "access-1"))
        var config = NetworkConfig()
        config.retry = .never
        return NetworkClient(tokens: tokens, config: config)
    }

    @Test("messages are sent in order, and by the next process if this one ends") func outlives() async throws {
        try await TemporaryFolder.with { folder in
            let file = URL(fileURLWithPath: folder.path + "/outbox.json")
            let transport = StubTransport { request in
                if request.number == 2 { throw TransportError.connectionLost("reset") }
                return .status(204)
            }
            let first = try Outbox(file: file, client: try await Self.client(transport))
            for text in ["one", "two", "three"] { try await first.add(text) }
            await #expect(throws: NetworkError.self) { try await first.send() }

            let second = try Outbox(file: file, client: try await Self.client(transport))
            #expect(await second.waiting.map(\.text) == ["two", "three"])
            #expect(try await second.send().isEmpty)
            #expect(Self.texts(transport) == ["one", "two", "two", "three"].map { #"{"text":"\#($0)"}"# })
            // The server can tell that the second message came twice.
            let name = HTTPField.Name.idempotencyKey
            #expect(Set(transport.requests.map { $0.headers[name] }).count == 3)
            let third = try Outbox(file: file, client: try await Self.client(transport))
            #expect(await third.waiting.isEmpty)
            #expect(folder.names == ["outbox.json"])
        }
    }

    @Test("a refused message is returned, and one that waits for a sign-in is kept") func refused() async throws {
        try await TemporaryFolder.with { folder in
            let file = URL(fileURLWithPath: folder.path + "/outbox.json")
            let transport = StubTransport { request in
                request.text.contains("bad") ? .status(422) : .status(request.text.contains("late") ? 401 : 204)
            }
            let outbox = try Outbox(file: file, client: try await Self.client(transport))
            for text in ["bad", "good"] { try await outbox.add(text) }
            #expect(try await outbox.send().map(\.text) == ["bad"])
            for text in ["bad again", "late"] { try await outbox.add(text) }
            #expect(try await outbox.send().map(\.text) == ["bad again"])
            await #expect(throws: NetworkError.self) { try await outbox.send() }
            #expect(await outbox.waiting.map(\.text) == ["late"])
            try await outbox.clear()
            #expect(await outbox.waiting.isEmpty)
        }
    }

    @Test("the article shows the code that these tests run") func article() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let root = (0..<3).reduce(folder) { url, _ in url.deletingLastPathComponent() }
        let article = root.appendingPathComponent("Sources/Martlet/Martlet.docc/WithoutANetwork.md")
        let code = try String(contentsOf: folder.appendingPathComponent("Outbox.swift"), encoding: .utf8)
        #expect(try String(contentsOf: article, encoding: .utf8).contains("```swift\n\(code)```\n"))
    }
}
