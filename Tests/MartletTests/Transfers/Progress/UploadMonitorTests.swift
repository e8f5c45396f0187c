import Foundation
import HTTPTypes
import MartletTestSupport
import MartletTesting
import Testing

@testable import Martlet

@Suite("Monitoring an upload", .noBlockingCalls, .timeLimit(.minutes(10))) struct UploadMonitorTests {
    @Test("C40: upload counts grow within an attempt, and a replay after a 401 starts a new attempt")
    func upload() async throws {
        let app = try await App.signedIn()
        app.backend.invalidateAccessTokens()
        var form = MultipartForm()
        form.append(Data(count: 900_000), named: "film", filename: "film.mp4")
        form.append(
            stream: { ByteStream(Chunks(chunks: Array(repeating: Data(count: 10_000), count: 20))) },
            length: 200_000, named: "sound", filename: "sound.aac")
        let body = RequestBody.multipart(form)
        let sent = form
        let total = try #require(try form.contentLength())
        let monitor = TransferMonitor(interval: .zero)
        let seen = Locked<[[Int64]]>([])
        // A listener could miss counts, so the body reads the count with each piece.
        let watched = RequestBody.stream(length: total, contentType: body.contentType) {
            let stream = try sent.stream()
            seen.withLock { $0.append([]) }
            return ByteStream {
                let iterator = stream.makeAsyncIterator()
                return {
                    seen.withLock { $0[$0.count - 1].append(monitor.sent.completed) }
                    return try await iterator.next()
                }
            }
        }
        let events = monitor.events
        let echo: Echo = try await app.client.send(
            Call<Echo>.post("/uploads", watched, authentication: .required), monitor: monitor)
        #expect(echo.token == "seen")
        let attempts = seen.withLock { $0 }
        #expect(attempts.count == 2)
        for counts in attempts {
            #expect(counts == counts.sorted())
            #expect(counts.first == 0)
            #expect(counts.count > 20)
        }
        #expect(monitor.sent == TransferCount(completed: total, total: total))
        #expect(monitor.attempt == 2)
        var numbers: [Int] = []
        for await event in events {
            if case .attempt(let number) = event { numbers.append(number) }
        }
        #expect(numbers == [1, 2])
    }

    @Test("a body in memory of any size is counted", arguments: [0, 1, 65_536, 65_537, 3_000_000])
    func inMemory(size: Int) async throws {
        let monitor = TransferMonitor()
        let transport = StubTransport { _ in .status(204) }
        try await client(transport).send(
            Call<NoContent>.post("/uploads", .bytes(Data(count: size))), monitor: monitor)
        #expect(transport.requests.first?.body.count == size)
        #expect(monitor.sent.completed == Int64(size))
    }

    @Test("the length of a body of unknown length is known after it was sent", arguments: [0, 3])
    func unknownLength(pieces: Int) async throws {
        let monitor = TransferMonitor(interval: .seconds(10), time: ManualTimeSource())
        let body = RequestBody.stream(length: nil, contentType: nil) {
            ByteStream(Chunks(chunks: Array(repeating: Data(count: 10), count: pieces)))
        }
        let events = monitor.events
        try await client(StubTransport { _ in .status(204) }).send(
            Call<NoContent>.post("/uploads", body), monitor: monitor)
        let whole = TransferCount(completed: Int64(pieces * 10), total: Int64(pieces * 10))
        #expect(monitor.sent == whole)
        var last: TransferEvent?
        for await event in events { last = event }
        #expect(last == .sent(whole))
    }

    @Test(
        "an empty body is reported as complete, whether the transport reads it or not",
        arguments: [true, false])
    func withoutBytes(isRead: Bool) async throws {
        /// Responds without reading the body.
        struct IgnoringTransport: Transport {
            func send(
                _ request: HTTPRequest, body: OutgoingBody?
            ) async throws -> (head: HTTPResponse, body: ByteStream) {
                (head: HTTPResponse(status: .noContent), body: ByteStream(Data()))
            }
        }
        let transport: any Transport = isRead ? StubTransport { _ in .status(204) } : IgnoringTransport()
        let monitor = TransferMonitor(interval: .zero)
        let events = monitor.events
        try await client(transport).send(Call<NoContent>.post("/uploads", .bytes(Data())), monitor: monitor)
        var heard: [TransferEvent] = []
        for await event in events { heard.append(event) }
        #expect(heard == [.attempt(1), .sent(TransferCount(completed: 0, total: 0))])
    }

    @Test("an upload that makes progress does not time out", arguments: [true, false])
    func progressExtendsTimeout(isStream: Bool) async throws {
        let time = ManualTimeSource()
        let pieces = (0..<20).map { Data(repeating: UInt8($0), count: 100_000) }
        let body =
            isStream
            ? RequestBody.stream(length: 2_000_000, contentType: nil) { ByteStream(Chunks(chunks: pieces)) }
            : .bytes(Data(pieces.joined()))
        /// Takes 20 s to read each piece of a body.
        struct Slow: Transport {
            let time: ManualTimeSource
            func send(
                _ request: HTTPRequest, body: OutgoingBody?
            ) async throws -> (head: HTTPResponse, body: ByteStream) {
                var count = 0
                if let body, case .stream(let stream) = body.content {
                    for try await piece in stream {
                        count += piece.count
                        time.advance(by: .seconds(20))
                    }
                }
                return (head: HTTPResponse(status: .ok), body: ByteStream(Data("\(count)".utf8)))
            }
        }
        let client = client(Slow(time: time)) { config in
            config.time = time
            config.retry = .never
        }
        let count: Int = try await client.send(Call<Int>.post("/uploads", body))
        #expect(count == 2_000_000)
    }
}
