import Foundation
import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

@Suite("The validation of cached responses", .timeLimit(.minutes(10))) struct CacheValidationTests {
    /// Confirms the tag `"1"` with new header fields.
    private static func confirming(_ fields: HTTPFields = [:]) -> CachingApp {
        CachingApp { request in
            if request.headers[.ifNoneMatch] == "\"1\"" { return .status(304, headers: fields) }
            return .counted(request, [.eTag: "\"1\"", .contentType: "text/plain", .setCookie: "sid=hunter2"])
        }
    }

    @Test("the server is asked with its own validators, and its 304 becomes the stored response") func confirmed()
        async throws
    {
        let app = CachingApp { request in
            if request.headers[.ifNoneMatch] != nil { return .status(304) }
            return .counted(request, [.eTag: "W/\"1\"", .lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"])
        }
        #expect(try await app.client.text(Visit("/a")) == "1")
        let response = try await app.client.data(for: Visit("/a"))
        #expect(response.head.status == .ok)
        #expect(String(decoding: response.value, as: UTF8.self) == "1")
        let request = try #require(app.transport.requests.last)
        #expect(request.headers[.ifNoneMatch] == "W/\"1\"")
        #expect(request.headers[.ifModifiedSince] == "Sun, 06 Nov 1994 08:49:37 GMT")
    }

    @Test("a 304 replaces header fields and makes the response fresh") func updated() async throws {
        let app = Self.confirming([.cacheControl: "max-age=60", .userAgent: "new", .contentType: "no/thing"])
        _ = try await app.client.text(Visit("/a"))
        app.advance(9)
        for _ in 1...2 {
            let head = try await app.client.data(for: Visit("/a")).head
            #expect(head.headerFields[.userAgent] == "new")
            #expect(head.headerFields[.contentType] == "text/plain")
            #expect(head.headerFields[.setCookie] == nil)
            #expect(head.headerFields[.age] == "0")
        }
        #expect(app.transport.requests.count == 2)
    }

    @Test("a response is still used only for the fields of its own Vary if a 304 has another") func otherVary()
        async throws
    {
        let app = CachingApp { request in
            if request.headers[.ifNoneMatch] != nil {
                return .status(304, headers: [.vary: "User-Agent", .cacheControl: "max-age=60"])
            }
            let fields: HTTPFields = [.vary: "Accept-Language", .eTag: "\"1\"", .cacheControl: "max-age=0"]
            return StubTransport.Response(
                200, headers: fields, body: Data((request.headers[.acceptLanguage] ?? "").utf8))
        }
        for language in ["de", "en", "de", "en"] {
            #expect(try await app.client.text(Visit("/a", headers: [.acceptLanguage: language])) == language)
        }
    }

    @Test("a 304 with another tag is not believed, and the resource is requested anew") func contradicted() async throws
    {
        let app = Self.confirming([.eTag: "\"2\""])
        #expect(try await app.client.text(Visit("/a")) == "1")
        #expect(try await app.client.text(Visit("/a")) == "3")
        #expect(app.transport.requests.map { $0.headers[.ifNoneMatch] } == [nil, "\"1\"", nil])
    }

    @Test("a redirected POST with a `Host` of its own makes the response at the target invalid") func hostOfRedirect()
        async throws
    {
        let name = try #require(HTTPField.Name("Host"))
        let (headers, count): (HTTPFields, _) = ([name: "one.example"], Locked(0))
        let app = CachingApp { request in
            if request.method == .post { return .status(303, headers: [.location: "/list"]) }
            let number = count.withLock { count in
                count += 1
                return count
            }
            return StubTransport.Response(
                200, headers: [.cacheControl: "max-age=60"], body: Data("\(number)".utf8))
        }
        #expect(try await app.client.text(Visit("/list", headers: headers)) == "1")
        #expect(try await app.client.text(Visit("/list", headers: headers)) == "1")
        _ = try await app.client.text(Visit("/items", .post, headers: headers))
        #expect(try await app.client.text(Visit("/list", headers: headers)) == "3")
    }

    @Test("a 304 without a tag, but with another date, is not believed either") func otherDate() async throws {
        let dates = ["Sun, 06 Nov 1994 08:49:37 GMT", "Mon, 07 Nov 1994 08:49:37 GMT"]
        let app = CachingApp { request in
            if request.headers[.ifModifiedSince] != nil { return .status(304, headers: [.lastModified: dates[1]]) }
            return .counted(request, [.lastModified: dates[request.number / 2]])
        }
        #expect(try await app.client.text(Visit("/a")) == "1")
        #expect(try await app.client.text(Visit("/a")) == "3")
        #expect(app.transport.requests.map { $0.headers[.ifModifiedSince] } == [nil, dates[0], nil])
    }

    @Test("a `Host` that the endpoint sets is a part of the key") func host() async throws {
        let app = CachingApp([.cacheControl: "max-age=60"])
        let name = try #require(HTTPField.Name("Host"))
        #expect(try await app.client.text(Visit("/a", headers: [name: "one.example"])) == "1")
        #expect(try await app.client.text(Visit("/a", headers: [name: "two.example"])) == "2")
        #expect(try await app.client.text(Visit("/a", headers: [name: "one.example"])) == "1")
        #expect(try await app.client.text(Visit("/a")) == "3")
    }

    @Test("a 304 without a stored response is a failure, as without a cache") func unexpected() async throws {
        let app = CachingApp { _ in .status(304, headers: [.eTag: "\"1\"", .cacheControl: "max-age=60"]) }
        for _ in 1...2 {
            #expect(await error { _ = try await app.client.text(Visit("/a")) }?.response?.status == 304)
        }
        #expect(app.transport.requests.allSatisfy { !$0.headers.contains(.ifNoneMatch) })
    }

    @Test("a new response replaces the stored one, even if it must not be stored") func replaced() async throws {
        let isSecret = Locked(false)
        let app = CachingApp { request in
            let control = isSecret.withLock { $0 } ? "no-store" : "no-cache"
            return .counted(request, [.eTag: "\"\(request.number)\"", .cacheControl: control])
        }
        for number in 1...2 { #expect(try await app.client.text(Visit("/a")) == "\(number)") }
        isSecret.withLock { $0 = true }
        for number in 3...4 { #expect(try await app.client.text(Visit("/a")) == "\(number)") }
        #expect(app.transport.requests.map { $0.headers[.ifNoneMatch] } == [nil, "\"1\"", "\"2\"", nil])
    }

    @Test("a redirected request has no validators of the cache, but keeps those of the call") func redirected()
        async throws
    {
        let app = CachingApp { request in
            guard request.path == "/a", request.number > 1 else {
                return .counted(request, [.eTag: "\"1\"", .lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"])
            }
            return .status(302, headers: [.location: "/b"])
        }
        _ = try await app.client.text(Visit("/a"))
        #expect(try await app.client.text(Visit("/a")) == "3")
        #expect(try await app.client.text(Visit("/a", headers: [.ifNoneMatch: "\"0\""])) == "5")
        #expect(app.transport.requests.map(\.path) == ["/a", "/a", "/b", "/a", "/b"])
        #expect(app.transport.requests.map { $0.headers[.ifNoneMatch] } == [nil, "\"1\"", nil, "\"0\"", "\"0\""])
        #expect(app.transport.requests[1].headers[.ifModifiedSince] != nil)
        #expect(app.transport.requests[2].headers[.ifModifiedSince] == nil)
    }

    @Test("with stale-if-error, a stale response replaces a failure for that time", arguments: [true, false])
    func staleIfError(isOffline: Bool) async throws {
        let app = CachingApp { request in
            if request.number == 1 { return .counted(request, [.cacheControl: "max-age=10, stale-if-error=20"]) }
            return isOffline ? .failure(.offline) : .status(503)
        }
        for _ in 1...2 {
            #expect(try await app.client.text(Visit("/a")) == "1")
            app.advance(15)
        }
        #expect(try await app.client.text(Visit("/a")) == "1")
        app.advance(1)
        #expect(await error { _ = try await app.client.text(Visit("/a")) } != nil)
    }

    @Test("a response that only replaces failures is stored") func onlyForErrors() async throws {
        let app = CachingApp { request in
            request.number == 3
                ? .status(503) : .counted(request, [.cacheControl: "max-age=0, stale-if-error=20"])
        }
        #expect(try await app.client.text(Visit("/a")) == "1")
        #expect(try await app.client.text(Visit("/a")) == "2")
        #expect(try await app.client.text(Visit("/a")) == "2")
        #expect(try await app.client.text(Visit("/a")) == "4")
    }

    private static func failing(
        _ respond: @escaping @Sendable () async throws -> StubTransport.Response
    ) async throws -> CachingApp {
        let app = CachingApp { request in
            if request.number > 1 { return try await respond() }
            return .counted(request, [.cacheControl: "max-age=10, stale-if-error=20"])
        }
        #expect(try await app.client.text(Visit("/a")) == "1")
        app.advance(15)
        return app
    }

    @Test(
        "a stale response replaces a failure of the server, and a missing answer",
        arguments: [
            .status(500), .status(502), .status(503), .status(504), .failure(.offline),
            .failure(.cannotConnect("refused")), .failure(.connectionLost("reset")), .failure(.timedOut),
        ] as [StubTransport.Response])
    func hidden(failure: StubTransport.Response) async throws {
        let app = try await Self.failing { failure }
        #expect(try await app.client.text(Visit("/a")) == "1")
        #expect(app.transport.requests.count == 2)
    }

    @Test("a stale response replaces an answer that does not come in time") func hiddenTimeout() async throws {
        let (gate, clock) = (Gate(), Locked<ManualTimeSource?>(nil))
        let app = try await Self.failing {
            // The limit of an attempt.
            clock.withLock { $0 }?.advance(by: .seconds(30))
            try await gate.passUnlessCancelled()
            return .status(204)
        }
        clock.withLock { $0 = app.time }
        let visit = Visit("/a", headers: [.cacheControl: "stale-if-error=60"])
        #expect(try await app.client.text(visit) == "1")
    }

    @Test(
        "no stale response replaces any other failure",
        arguments: [
            .status(400), .status(404), .status(429), .status(501), .status(505),
            .failure(.tlsFailed("the certificate has expired")),
        ] as [StubTransport.Response])
    func notHidden(failure: StubTransport.Response) async throws {
        let app = try await Self.failing { failure }
        #expect(await error { _ = try await app.client.text(Visit("/a")) } != nil)
    }

    @Test("a request with no-cache gets a stale response only if it asks for one", arguments: [true, false])
    func reloading(isOffline: Bool) async throws {
        let app = CachingApp { request in
            if request.number == 1 { return .counted(request, [.cacheControl: "max-age=10, stale-if-error=20"]) }
            return isOffline ? .failure(.offline) : .status(503)
        }
        func visit(_ control: String) async throws -> String {
            try await app.client.text(Visit("/a", headers: [.cacheControl: control]))
        }
        _ = try await app.client.text(Visit("/a"))
        let failure = await error { _ = try await visit("no-cache") }
        #expect(failure?.isOffline == isOffline)
        #expect(failure?.response?.status == (isOffline ? nil : 503))
        #expect(try await visit("no-cache, stale-if-error=20") == "1")
        #expect(try await app.client.text(Visit("/a")) == "1")
    }

    @Test("a call that writes removes what is stored for its URL, unless the server refuses it") func invalidated()
        async throws
    {
        let app = CachingApp { request in
            if request.method == .get { return .counted(request, [.cacheControl: "max-age=60"]) }
            if request.path == "/moved" { return .status(303, headers: [.location: "/b"]) }
            return .status(request.path == "/refused" ? 409 : 204)
        }
        for path in ["/a", "/b", "/refused"] { _ = try await app.client.text(Visit(path)) }
        #expect(try await app.client.text(Visit("/a")) == "1")
        _ = try await app.client.text(Visit("/a", .put))
        #expect(try await app.client.text(Visit("/a")) == "5")
        _ = try? await app.client.text(Visit("/refused", .delete))
        #expect(try await app.client.text(Visit("/refused")) == "3")
        #expect(try await app.client.text(Visit("/b")) == "2")
        _ = try await app.client.text(Visit("/moved", .post))
        #expect(try await app.client.text(Visit("/b")) != "2")
    }

    @Test("what was requested before a write is not stored after it") func racing() async throws {
        let gate = Gate()
        let app = CachingApp { request in
            if request.number == 1 { await gate.pass() }
            return .counted(request, [.cacheControl: "max-age=60"])
        }
        let reading = Task { try await app.client.text(Visit("/a")) }
        await gate.waitForArrivals()
        _ = try await app.client.text(Visit("/a", .post))
        gate.open()
        #expect(try await reading.value == "1")
        #expect(try await app.client.text(Visit("/a")) == "3")
    }

    @Test("interceptors validate and process a cached response, and what they refuse is not stored") func interceptors()
        async throws
    {
        let log = Log()
        let transport = StubTransport { .counted($0, [.cacheControl: "max-age=60"]) }
        let client = client(transport) {
            $0.cache = HTTPCache()
            $0.retry = .never
            $0.interceptors = [
                ClosureInterceptor(
                    onValidate: { response, _ in
                        let text = String(decoding: response.body, as: UTF8.self)
                        log.add(text)
                        if text == "1" { throw CancellationError() }
                    },
                    onProcess: { response, _ in
                        ServerResponse(head: response.head, body: response.body + Data("!".utf8))
                    })
            ]
        }
        #expect(await error { _ = try await client.text(Visit("/a")) } != nil)
        for _ in 1...2 { #expect(try await client.text(Visit("/a")) == "2!") }
        #expect(log.lines == ["1", "2", "2"])
    }
}
