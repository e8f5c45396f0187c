import Foundation
import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

@Suite("A transfer's monitor") struct TransferMonitorTests {
    @Test("tells nothing twice within its interval, but the first and the last count and every attempt at once")
    func throttled() async {
        let time = ManualTimeSource()
        let monitor = TransferMonitor(interval: .milliseconds(100), time: time)
        let log = Log()
        let listening = Task {
            for await event in monitor.events { log.add("\(event)") }
        }
        await monitor.waitForListeners(1)
        var told: [TransferEvent] = []
        func tell(_ event: TransferEvent, _ isTold: Bool) async {
            switch event {
            case .attempt(let number): monitor.start(attempt: number)
            case .sent(let count): monitor.send(count)
            case .received(let count): monitor.receive(count)
            }
            if isTold { told.append(event) }
            // Each is heard before the next, or the newer would take its place.
            while log.lines.count < told.count { await Task.yield() }
        }
        await tell(.attempt(1), true)
        await tell(.sent(TransferCount(completed: 0, total: 1000)), true)
        await tell(.sent(TransferCount(completed: 100, total: 1000)), false)
        time.advance(by: .milliseconds(100))
        await tell(.sent(TransferCount(completed: 200, total: 1000)), true)
        await tell(.sent(TransferCount(completed: 300, total: 1000)), false)
        await tell(.sent(TransferCount(completed: 1000, total: 1000)), true)
        await tell(.attempt(2), true)
        await tell(.sent(TransferCount(completed: 0, total: 1000)), true)
        monitor.finish()
        await listening.value
        #expect(log.lines.prefix(told.count) == told.map { "\($0)" }[...])
    }

