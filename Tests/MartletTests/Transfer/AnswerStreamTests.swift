import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("A streamed answer") struct AnswerStreamTests {
    @Test("is there with its head, and its body comes as it is read") func streamed() async throws {
        let server = DownloadServer(Data((0..<3500).map { UInt8($0 % 251) }))
        let positions = Locked<[Int]>([])
        server.beforePiece { position in positions.withLock { $0.append(position) } }
        let monitor = TransferMonitor()
        let answer = try await client(server.transport).stream(Get("/film", .none), monitor: monitor)
        #expect(answer.headers[.eTag] == "\"one\"")
        #expect(positions.withLock { $0 } == [])
        let iterator = answer.value.makeAsyncIterator()
        #expect(try await iterator.next()?.count == 1000)
        #expect(positions.withLock { $0 } == [0])
        #expect(monitor.received == TransferCount(completed: 1000, total: 3500))
        var rest = 0
        while let piece = try await iterator.next() { rest += piece.count }
        #expect(rest == 2500)
        await #expect(throws: ByteStream.AlreadyRead.self) { try await answer.value.collect(upTo: 10_000) }
    }

    @Test("that is refused is refreshed and sent again before anybody reads it") func refused() async throws {
        let app = try await App.signedIn()
        app.backend.invalidateAccessTokens()
        let answer = try await app.client.stream(Get("/me"))
        #expect(try await answer.value.collect(upTo: 1000) == Data(#"{"path":"/me","token":"seen"}"#.utf8))
        #expect(app.backend.refreshCalls == 1)
    }

    @Test("that the endpoint does not accept is an error with the answer in it") func unacceptable() async throws {
        let transport = StubTransport { _ in .json(#"{"message":"no such film"}"#, status: 404) }
        let failure = await error { _ = try await client(transport).stream(Get("/film", .none)) }
        #expect(failure?.answer?.body == Data(#"{"message":"no such film"}"#.utf8))
    }

    @Test("that breaks off says so as a call does") func broken() async throws {
        let server = DownloadServer(Data(count: 3500))
        server.change { $0.breaks = [2000] }
        let answer = try await client(server.transport).stream(Get("/film", .none))
        let failure = await error { _ = try await answer.value.collect(upTo: 10_000) }
        guard case .connectionLost(let call, _) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(call.url == "https://api.example.com/film")
    }

    @Test("holds its place until it has been read, or is dropped", arguments: [true, false]) func place(reads: Bool)
        async throws
    {
        let server = DownloadServer(Data(count: 3500))
        let client = client(server.transport) { $0.maxConcurrentRequests = 1 }
        var first: NetworkResponse<ByteStream>? = try await client.stream(Get("/film", .none))
        let isIn = Locked(false)
        let second = Task {
            let answer = try await client.data(for: Get("/film", .none))
            isIn.withLock { $0 = true }
            return answer.value.count
        }
        for _ in 0..<100 { await Task.yield() }
        #expect(!isIn.withLock { $0 })
        if reads { _ = try await first?.value.collect(upTo: 10_000) }
        first = nil
        #expect(try await second.value == 3500)
    }
}
