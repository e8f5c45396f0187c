import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("Streamed responses", .timeLimit(.minutes(10))) struct ResponseStreamTests {
    @Test("the head arrives first, and the body as it is read") func streamed() async throws {
        let server = DownloadServer(Data((0..<3500).map { UInt8($0 % 251) }))
        let positions = Locked<[Int]>([])
        server.beforePiece { position in positions.withLock { $0.append(position) } }
        let monitor = TransferMonitor()
        let response = try await client(server.transport).stream(Get("/film", .none), monitor: monitor)
        #expect(response.headers[.eTag] == "\"one\"")
        #expect(positions.withLock { $0 } == [])
        var iterator = response.value.makeAsyncIterator()
        #expect(try await iterator.next()?.count == 1000)
        #expect(positions.withLock { $0 } == [0])
        #expect(monitor.received == TransferCount(completed: 1000, total: 3500))
        var rest = 0
        while let piece = try await iterator.next() { rest += piece.count }
        #expect(rest == 2500)
        let failure = await error { _ = try await response.value.collect(upTo: 10_000) }
        guard case .invalidResponse(_, "its body can be read only once, and has been read before") = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    @Test("a loop and a collection throw errors that need no conversion") func typed() async throws {
        let server = DownloadServer(Data(count: 3500))
        server.change { $0.breaks = [2000] }
        let response = try await client(server.transport).stream(Get("/film", .none))
        var count = 0
        do {
            for try await piece in response.value { count += piece.count }
        } catch {
            let failure: NetworkError = error
            guard case .connectionLost = failure else {
                Issue.record("\(failure)")
                return
            }
        }
        #expect(count > 0)
        let small = try await client(DownloadServer(Data(count: 20)).transport).stream(Get("/film", .none)).value
        do {
            _ = try await small.collect(upTo: 10)
        } catch {
            let failure: NetworkError = error
            guard case .responseTooLarge(_, limit: 10) = failure else {
                Issue.record("\(failure)")
                return
            }
        }
    }

    @Test("an observer sees no bytes of a streamed response, which is read after the call") func observed() async throws
    {
        struct ByteLog: NetworkObserver {
            let log: Log

            func observe(_ event: CallEvent) {
                if case .received(_, let response) = event { log.add("\(response.bytes)") }
            }
        }
        let log = Log()
        let server = DownloadServer(Data("abc".utf8))
        let client = client(server.transport) { $0.observers = [ByteLog(log: log)] }
        let response = try await client.stream(Get("/film", .none))
        #expect(try await response.value.collect(upTo: 10) == Data("abc".utf8))
        #expect(log.lines == ["0"])
    }

    @Test("a rejected request is refreshed and replayed before the stream is returned") func refused() async throws {
        let app = try await App.signedIn()
        app.backend.invalidateAccessTokens()
        let response = try await app.client.stream(Get("/me"))
        #expect(try await response.value.collect(upTo: 1000) == Data(#"{"path":"/me","token":"seen"}"#.utf8))
        #expect(app.backend.refreshCalls == 1)
    }

    @Test("an unacceptable status is an error with the response's body") func unacceptable() async throws {
        let transport = StubTransport { _ in .json(#"{"message":"no such film"}"#, status: 404) }
        let failure = await error { _ = try await client(transport).stream(Get("/film", .none)) }
        #expect(failure?.response?.body == Data(#"{"message":"no such film"}"#.utf8))
    }

    @Test("a pass that has failed ends, and its failure is reported once") func afterFailure() async throws {
        struct BreakLog: NetworkObserver {
            let log: Log
            func observe(_ event: CallEvent) { if case .streamBroke = event { log.add("broke") } }
        }
        let server = DownloadServer(Data(count: 3500))
        server.change { $0.breaks = [2000] }
        let log = Log()
        let client = client(server.transport) {
            $0.observers = [BreakLog(log: log)]
        }
        var iterator = try await client.stream(Get("/film", .none)).value.makeAsyncIterator()
        await #expect(throws: NetworkError.self) { while try await iterator.next() != nil {} }
        for _ in 1...3 { #expect(try await iterator.next() == nil) }
        #expect(log.lines == ["broke"])
    }

    @Test("a pass whose read was cancelled does not hang") func afterCancellation() async throws {
        let (app, gate) = (try await App.signedIn(), Gate())
        let stream = ByteStream {
            {
                try await gate.passUnlessCancelled()
                return nil
            }
        }
        let body = SessionBoundBody(stream, tokens: app.tokens, owner: app.tokens.currentOwner)
        let reading = Task { try await body.next() }
        await gate.waitForArrivals()
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
        await #expect(throws: CancellationError.self) { try await body.next() }
    }

    @Test("a broken connection is the same error as that of a call") func broken() async throws {
        let server = DownloadServer(Data(count: 3500))
        server.change { $0.breaks = [2000] }
        let response = try await client(server.transport).stream(Get("/film", .none))
        let failure = await error { _ = try await response.value.collect(upTo: 10_000) }
        guard case .connectionLost(let call, _) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(call.url == "https://api.example.com/film")
    }

    @Test(
        "a stream holds its slot until it has been read or is released", arguments: [true, false]) func holdsSlot(
            reads: Bool
        )
        async throws
    {
        let server = DownloadServer(Data(count: 3500))
        let client = client(server.transport) { $0.maximumConcurrentRequests = 1 }
        var first: NetworkResponse<ResponseBytes>? = try await client.stream(Get("/film", .none))
        let isIn = Locked(false)
        let second = Task {
            let response = try await client.data(for: Get("/film", .none))
            isIn.withLock { $0 = true }
            return response.value.count
        }
        for _ in 0..<100 { await Task.yield() }
        #expect(!isIn.withLock { $0 })
        if reads { _ = try await first?.value.collect(upTo: 10_000) }
        first = nil
        #expect(try await second.value == 3500)
    }

    @Test("a call that is cancelled before it returns its stream releases its slot", .timeLimit(.minutes(10)))
    func cancelledBeforeReturn() async throws {
        struct Cancelling: RequestInterceptor {
            func validate(_ response: ServerResponse, for context: inout RequestContext) async throws {
                if context.endpoint.path == "/film" { withUnsafeCurrentTask { $0?.cancel() } }
            }
        }
        let server = DownloadServer(Data(count: 3500))
        let client = client(server.transport) {
            $0.maximumConcurrentRequests = 1
            $0.interceptors = [Cancelling()]
        }
        let stream = Task { await error { _ = try await client.stream(Get("/film", .none)) } }
        guard case .cancelled = await stream.value else {
            Issue.record("the stream should be cancelled")
            return
        }
        _ = try await client.data(for: Get("/other", .none))
    }

    @Test("the time limit of a stream ends with the arrival of its head") func limitEnds() async throws {
        struct Starting: RequestInterceptor {
            let time: HastyTime
            func validate(_ response: ServerResponse, for context: inout RequestContext) async throws {
                time.hasHead.withLock { $0 = true }
            }
        }
        let server = DownloadServer(Data("abc".utf8))
        for _ in 0..<200 {
            let time = HastyTime()
            let client = client(server.transport) {
                $0.time = time
                $0.interceptors = [Starting(time: time)]
                $0.retry = .never
            }
            let response = try await client.stream(Get("/film", .none))
            #expect(try await response.value.collect(upTo: 10) == Data("abc".utf8))
        }
    }
}

/// A clock on which every time limit that starts after the head of a response expires at once.
private struct HastyTime: TimeSource {
    let hasHead = Locked(false)
    private let arrival = Gate()

    var uptime: Duration {
        if hasHead.withLock({ $0 }) { arrival.open() }
        return .zero
    }

    var wallClock: Date { Date() }

    func sleep(until deadline: Duration) async throws {
        await arrival.pass()
        try Task.checkCancellation()
    }
}