    @Test("a listener that sleeps misses counts, and no attempt") func coalesced() async {
        let monitor = TransferMonitor(interval: .zero)
        let events = monitor.events
        for attempt in 1...3 {
            monitor.start(attempt: attempt)
            for count in 1...1000 { monitor.send(TransferCount(completed: Int64(count), total: 2000)) }
        }
        monitor.finish()
        var heard: [TransferEvent] = []
        for await event in events { heard.append(event) }
        #expect(
            heard == [.attempt(1), .attempt(2), .attempt(3), .sent(TransferCount(completed: 1000, total: 2000))])
    }

    @Test("tells what was held back when the call ends") func lastWord() async {
        let monitor = TransferMonitor(interval: .seconds(10), time: ManualTimeSource())
        let events = monitor.events
        monitor.start(attempt: 1)
        for count in 1...5 { monitor.receive(TransferCount(completed: Int64(count), total: 10)) }
        monitor.finish()
        var last: TransferEvent?
        for await event in events { last = event }
        #expect(last == .received(TransferCount(completed: 5, total: 10)))
    }

    @Test("tells no count twice when the call ends") func lastWordOnce() async {
        let monitor = TransferMonitor(interval: .zero)
        var events = monitor.events.makeAsyncIterator()
        monitor.start(attempt: 1)
        monitor.send(TransferCount(completed: 10, total: 10))
        #expect(await events.next() == .attempt(1))
        #expect(await events.next() == .sent(TransferCount(completed: 10, total: 10)))
        monitor.finish()
        #expect(await events.next() == nil)
    }

    @Test("tells who comes late where it stands, and who comes too late that it is over") func late() async {
        let monitor = TransferMonitor()
        monitor.start(attempt: 2)
        monitor.send(TransferCount(completed: 7, total: 10))
        let late = monitor.events
        monitor.finish()
        var heard: [TransferEvent] = []
        for await event in late { heard.append(event) }
        #expect(heard == [.attempt(2), .sent(TransferCount(completed: 7, total: 10))])
        heard = []
        for await event in monitor.events { heard.append(event) }
        #expect(heard == [.attempt(2), .sent(TransferCount(completed: 7, total: 10))])
    }

    @Test("what comes late from an attempt that was given up does not count") func stale() {
        let monitor = TransferMonitor()
        let first = monitor.start(attempt: 1)
        monitor.send(TransferCount(completed: 9, total: 10), in: first)
        let second = monitor.start(attempt: 2)
        monitor.send(TransferCount(completed: 10, total: 10), in: first)
        #expect(monitor.sent == TransferCount())
        monitor.send(TransferCount(completed: 1, total: 10), in: second)
        #expect(monitor.sent.completed == 1)
    }

    @Test("a body that is read after its attempt was given up starts nothing any more") func lateBody() async throws {
        let kept = Locked<[OutgoingBody]>([])
        let transport = Keeping(kept: kept)
        let monitor = TransferMonitor(interval: .zero)
        let upload = Call<Empty>.put("/here", .bytes(Data(count: 10)))
        try await client(transport) { $0.retry = RetryPolicy(firstDelay: .zero) }.send(upload, monitor: monitor)
        func read(_ body: OutgoingBody) async throws {
            guard case .stream(let stream) = body.content else { return }
            for try await _ in stream {}
        }
        #expect(monitor.attempt == 2 && monitor.sent == TransferCount())
        // The first attempt's, then the second's, when the call is over.
        for body in kept.withLock({ $0 }) { try await read(body) }
        #expect(monitor.attempt == 2 && monitor.sent == TransferCount())
        for await event in monitor.events { #expect(event == .attempt(2)) }
    }

    @Test("a body that is announced after its attempt was given up is not wanted") func lateAnnouncement() {
        let monitor = TransferMonitor()
        monitor.start(attempt: 1)
        let first = monitor.announced
        monitor.start(attempt: 2)
        let second = monitor.announceBody(after: monitor.announced)
        func readLate() {
            let pass = monitor.startBody(monitor.announceBody(after: first), attempt: 1)
            monitor.send(TransferCount(completed: 3, total: 10), in: pass)
        }
        readLate()
        let pass = monitor.startBody(second, attempt: 2)
        let whole = TransferCount(completed: 10, total: 10)
        monitor.send(whole, in: pass)
        #expect(monitor.attempt == 2 && monitor.sent == whole)
        monitor.finish()
        readLate()
        #expect(monitor.attempt == 2 && monitor.sent == whole)
    }

    /// Reads no body, and gives the first attempt up.
    private struct Keeping: Transport {
        let kept: Locked<[OutgoingBody]>

        func send(_ request: HTTPRequest, body: OutgoingBody?) async throws -> TransportResponse {
            let number = kept.withLock { kept in
                if let body { kept.append(body) }
                return kept.count
            }
            if number == 1 { throw TransportError.connectionLost("given up") }
            return TransportResponse(head: HTTPResponse(status: .noContent), body: ByteStream(Data()))
        }
    }

    @Test("a body that goes along with a redirect is announced again") func redirected() async throws {
        let transport = StubTransport { request in
            request.path == "/here" ? .status(307, headers: [.location: "/there"]) : .status(204)
        }
        let monitor = TransferMonitor(interval: .zero)
        let events = monitor.events
        try await client(transport).send(Call<Empty>.post("/here", .bytes(Data(count: 10))), monitor: monitor)
        var heard: [TransferEvent] = []
        for await event in events { heard.append(event) }
        #expect(heard == [.attempt(1), .attempt(1), .sent(TransferCount(completed: 10, total: 10))])
    }

    @Test("of an attempt that is given up at a redirect, nothing is sent or told any more") func givenUpAtRedirect()
        async throws
    {
        let time = ManualTimeSource()
        let straggler = Gate()
        let transport = StubTransport { request in
            guard request.number == 1 else {
                // The first attempt's redirect comes to its end now, while the second attempt is under way.
                straggler.open()
                for _ in 0..<200 { await Task.yield() }
                return .status(204)
            }
            return StubTransport.Answer(
                307, headers: [.location: "/there"],
                stream: ByteStream {
                    {
                        await time.waitForSleepers(1)
                        time.advance(by: .seconds(31))
                        await straggler.pass()
                        return nil
                    }
                })
        }
        let redirects = Redirects()
        let monitor = TransferMonitor(interval: .zero)
        let client = client(transport) { config in
            config.time = time
            config.retry = RetryPolicy(firstDelay: .zero)
            config.observers = [redirects]
        }
        try await client.send(Call<Empty>.put("/here", .bytes(Data(count: 10))), monitor: monitor)
        #expect(transport.requests.map(\.path) == ["/here", "/here"])
        #expect(monitor.attempt == 2)
        #expect(monitor.sent == TransferCount(completed: 10, total: 10))
        #expect(redirects.urls.withLock { $0 } == [])
    }

    private final class Redirects: NetworkObserver {
        let urls = Locked<[String]>([])

        func attemptWillRedirect(_ attempt: ObservedAttempt, to url: String) { urls.withLock { $0.append(url) } }
    }

    @Test("ends where a call fails before it begins") func neverBegun() async throws {
        let monitor = TransferMonitor()
        let events = monitor.events
        _ = await error {
            try await client(StubTransport { _ in .status(200) }).download(
                Get("/film", .none), to: "/nowhere/film", monitor: monitor)
        }
        for await event in events { Issue.record("\(event)") }
        let signedOut = App()
        let more = TransferMonitor()
        let moreEvents = more.events
        _ = await error { try await signedOut.client.send(Get("/me"), monitor: more) }
        for await event in moreEvents { Issue.record("\(event)") }
    }

    @Test("lets a cancelled listener go at once, and forgets it") func cancelled() async {
        let monitor = TransferMonitor()
        let listening = Task { for await _ in monitor.events {} }
        await monitor.waitForListeners(1)
        listening.cancel()
        await listening.value
        await monitor.waitForListeners(0)
    }

    @Test("C40: the counts of an upload grow within an attempt, and a replay after a 401 begins anew and says so")
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
        // A listener could miss counts; whoever looks with each piece cannot.
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

    @Test("a body in memory is counted too, whatever its size", arguments: [0, 1, 65_536, 65_537, 3_000_000])
    func inMemory(size: Int) async throws {
        let monitor = TransferMonitor()
        let transport = StubTransport { _ in .status(204) }
        try await client(transport).send(
            Call<Empty>.post("/uploads", .bytes(Data(count: size))), monitor: monitor)
        #expect(transport.requests.first?.body.count == size)
        #expect(monitor.sent.completed == Int64(size))
    }

    @Test("tells of a body of unknown length how long it was, once it has gone out", arguments: [0, 3])
    func unknownLength(pieces: Int) async throws {
        let monitor = TransferMonitor(interval: .seconds(10), time: ManualTimeSource())
        let body = RequestBody.stream(length: nil, contentType: nil) {
            ByteStream(Chunks(chunks: Array(repeating: Data(count: 10), count: pieces)))
        }
        let events = monitor.events
        try await client(StubTransport { _ in .status(204) }).send(
            Call<Empty>.post("/uploads", body), monitor: monitor)
        let whole = TransferCount(completed: Int64(pieces * 10), total: Int64(pieces * 10))
        #expect(monitor.sent == whole)
        var last: TransferEvent?
        for await event in events { last = event }
        #expect(last == .sent(whole))
    }

    @Test(
        "tells of a body without bytes that it is done, whether the transport reads it or not",
        arguments: [true, false])
    func withoutBytes(isRead: Bool) async throws {
        struct Careless: Transport {
            func send(_ request: HTTPRequest, body: OutgoingBody?) async throws -> TransportResponse {
                TransportResponse(head: HTTPResponse(status: .noContent), body: ByteStream(Data()))
            }
        }
        let transport: any Transport = isRead ? StubTransport { _ in .status(204) } : Careless()
        let monitor = TransferMonitor(interval: .zero)
        let events = monitor.events
        try await client(transport).send(Call<Empty>.post("/uploads", .bytes(Data())), monitor: monitor)
        var heard: [TransferEvent] = []
        for await event in events { heard.append(event) }
        #expect(heard == [.attempt(1), .sent(TransferCount(completed: 0, total: 0))])
    }

    @Test("an upload is not cut off by the timeout while it gets on", arguments: [true, false])
    func headway(isStream: Bool) async throws {
        let time = ManualTimeSource()
        let pieces = (0..<20).map { Data(repeating: UInt8($0), count: 100_000) }
        let body =
            isStream
            ? RequestBody.stream(length: 2_000_000, contentType: nil) { ByteStream(Chunks(chunks: pieces)) }
            : .bytes(Data(pieces.joined()))
        struct Slow: Transport {
            let time: ManualTimeSource
            func send(_ request: HTTPRequest, body: OutgoingBody?) async throws -> TransportResponse {
                var count = 0
                if let body, case .stream(let stream) = body.content {
                    for try await piece in stream {
                        count += piece.count
                        time.advance(by: .seconds(20))
                    }
                }
                return TransportResponse(head: HTTPResponse(status: .ok), body: ByteStream(Data("\(count)".utf8)))
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

#if !os(Linux) || URLSession || !AsyncHTTPClient
    @Suite("A transfer's Foundation.Progress") struct FoundationProgressTests {
        @Test("follows its direction, and is indeterminate until the total is known") func follows() async {
            let monitor = TransferMonitor(interval: .zero)
            let progress = monitor.progress(of: .download)
            #expect(progress.isIndeterminate)
            monitor.start(attempt: 1)
            monitor.send(TransferCount(completed: 5, total: 5))
            monitor.receive(TransferCount(completed: 25, total: 100))
            while progress.completedUnitCount != 25 { await Task.yield() }
            #expect(progress.totalUnitCount == 100)
            #expect(progress.fractionCompleted == 0.25)
            monitor.start(attempt: 2)
            monitor.receive(TransferCount(completed: 100, total: 100))
            while !progress.isFinished { await Task.yield() }
            #expect(progress.completedUnitCount == 100)
            monitor.finish()
        }

        @Test("of a body without bytes is finished, and not indeterminate") func empty() async {
            let monitor = TransferMonitor(interval: .zero)
            let progress = monitor.progress(of: .upload)
            monitor.start(attempt: 1)
            monitor.send(TransferCount(completed: 0, total: 0))
            while progress.isIndeterminate { await Task.yield() }
            #expect(progress.isFinished)
            #expect(progress.fractionCompleted == 1)
            monitor.finish()
        }

        @Test("that nobody holds is not followed any more") func released() async {
            let monitor = TransferMonitor(interval: .zero)
            _ = monitor.progress(of: .upload)
            // What it has to say finds nobody, and it stops listening.
            while monitor.listenerCount > 0 {
                monitor.send(TransferCount(completed: 1, total: 2))
                await Task.yield()
            }
        }
    }
#endif

extension TransferMonitor {
    fileprivate func send(_ count: TransferCount) { send(count, in: pass) }
    fileprivate func receive(_ count: TransferCount) { receive(count, in: pass) }

    fileprivate func waitForListeners(_ count: Int) async {
        while listenerCount != count { await Task.yield() }
    }
}
