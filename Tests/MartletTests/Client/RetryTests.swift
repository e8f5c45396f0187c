import Foundation
import Martlet
import MartletTesting
import Testing

@Suite("The retry policy", .timeLimit(.minutes(10))) struct RetryTests {
    @Test("transient statuses are retried with growing delays", arguments: [408, 429, 500, 502, 503, 504])
    func backoff(status: Int) async throws {
        let time = ManualTimeSource()
        let transport = StubTransport { $0.number < 3 ? .status(status) : .status(204) }
        let client = client(transport) {
            $0.time = time
            $0.retry = RetryPolicy(firstDelay: .seconds(1), random: { $0.upperBound })
        }
        async let call: Void = client.send(Get("/a", .none))
        await time.waitForSleepers(2)
        time.advance(by: .seconds(1))
        await time.waitForSleepers(2)
        #expect(transport.requests.count == 2)
        time.advance(by: .seconds(2))
        try await call
        #expect(transport.requests.count == 3)
    }

    @Test("jitter shortens each delay to a random part of it") func jitter() async throws {
        let time = ManualTimeSource()
        let ranges = Locked<[ClosedRange<Double>]>([])
        let transport = StubTransport { $0.number < 2 ? .status(503) : .status(204) }
        let client = client(transport) {
            $0.time = time
            $0.retry = RetryPolicy(
                firstDelay: .seconds(4),
                random: { range in
                    ranges.withLock { $0.append(range) }
                    return 0.25
                })
        }
        async let call: Void = client.send(Get("/a", .none))
        await time.waitForSleepers(2)
        time.advance(by: .milliseconds(999))
        #expect(transport.requests.count == 1)
        time.advance(by: .milliseconds(1))
        try await call
        #expect(ranges.withLock { $0 } == [0...1])
    }

    @Test("methods that are not idempotent are not retried", arguments: [HTTPRequest.Method.post, .patch])
    func unsafeMethods(method: HTTPRequest.Method) async throws {
        let transport = StubTransport { _ in .status(503) }
        let failure = await error { try await client(transport).send(AnyCall(method: method)) }
        #expect(failure?.response?.status == 503)
        #expect(transport.requests.count == 1)
    }

    @Test(
        "a Retry-After of zero, in the past or in no valid form leaves the ordinary backoff",
        arguments: ["0", "-3", "0x10", "1e3", "Sun, 06 Nov 1994 08:49:37 GMT"])
    func uselessRetryAfter(value: String) async throws {
        let time = ManualTimeSource()
        let transport = StubTransport { $0.number == 1 ? .status(503, headers: [.retryAfter: value]) : .status(204) }
        let client = client(transport) { config in
            config.time = time
            config.retry = RetryPolicy(random: { $0.upperBound })
        }
        let call = Task { try await client.send(Get("/a", .none)) }
        await time.waitForSleepers(1)
        while transport.requests.count < 2 {
            time.advance(by: .milliseconds(100))
            for _ in 0..<50 { await Task.yield() }
        }
        try await call.value
        #expect(time.uptime >= .milliseconds(500) && time.uptime < .seconds(3))
    }

    @Test("Retry-After is honored in both forms", arguments: ["7", "Mon, 21 Sep 2026 13:33:27 GMT"])
    func retryAfter(value: String) async throws {
        let time = ManualTimeSource(wallClock: Date(timeIntervalSince1970: 1_789_997_600))
        let policy = RetryPolicy(random: { $0.upperBound })
        let transport = StubTransport { $0.number == 1 ? .status(503, headers: [.retryAfter: value]) : .status(204) }
        let client = client(transport) {
            $0.time = time
            $0.retry = policy
        }
        async let call: Void = client.send(Get("/a", .none))
        await time.waitForSleepers(2)
        time.advance(by: .seconds(6))
        #expect(transport.requests.count == 1)
        time.advance(by: .seconds(1))
        try await call
        #expect(transport.requests.count == 2)
    }

    @Test("no delay starts that would exceed the total time") func totalTime() async throws {
        let time = ManualTimeSource()
        let transport = StubTransport { _ in .status(503, headers: [.retryAfter: "61"]) }
        let client = client(transport) {
            $0.time = time
            $0.retry = RetryPolicy(totalTime: .seconds(60))
        }
        #expect(await error { try await client.send(Get("/a", .none)) }?.response?.status == 503)
        #expect(transport.requests.count == 1)
    }

    @Test("the time that earlier attempts took counts towards the total time", arguments: [10, 11])
    func slowAttempt(delay: Int) async throws {
        let time = ManualTimeSource()
        let transport = StubTransport { _ in
            time.advance(by: .seconds(50))
            return .status(503, headers: [.retryAfter: "\(delay)"])
        }
        let (delays, recorder) = AsyncStream.makeStream(of: Duration?.self)
        let client = client(transport) {
            $0.time = time
            $0.timeout = .seconds(100)
            $0.retry = RetryPolicy(totalTime: .seconds(60))
            $0.observers = [DelayRecorder(delays: recorder)]
        }
        let call = Task { try await client.send(Get("/a", .none)) }
        var recorded = delays.makeAsyncIterator()
        #expect(await recorded.next() == .some(delay == 10 ? .seconds(10) : nil))
        call.cancel()
        _ = await call.result
    }

    @Test("no delay is longer than the maximum, unless the server asks for one") func longestDelay() async throws {
        let time = ManualTimeSource()
        let transport = StubTransport { request in
            .status(503, headers: request.number == 7 ? [.retryAfter: "20"] : [:])
        }
        let (delays, recorder) = AsyncStream.makeStream(of: Duration?.self)
        let client = client(transport) {
            $0.time = time
            $0.timeout = .seconds(1 << 40)
            $0.retry = RetryPolicy(
                maximumAttempts: 8, totalTime: .seconds(1 << 40), firstDelay: .seconds(1), maximumDelay: .seconds(8),
                random: { $0.upperBound })
            $0.observers = [DelayRecorder(delays: recorder)]
        }
        let failure = try await time.advance(by: .seconds(1)) {
            await error { try await client.send(Get("/a", .none)) }
        }
        #expect(failure?.response?.status == 503)
        recorder.finish()
        var seconds: [Double?] = []
        for await delay in delays { seconds.append(delay.map { $0 / .seconds(1) }) }
        #expect(seconds == [1, 2, 4, 8, 8, 8, 20, nil])
    }

    @Test(
        "idempotent methods are retried",
        arguments: [HTTPRequest.Method.get, .head, .options, .trace, .put, .delete])
    func idempotentMethods(method: HTTPRequest.Method) async throws {
        let transport = StubTransport { $0.number == 1 ? .status(503) : .status(204) }
        try await client(transport) { $0.retry = RetryPolicy(firstDelay: .zero) }.send(AnyCall(method: method))
        #expect(transport.requests.map(\.method) == [method, method])
    }

    @Test("the last error is thrown with the number of attempts") func attempts() async throws {
        let time = ManualTimeSource()
        let transport = StubTransport { _ in throw TransportError.connectionLost("reset") }
        let client = client(transport) {
            $0.time = time
            $0.retry = RetryPolicy(maximumAttempts: 2, firstDelay: .zero)
        }
        let failure = await error { try await client.send(Get("/a", .none)) }
        guard case .connectionLost(let call, _) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(call.attempts == 2)
        #expect(call.description == "GET https://api.example.com/a")
    }
}

private struct AnyCall: APIEndpoint {
    let path: RequestPath = "/a"
    let method: HTTPRequest.Method
}
