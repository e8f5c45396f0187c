import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("A call that reports its progress to a closure", .timeLimit(.minutes(10))) struct SentProgressTests {
    private struct Film: Codable, Sendable, Equatable { var id: Int }

    private func transport(failing count: Int = 0) -> StubTransport {
        StubTransport { request in
            request.number <= count ? .status(503) : .json(Film(id: 7))
        }
    }

    @Test("all bytes have been reported when the call returns, whichever way names its response") func complete()
        async throws
    {
        let client = client(transport())
        let body = RequestBody.bytes(Data(repeating: 7, count: 300_000), contentType: "video/mp4")
        let counts = Locked<[TransferCount]>([])
        let film = try await client.send(Call<Film>.put("/films/7", body)) { sent in counts.withLock { $0.append(sent) }
        }
        #expect(film == Film(id: 7))
        #expect(counts.withLock { $0.last?.completed } == 300_000 && counts.withLock { $0.last?.fraction } == 1)
        counts.withLock { $0 = [] }
        let named: Film = try await client.send(AnyUpload(body: body)) { sent in counts.withLock { $0.append(sent) } }
        #expect(named == film && counts.withLock { $0.last?.completed } == 300_000)
        counts.withLock { $0 = [] }
        try await client.send(AnyUpload(body: body)) { sent in counts.withLock { $0.append(sent) } }
        #expect(counts.withLock { $0.last?.completed } == 300_000)
    }

    @Test("a failed call has reported what was sent, and the closure is called no more") func failed() async throws {
        let client = client(transport(failing: .max)) { $0.retry = .never }
        let counts = Locked(0)
        await #expect(throws: NetworkError.self) {
            try await client.send(Call<Film>.post("/films", .text("film"))) { _ in counts.withLock { $0 += 1 } }
        }
        let reported = counts.withLock { $0 }
        #expect(reported > 0)
        for _ in 0..<20 { await Task.yield() }
        #expect(counts.withLock { $0 } == reported)
    }

    private struct AnyUpload: APIEndpoint {
        let path: RequestPath = "/films/7"
        let method = HTTPRequest.Method.put
        var body: RequestBody?
    }
}
