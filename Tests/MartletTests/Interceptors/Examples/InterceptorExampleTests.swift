import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("The interceptors of the article", .timeLimit(.minutes(10))) struct InterceptorExampleTests {
    @Test("a signature covers the body, and each attempt has its own") func signature() async throws {
        let transport = StubTransport { .status($0.number == 1 ? 503 : 204) }
        let time = ManualTimeSource()
        let client = client(transport) {
            $0.time = time
            $0.retry = RetryPolicy(methods: [.post], random: { _ in 0 })
            $0.interceptors = [
                HMACSignature(keyID: "k1") { message in
                    time.advance(by: .seconds(1))
                    return SHA256Reference.authenticationCode(for: message, key: Data("key".utf8))
                }
            ]
        }
        let start = Int(time.wallClock.timeIntervalSince1970)
        try await client.send(Post("/a"))
        let name = try #require(HTTPField.Name("X-Signature"))
        let expected = [start, start + 1].map { second in
            let message = Data("POST\n/a\n\(second)\nx".utf8)
            let code = SHA256Reference.authenticationCode(for: message, key: Data("key".utf8))
            return "key=k1,time=\(second),code=\(code)"
        }
        #expect(transport.requests.map { $0.headers[name] } == expected)
        // RFC 4231, test case 2.
        #expect(
            SHA256Reference.authenticationCode(
                for: Data("what do ya want for nothing?".utf8), key: Data("Jefe".utf8))
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    }

    @Test("a body that is streamed is not signed, and not sent") func unsignedStream() async throws {
        let transport = StubTransport { _ in .status(204) }
        let client = client(transport) { $0.interceptors = [HMACSignature(keyID: "k1") { _ in "" }] }
        let body = RequestBody.stream(length: 1, contentType: nil) { ByteStream(Data("x".utf8)) }
        let failure = await error { try await client.send(Post("/a", body)) }
        #expect(failure?.underlyingError is HMACSignature.CannotSignStream)
        #expect(transport.requests.isEmpty)
    }

    @Test("a large body is compressed once, and a small one is sent as it is", .enabled(if: Zlib.shared != nil))
    func gzip() async throws {
        let zlib = try #require(Zlib.shared)
        let log = Log()
        let transport = StubTransport { .status($0.number == 1 ? 503 : 204) }
        let client = client(transport) {
            $0.retry = RetryPolicy(methods: [.post], random: { _ in 0 })
            $0.interceptors = [
                GzipRequests { bytes in
                    log.add("\(bytes.count)")
                    return try zlib.gzip(bytes)
                }
            ]
        }
        let text = String(repeating: "martlet ", count: 1000)
        try await client.send(Post("/large", .text(text)))
        try await client.send(Post("/small"))
        #expect(log.lines == ["8000"])
        let large = transport.requests(to: "/large")
        #expect(large.count == 2)
        for request in large {
            #expect(request.headers[.contentEncoding] == "gzip")
            #expect(request.headers[.contentType]?.hasPrefix("text/plain") == true)
            #expect(request.body.count < 1000)
            #expect(zlib.gunzip(request.body, like: Data(text.utf8)) == Data(text.utf8))
        }
        let small = try #require(transport.requests(to: "/small").first)
        #expect(small.headers[.contentEncoding] == nil)
        #expect(small.text == "x")
    }

    @Test("a cache answers each session from its own responses, until they are too old") func cache() async throws {
        let cache = ResponseCache(lifetime: 60)
        let app = try await App.signedIn { $0.interceptors = [cache] }
        for _ in 0..<3 { #expect(await app.call().isSuccess) }
        #expect(app.backend.calls(to: "/me") == 1)
        for _ in 0..<2 { _ = try await app.client.data(for: Get("/public", .none)) }
        #expect(app.backend.calls(to: "/public") == 2)
        app.time.advance(by: .seconds(61))
        #expect(await app.call().isSuccess)
        #expect(app.backend.calls(to: "/me") == 2)
        try await app.tokens.signIn(with: app.backend.issue())
        #expect(await app.call().isSuccess)
        #expect(app.backend.calls(to: "/me") == 3)
        await app.tokens.signOut()
        #expect(await !app.call().isSuccess)
        #expect(app.backend.calls(to: "/me") == 3)
    }

    @Test("a circuit breaker opens after failures, and closes when a call succeeds") func circuitBreaker() async throws
    {
        let isDown = Locked(true)
        let transport = StubTransport { _ in .status(isDown.withLock { $0 } ? 500 : 204) }
        let time = ManualTimeSource()
        let client = client(transport) {
            $0.time = time
            $0.retry = .never
            $0.interceptors = [CircuitBreaker(threshold: 2, pause: 30)]
        }
        func isOpen() async -> Bool {
            let failure = await error { try await client.send(Get("/a", .none)) }
            return failure?.underlyingError is CircuitBreaker.CircuitOpen
        }
        #expect(await [isOpen(), isOpen(), isOpen(), isOpen()] == [false, false, true, true])
        #expect(transport.requests.count == 2)
        time.advance(by: .seconds(31))
        #expect(await [isOpen(), isOpen()] == [false, true])
        isDown.withLock { $0 = false }
        time.advance(by: .seconds(31))
        #expect(await [isOpen(), isOpen()] == [false, false])
        #expect(transport.requests.count == 5)
    }

    @Test("a circuit breaker lets the call that tests the server make all its attempts") func circuitBreakerRetries()
        async throws
    {
        let statuses = Locked([500, 500, 500, 204])
        let transport = StubTransport { _ in .status(statuses.withLock { $0.removeFirst() }) }
        let time = ManualTimeSource()
        let client = client(transport) {
            $0.time = time
            $0.retry = RetryPolicy(maximumAttempts: 2, firstDelay: .zero)
            $0.interceptors = [CircuitBreaker(threshold: 2, pause: 30)]
        }
        #expect(await error { try await client.send(Get("/a", .none)) }?.status == 500)
        time.advance(by: .seconds(31))
        try await client.send(Get("/a", .none))
        #expect(transport.requests.count == 4)
    }

    @Test(
        "the article shows the code that these tests run",
        arguments: ["HMACSignature", "GzipRequests", "ResponseCache", "CircuitBreaker"])
    func article(name: String) throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let root = (0..<4).reduce(folder) { url, _ in url.deletingLastPathComponent() }
        let article = root.appendingPathComponent("Sources/Martlet/Martlet.docc/InterceptorsByExample.md")
        let code = try String(contentsOf: folder.appendingPathComponent("\(name).swift"), encoding: .utf8)
        let example = try #require(code.range(of: "///").map { code[$0.lowerBound...] })
        #expect(try String(contentsOf: article, encoding: .utf8).contains("\n\(example)```\n"))
    }
}
