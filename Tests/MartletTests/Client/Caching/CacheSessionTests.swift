import Foundation
import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

@Suite("Cached responses and sessions", .timeLimit(.minutes(10))) struct CacheSessionTests {
    /// Responses are fresh for an hour and tell their request's number and token.
    private static func app(_ cache: HTTPCache = HTTPCache(), gate: Gate? = nil) async throws -> App {
        let backend = SimulatedBackend()
        backend.beforeCall { request in
            let text = "\(request.number) \(request.bearer ?? "no token")"
            if request.path == "/held", let gate { await gate.pass() }
            return StubTransport.Response(
                200, headers: [.cacheControl: "max-age=3600"], body: Data(text.utf8))
        }
        return try await App.signedIn(backend) {
            $0.cache = cache
            $0.observers = []
        }
    }

    @Test("no user gets the response of another", arguments: [true, false]) func users(signsOut: Bool) async throws {
        let app = try await Self.app()
        let first = try await app.client.text(Visit("/a"))
        #expect(try await app.client.text(Visit("/a")) == first)
        if signsOut { await app.tokens.signOut() }
        try await app.tokens.signIn(with: app.backend.issue())
        #expect(try await app.client.text(Visit("/a")).hasSuffix("access-2"))
    }

    @Test("after the sign-out a call without a token is not answered from the session, nor from before")
    func signedOut()
        async throws
    {
        let app = try await Self.app()
        let open = try await app.client.text(Visit("/open", .get, .none))
        #expect(try await app.client.text(Visit("/open", .get, .none)) == open)
        await app.tokens.signOut()
        #expect(try await app.client.text(Visit("/a")).hasSuffix("no token"))
        #expect(try await app.client.text(Visit("/open", .get, .none)) != open)
    }

    @Test("a response that rejects the token is not stored, although its caller gets it") func rejection() async throws
    {
        let backend = SimulatedBackend()
        backend.beforeCall { request in
            let text = request.bearer == "access-1" ? #"{"error":"UNAUTHENTICATED"}"# : "good"
            return StubTransport.Response(200, headers: [.cacheControl: "max-age=60"], body: Data(text.utf8))
        }
        let rejection = AccessTokenRejectionRule { response, _ in
            String(decoding: response.body, as: UTF8.self).contains("UNAUTHENTICATED")
        }
        let app = try await App.signedIn(backend, rejection: rejection) {
            $0.cache = HTTPCache()
            $0.observers = []
        }
        let patient = Call<Data>.get("/graphql")
        var impatient = patient
        impatient.allowsRefresh = false
        let first = try await app.client.data(for: impatient)
        #expect(String(decoding: first.value, as: UTF8.self).contains("UNAUTHENTICATED"))
        let second = try await app.client.data(for: patient)
        #expect(String(decoding: second.value, as: UTF8.self) == "good")
        #expect(backend.refreshCalls == 1)
    }

    @Test("a response that arrives after the sign-out is not stored") func late() async throws {
        let gate = Gate()
        let cache = HTTPCache()
        let app = try await Self.app(cache, gate: gate)
        let call = Task { try? await app.client.text(Visit("/held")) }
        await gate.waitForArrivals()
        await app.tokens.signOut()
        gate.open()
        _ = await call.value
        #expect(cache.withStore { $0.isEmpty })
    }

    /// Holds the conditional request, and then answers it with a 304 for another response.
    private static func contradicting(_ gate: Gate) async throws -> App {
        let backend = SimulatedBackend()
        backend.state.withLock { $0.lifetime = 20 }
        backend.beforeCall { request in
            if request.headers[.ifNoneMatch] != nil {
                await gate.pass()
                return .status(304, headers: [.eTag: "\"2\""])
            }
            return StubTransport.Response(200, headers: [.eTag: "\"1\""], body: Data("\(request.number)".utf8))
        }
        let app = try await App.signedIn(backend) { $0.cache = HTTPCache() }
        _ = try await app.client.text(Visit("/a"))
        return app
    }

    @Test("after a 304 for another response, an expired token is replaced before the request is repeated")
    func contradictedAfterExpiry() async throws {
        let gate = Gate()
        let app = try await Self.contradicting(gate)
        let call = Task { try await app.client.text(Visit("/a")) }
        await gate.waitForArrivals()
        app.time.advance(by: .seconds(21))
        gate.open()
        _ = try await call.value
        #expect(app.transport.requests(to: "/a").map(\.bearer) == ["access-1", "access-1", "access-2"])
    }

    @Test("after a sign-out, a request is not repeated because of a 304 for another response")
    func contradictedAfterSignOut() async throws {
        let gate = Gate()
        let app = try await Self.contradicting(gate)
        let call = Task { await error { _ = try await app.client.text(Visit("/a")) } }
        await gate.waitForArrivals()
        await app.tokens.signOut()
        gate.open()
        guard case .sessionChanged = await call.value else {
            Issue.record("the call ended in another way")
            return
        }
        #expect(app.transport.requests(to: "/a").count == 2)
    }

    @Test("the sign-out empties the cache at once") func emptied() async throws {
        let cache = HTTPCache()
        let app = try await Self.app(cache)
        _ = try await app.client.text(Visit("/a"))
        #expect(!cache.withStore { $0.isEmpty })
        await app.tokens.signOut()
        #expect(cache.withStore { $0.isEmpty })
    }

    @Test("an app that empties the cache frees its memory") func removed() async throws {
        let app = CachingApp([.cacheControl: "max-age=60"])
        _ = try await app.client.text(Visit("/a"))
        #expect(!app.cache.withStore { $0.isEmpty })
        app.cache.removeAll()
        #expect(app.cache.withStore { $0.isEmpty })
    }

    @Test("a new sign-in state removes the responses of the one before, even if its end was not reported")
    func earlierOwner() throws {
        func owner(_ epoch: Int) -> ResponseOwner {
            ResponseOwner(
                manager: 1, state: CallOwner(epoch: epoch, signInState: .signedOut), timesEmptied: TimesEmptied())
        }
        func response(of owner: ResponseOwner) throws -> CachedResponse {
            let head = HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=60"])
            let now = CachedResponse.Timing(requestedAt: .zero, receivedAt: .zero, date: Date())
            return try #require(
                CachedResponse(
                    ServerResponse(head: head, body: Data("x".utf8)), to: [:],
                    CachePartition(owner: owner, isSigned: false, credentials: []), now))
        }
        var store = CacheStore(maximumBytes: 1 << 20)
        let (first, second) = (owner(1), owner(2))
        let isNew = store.begin(first)
        store.insert(try response(of: first), for: "https://api.example.com/a") { _ in false }
        let isNewAgain = store.begin(first)
        #expect((isNew, isNewAgain) == (true, false))
        #expect(!store.isEmpty)
        let isNewOwner = store.begin(second)
        #expect(isNewOwner && store.isEmpty)
        store.insert(try response(of: second), for: "https://api.example.com/a") { _ in false }
        // A call that was made earlier.
        let isEarlierNew = store.begin(first)
        #expect(!isEarlierNew && !store.isEmpty)
    }

    @Test("the server's verdict empties the cache, too") func expired() async throws {
        let cache = HTTPCache()
        let app = try await Self.app(cache)
        _ = try await app.client.text(Visit("/a"))
        app.backend.beforeRefresh { _ in .status(401) }
        app.time.advance(by: .seconds(3600))
        _ = try? await app.client.text(Visit("/b", .get, .required))
        #expect(cache.withStore { $0.isEmpty })
    }

    @Test("a refreshed token belongs to the same user") func refreshed() async throws {
        let app = try await Self.app()
        let first = try await app.client.text(Visit("/a"))
        try await app.tokens.refresh()
        #expect(try await app.client.text(Visit("/a")) == first)
    }

    @Test("one cache keeps two sessions apart") func shared() async throws {
        let cache = HTTPCache()
        let (first, second) = (try await Self.app(cache), try await Self.app(cache))
        _ = try await first.client.text(Visit("/a"))
        _ = try await second.client.text(Visit("/a"))
        #expect(second.transport.requests.count == 1)
    }

    @Test(
        "requests with other credentials of their own get other responses",
        arguments: [.cookie, .authorization, .proxyAuthorization] as [HTTPField.Name])
    func credentials(name: HTTPField.Name) async throws {
        let app = CachingApp([.cacheControl: "max-age=60"])
        #expect(try await app.client.text(Visit("/a", headers: [name: "a=1"])) == "1")
        #expect(try await app.client.text(Visit("/a", headers: [name: "a=2"])) == "2")
        #expect(try await app.client.text(Visit("/a")) == "3")
        #expect(try await app.client.text(Visit("/a", headers: [name: "a=1"])) == "1")
    }

    @Test("a dump of the client shows no cached response") func dumped() async throws {
        let app = CachingApp { _ in
            StubTransport.Response(200, headers: [.cacheControl: "max-age=60"], body: Data("hunter2".utf8))
        }
        _ = try await app.client.text(Visit("/a", headers: [.authorization: "hunter2"]))
        var text = ""
        dump(app.client, to: &text)
        dump(app.cache, to: &text)
        #expect(!"\(text)\(app.cache)".contains("hunter2"))
    }
}
