import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

@Suite("The freshness of cached responses", .timeLimit(.minutes(10))) struct CacheFreshnessTests {
    @Test("a response is used until its max-age has passed, with its age") func maxAge() async throws {
        let app = CachingApp([.cacheControl: "max-age=60"])
        #expect(try await app.client.text(Visit("/a")) == "1")
        app.advance(59)
        let response = try await app.client.data(for: Visit("/a"))
        #expect(String(decoding: response.value, as: UTF8.self) == "1")
        #expect(response.head.headerFields[.age] == "59")
        app.advance(1)
        #expect(try await app.client.text(Visit("/a")) == "2")
        #expect(try await app.client.text(Visit("/b")) == "3")
    }

    @Test(
        "a response is asked for again if the server does not declare it fresh",
        arguments: [
            [:], [.cacheControl: "no-store, max-age=60"], [.cacheControl: "max-age=60, no-cache"],
            [.cacheControl: "max-age=soon"], [.cacheControl: "max-age=-1"], [.cacheControl: "max-age=60, max-age=0"],
            [.cacheControl: "s-maxage=60"], [.cacheControl: "=;,,\"=\\"], [.expires: "0"], [.expires: "tomorrow"],
            [.lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"],
            [.cacheControl: "max-age=0", .expires: "Fri, 06 Nov 2099 08:49:37 GMT"],
            [.cacheControl: "max-age=60", .age: "60"], [.cacheControl: "max-age=60", .vary: "*"],
            [.cacheControl: "max-age=60", .vary: "accept, *"],
            [.cacheControl: "max-age=60", .date: "Sun, 06 Nov 1994 08:49:37 GMT"],
        ] as [HTTPFields])
    func unfresh(headers: HTTPFields) async throws {
        let app = CachingApp(headers)
        #expect(try await app.client.text(Visit("/a")) == "1")
        #expect(try await app.client.text(Visit("/a")) == "2")
    }

    @Test(
        "freshness has many spellings, and garbage beside it does no harm",
        arguments: [
            [.cacheControl: "Max-Age=\"60\""], [.cacheControl: "private, foo=\"a, no-store\", max-age=60"],
            [.cacheControl: ",, max-age=99999999999999999999999"], [.cacheControl: "max-age=60", .date: "yesterday"],
            [.cacheControl: "max-age=60", .age: "-5"], [.expires: "Fri, 06 Nov 2099 08:49:37 GMT"],
            [.cacheControl: "max-age=60", .vary: "Accept"], [.cacheControl: "max-age=60", .expires: "0"],
        ] as [HTTPFields])
    func fresh(headers: HTTPFields) async throws {
        let app = CachingApp(headers)
        #expect(try await app.client.text(Visit("/a")) == "1")
        #expect(try await app.client.text(Visit("/a")) == "1")
    }

    @Test("a request says what it accepts") func requestDirectives() async throws {
        let app = CachingApp([.cacheControl: "max-age=60"])
        func visit(_ control: String) async throws -> String {
            try await app.client.text(Visit("/a", headers: [.cacheControl: control]))
        }
        #expect(await error { _ = try await visit("only-if-cached") }?.response?.status == 504)
        #expect(app.transport.requests.isEmpty)
        #expect(try await visit("no-store") == "1")
        #expect(try await visit("max-age=60") == "2")
        app.advance(30)
        #expect(try await visit("only-if-cached, min-fresh=29") == "2")
        #expect(try await visit("max-age=30") == "3")
        app.advance(70)
        #expect(try await visit("max-stale=10") == "3")
        #expect(try await visit("max-stale") == "3")
        #expect(try await visit("max-stale=9") == "4")
        #expect(try await visit("no-cache") == "5")
    }

    @Test("a call that must not use the network is not retried") func onlyIfCached() async throws {
        let log = Log()
        let transport = StubTransport { _ in .status(204) }
        let client = client(transport) {
            $0.cache = HTTPCache()
            $0.retry = RetryPolicy(firstDelay: .zero)
            $0.interceptors = [ClosureInterceptor(onValidate: { response, _ in log.add("\(response.status)") })]
        }
        let call = Visit("/a", headers: [.cacheControl: "only-if-cached"])
        #expect(await error { _ = try await client.text(call) }?.response?.status == 504)
        #expect(log.lines == ["504"])
        #expect(transport.requests.isEmpty)
    }

    @Test("only-if-cached also keeps the calls that the cache does not serve from the network") func unserved()
        async throws
    {
        let app = CachingApp([.cacheControl: "max-age=60"])
        let visit = Visit("/a", headers: [.cacheControl: "only-if-cached"])
        let conditional = Visit("/a", .head, headers: [.cacheControl: "only-if-cached", .ifNoneMatch: "\"1\""])
        try await TemporaryFolder.with { folder in
            let failures = [
                await error { _ = try await app.client.data(for: visit, monitor: TransferMonitor()) },
                await error { _ = try await app.client.text(conditional) },
                await error { _ = try await app.client.download(visit, to: folder.path + "/a") },
                await error { _ = try await app.client.stream(visit) },
            ]
            #expect(failures.map { $0?.response?.status } == [504, 504, 504, 504])
            #expect(folder.names == [])
        }
        #expect(app.transport.requests.isEmpty)
    }

    @Test("a stale response that must be revalidated is never used") func mustRevalidate() async throws {
        let app = CachingApp([.cacheControl: "max-age=60, must-revalidate, stale-if-error=99"])
        #expect(try await app.client.text(Visit("/a")) == "1")
        app.advance(61)
        #expect(try await app.client.text(Visit("/a", headers: [.cacheControl: "max-stale"])) == "2")
    }

    @Test("a response is used for the fields that its Vary names") func vary() async throws {
        let app = CachingApp([.cacheControl: "max-age=60", .vary: "Accept-Language, User-Agent"])
        func visit(_ headers: HTTPFields) async throws -> String {
            try await app.client.text(Visit("/a", headers: headers))
        }
        #expect(try await visit([.acceptLanguage: "de"]) == "1")
        #expect(try await visit([.acceptLanguage: "en"]) == "2")
        #expect(try await visit([:]) == "3")
        #expect(try await visit([.acceptLanguage: "de", .userAgent: "1"]) == "4")
        #expect(try await visit([.acceptLanguage: "de"]) == "1")
        #expect(try await visit([.acceptLanguage: "en", .accept: "text/html"]) == "2")
    }

    @Test("of too many variants, the one that was unused for the longest time goes") func variants() async throws {
        let app = CachingApp([.cacheControl: "max-age=60", .vary: "Accept-Language"])
        func visit(_ variant: Int) async throws -> String {
            try await app.client.text(Visit("/a", headers: [.acceptLanguage: "v\(variant)"]))
        }
        for variant in 1...16 { #expect(try await visit(variant) == "\(variant)") }
        #expect(try await visit(1) == "1")
        #expect(try await visit(17) == "17")
        for variant in [1, 3, 16, 17] { #expect(try await visit(variant) == "\(variant)") }
        #expect(try await visit(2) == "18")
    }

    @Test("the time that the response took counts as its age") func responseDelay() async throws {
        let time = ManualTimeSource()
        let transport = StubTransport { request in
            if request.number == 1 { time.advance(by: .seconds(20)) }
            return .counted(request, [.cacheControl: "max-age=60", .age: "10"])
        }
        let client = client(transport) { ($0.cache, $0.time) = (HTTPCache(), time) }
        #expect(try await client.text(Visit("/a")) == "1")
        time.advance(by: .seconds(29))
        #expect(try await client.data(for: Visit("/a")).head.headerFields[.age] == "59")
        #expect(try await client.text(Visit("/a")) == "1")
        time.advance(by: .seconds(1))
        #expect(try await client.text(Visit("/a")) == "2")
    }

    @Test("a HEAD call is answered from a GET, and is not stored itself") func head() async throws {
        let app = CachingApp([.cacheControl: "max-age=60"])
        _ = try await app.client.text(Visit("/a", .head))
        #expect(try await app.client.text(Visit("/a")) == "2")
        #expect(try await app.client.text(Visit("/a", .head)).isEmpty)
        #expect(app.transport.requests.count == 2)
    }

    @Test("parts, conditions of the app, redirected responses and failures are not stored") func unstorable()
        async throws
    {
        let app = CachingApp { request in
            let fields: HTTPFields = [.cacheControl: "max-age=60"]
            if request.path == "/from" {
                return .status(302, headers: [.location: "/to", .cacheControl: "max-age=60"])
            }
            return request.path == "/fail" ? .status(500, headers: fields) : .counted(request, fields)
        }
        for headers in [[.range: "bytes=0-1"], [.ifNoneMatch: "\"1\""]] as [HTTPFields] {
            let count = app.transport.requests.count
            for _ in 1...2 { _ = try await app.client.text(Visit("/a", headers: headers)) }
            #expect(app.transport.requests.count == count + 2)
        }
        for path in ["/from", "/fail"] {
            let count = app.transport.requests(to: path).count
            for _ in 1...2 { _ = try? await app.client.text(Visit(path)) }
            #expect(app.transport.requests(to: path).count == count + 2)
        }
    }

    @Test("the least recently used responses go first, and a huge one is not stored") func limit() async throws {
        let app = CachingApp(maximumBytes: 40_000) { request in
            let count = request.path == "/huge" ? 12_000 : 8_000
            return StubTransport.Response(
                200, headers: [.cacheControl: "max-age=60"], body: .init(repeating: 65, count: count))
        }
        for path in ["/a", "/b", "/c", "/a", "/huge", "/d", "/e"] { _ = try await app.client.text(Visit(path)) }
        let before = app.transport.requests.count
        for path in ["/a", "/e"] { _ = try await app.client.text(Visit(path)) }
        #expect(app.transport.requests.count == before)
        for path in ["/huge", "/b"] { _ = try await app.client.text(Visit(path)) }
        #expect(app.transport.requests.count == before + 2)
        app.cache.removeAll()
        _ = try await app.client.text(Visit("/a"))
        #expect(app.transport.requests.count == before + 3)
    }
}
