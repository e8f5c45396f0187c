import Foundation
import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

@Suite("Signing requests for other HTTP clients", .timeLimit(.minutes(10))) struct RequestSigningTests {
    @Test("a request is signed, and signed again after its token was rejected") func signAndRecover() async throws {
        let app = try await App.signedIn()
        var request = HTTPRequest.to("https://api.example.com/me")
        #expect(try await app.tokens.sign(&request) != nil)
        #expect(request.headerFields[.authorization] == "Bearer access-1")
        #expect(try await !app.tokens.recover(from: HTTPResponse(status: .ok), to: &request))

        app.backend.invalidateAccessTokens()
        #expect(try await app.tokens.recover(from: HTTPResponse(status: .unauthorized), to: &request))
        #expect(request.headerFields[values: .authorization] == ["Bearer access-2"])
        #expect(app.backend.refreshCalls == 1)
    }

    @Test("one refresh serves all rejected requests, even those that report late") func burst() async throws {
        let app = try await App.signedIn()
        app.backend.invalidateAccessTokens()
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    var request = HTTPRequest.to("https://api.example.com/me")
                    guard (try? await app.tokens.sign(&request)) != nil else { return false }
                    guard request.headerFields[.authorization] == "Bearer access-1" else { return true }
                    return (try? await app.tokens.recover(from: HTTPResponse(status: .unauthorized), to: &request))
                        == true && request.headerFields[.authorization] == "Bearer access-2"
                }
            }
            for await isRecovered in group { #expect(isRecovered) }
        }
        #expect(app.backend.refreshCalls == 1 && app.backend.reuseDetected == 0)
    }

    @Test("recovery shares its refresh with callers of validTokens()") func validTokens() async throws {
        let app = try await App.signedIn()
        var request = HTTPRequest.to("https://api.example.com/me")
        try await app.tokens.sign(&request)
        app.backend.invalidateAccessTokens()
        let gate = Gate()
        app.backend.beforeRefresh { _ in
            await gate.pass()
            return nil
        }
        let events = app.tokens.events
        let recovery = Task { [request] in
            var request = request
            return try await app.tokens.recover(from: HTTPResponse(status: .unauthorized), to: &request)
        }
        await gate.waitForArrivals()
        async let token = app.tokens.validTokens().accessToken
        #expect(await events.first { if case .refreshJoined = $0 { true } else { false } } != nil)
        gate.open()
        #expect(try await recovery.value)
        #expect(try await token == "access-2")
        #expect(app.backend.refreshCalls == 1)
    }

    @Test("a request signed by hand or in an earlier launch is recovered") func signedElsewhere()
        async throws
    {
        let store = InMemoryTokenStore()
        let app = try await App.signedIn(store: store)
        let token = try await app.tokens.validTokens().accessToken
        try await app.tokens.refresh()
        var byHand = HTTPRequest.to("https://api.example.com/me")
        byHand.headerFields[.authorization] = "Bearer \(token.reveal())"
        #expect(try await app.tokens.recover(from: HTTPResponse(status: .unauthorized), to: &byHand))
        #expect(byHand.headerFields[.authorization] == "Bearer access-2")

        let restarted = App(app.backend, store: store)
        app.backend.invalidateAccessTokens()
        #expect(try await restarted.tokens.recover(from: HTTPResponse(status: .unauthorized), to: &byHand))
        #expect(byHand.headerFields[.authorization] == "Bearer access-3")
        #expect(app.backend.refreshCalls == 2 && app.backend.reuseDetected == 0)
    }

    @Test("without a readable record, recovery fails as unavailable", arguments: [StorageError.Kind.locked, .tooNew])
    func unreadable(kind: StorageError.Kind) async {
        struct LockedStore: TokenStore {
            let error: StorageError
            func read() async -> StoreReading { .unavailable(error) }
            func write(_ session: StoredSession) async throws { throw error }
            func delete() async throws { throw error }
        }
        let store = LockedStore(error: StorageError(kind, "locked"))
        let app = App(store: store)
        await #expect(throws: SessionError.unavailable(store.error)) { () async throws in
            var request = HTTPRequest.to("https://api.example.com/me")
            request.headerFields[.authorization] = "Bearer access-1"
            _ = try await app.tokens.recover(from: HTTPResponse(status: .unauthorized), to: &request)
        }
    }

    @Test("a request signed for one user is never signed for another") func fenced() async throws {
        let app = try await App.signedIn()
        var request = HTTPRequest.to("https://api.example.com/me")
        try await app.tokens.sign(&request)
        try await app.tokens.signIn(with: app.backend.issue())
        let signed = request
        await #expect(throws: SessionError.sessionChanged) { () async throws in
            var request = signed
            _ = try await app.tokens.recover(from: HTTPResponse(status: .unauthorized), to: &request)
        }
        // The same holds for a request with an unknown token.
        request.headerFields[.authorization] = "Bearer unknown"
        let unknown = request
        await #expect(throws: SessionError.sessionChanged) { () async throws in
            var request = unknown
            _ = try await app.tokens.recover(from: HTTPResponse(status: .unauthorized), to: &request)
        }
        #expect(app.backend.refreshCalls == 0)
    }

    @Test(
        "requests to other origins are not changed",
        arguments: ["https://other.example.com/me", "http://api.example.com/me", "https://api.example.com:444/me"])
    func elsewhere(url: String) async throws {
        let app = try await App.signedIn()
        var request = HTTPRequest.to(url)
        #expect(try await app.tokens.sign(&request) == nil)
        #expect(request.headerFields.isEmpty)
        request.headerFields[.authorization] = "Bearer theirs"
        #expect(try await !app.tokens.recover(from: HTTPResponse(status: .unauthorized), to: &request))
        #expect(request.headerFields[.authorization] == "Bearer theirs")
    }

    @Test("if no user is signed in, a request such as the login passes unsigned and unchanged") func signedOut()
        async throws
    {
        let app = App()
        var login = HTTPRequest.to("https://api.example.com/login")
        login.headerFields[.authorization] = "Basic dXNlcjpwYXNz"
        login.headerFields[.accept] = "application/json"
        let unsigned = login
        #expect(try await app.tokens.sign(&login) == nil)
        #expect(try await app.tokens.sign(&login, .none) == nil)
        #expect(login == unsigned)
        #expect(try await !app.tokens.recover(from: HTTPResponse(status: .unauthorized), to: &login))
        #expect(login == unsigned)

        var request = HTTPRequest.to("https://api.example.com/me")
        #expect(try await app.tokens.sign(&request) == nil)
        #expect(try await !app.tokens.recover(from: HTTPResponse(status: .unauthorized), to: &request))
        #expect(request.headerFields.isEmpty && app.backend.refreshCalls == 0)
    }

    @Test("if a session is required, a request without one throws") func required() async throws {
        let app = App()
        await #expect(throws: SessionError.signedOut) { () async throws in
            var request = HTTPRequest.to("https://api.example.com/me")
            try await app.tokens.sign(&request, .required)
        }
    }

    @Test("after sign-out or expiry, a request loses the token of the former session", arguments: [true, false])
    func formerSession(expires: Bool) async throws {
        let app = try await App.signedIn()
        var request = HTTPRequest.to("https://api.example.com/me")
        try await app.tokens.sign(&request)
        if expires {
            app.backend.revokeSession()
            await #expect(throws: SessionError.self) { try await app.tokens.refresh() }
        } else {
            await app.tokens.signOut()
        }
        #expect(try await app.tokens.sign(&request) == nil)
        #expect(request.headerFields.isEmpty)
    }

    @Test("a retry is signed only for the session of its first attempt", arguments: [false, true])
    func ownSession(isOtherUserSignedIn: Bool) async throws {
        let app = try await App.signedIn()
        var request = HTTPRequest.to("https://api.example.com/me")
        let stamp = try #require(try await app.tokens.sign(&request))
        #expect(try await app.tokens.sign(&request, for: stamp.session) == stamp)
        try await app.tokens.refresh()
        #expect(try await app.tokens.sign(&request, for: stamp.session)?.rotation == stamp.rotation + 1)
        await app.tokens.signOut()
        if isOtherUserSignedIn { try await app.tokens.signIn(with: app.backend.issue()) }
        let before = request
        await #expect(throws: SessionError.sessionChanged) { () async throws in
            var request = before
            try await app.tokens.sign(&request, for: stamp.session)
        }
    }

    @Test("a retry of an expired session reports the expiry") func ownExpiredSession() async throws {
        let app = try await App.signedIn()
        var request = HTTPRequest.to("https://api.example.com/me")
        let stamp = try #require(try await app.tokens.sign(&request))
        app.backend.revokeSession()
        await #expect(throws: SessionError.self) { try await app.tokens.refresh() }
        let error = await #expect(throws: SessionError.self) { () async throws in
            var request = HTTPRequest.to("https://api.example.com/me")
            try await app.tokens.sign(&request, for: stamp.session)
        }
        guard case .expired = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("recovery reports the expiry when the server ends the session") func expired() async throws {
        let app = try await App.signedIn()
        var request = HTTPRequest.to("https://api.example.com/me")
        try await app.tokens.sign(&request)
        app.backend.revokeSession()
        let signed = request
        let error = await #expect(throws: SessionError.self) { () async throws in
            var request = signed
            _ = try await app.tokens.recover(from: HTTPResponse(status: .unauthorized), to: &request)
        }
        guard case .expired = error else { return #expect(Bool(false), "\(String(describing: error))") }
    }
}

extension HTTPRequest {
    fileprivate static func to(_ url: String) -> HTTPRequest {
        let parts = url.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: true)
        return HTTPRequest(
            method: .get, scheme: String(parts[0].dropLast()), authority: String(parts[1]), path: "/\(parts[2])")
    }
}

#if !os(Linux) || URLSession || !AsyncHTTPClient
    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    @Suite("Signing requests for URLSession", .timeLimit(.minutes(10))) struct URLRequestSigningTests {
        @Test("a request is signed, and signed again after its token was rejected") func signAndRecover() async throws {
            let app = try await App.signedIn()
            let url = try #require(URL(string: "https://api.example.com/me?a=b"))
            var request = URLRequest(url: url)
            request.setValue("text/plain", forHTTPHeaderField: "Accept")
            #expect(try await app.tokens.sign(&request) != nil)
            #expect(request.value(forHTTPHeaderField: "Authorization") == "Bearer access-1")
            let good = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil))
            #expect(try await !app.tokens.recover(from: good, to: &request))

            app.backend.invalidateAccessTokens()
            let refused = try #require(HTTPURLResponse(url: url, statusCode: 401, httpVersion: nil, headerFields: nil))
            #expect(try await app.tokens.recover(from: refused, to: &request))
            #expect(
                request.allHTTPHeaderFields == ["Authorization": "Bearer access-2", "Accept": "text/plain"])
            #expect(app.backend.refreshCalls == 1)
        }

        @Test("if no user is signed in, a request passes unsigned and unchanged") func signedOut() async throws {
            let app = App()
            let url = try #require(URL(string: "https://api.example.com/login"))
            var login = URLRequest(url: url)
            login.httpMethod = "POST"
            login.httpBody = Data("{}".utf8)
            login.setValue("Basic dXNlcjpwYXNz", forHTTPHeaderField: "Authorization")
            let unsigned = login
            #expect(try await app.tokens.sign(&login) == nil)
            #expect(login == unsigned && login.allHTTPHeaderFields == unsigned.allHTTPHeaderFields)
            let rejected = try #require(HTTPURLResponse(url: url, statusCode: 401, httpVersion: nil, headerFields: nil))
            #expect(try await !app.tokens.recover(from: rejected, to: &login))
            #expect(login == unsigned && login.allHTTPHeaderFields == unsigned.allHTTPHeaderFields)
        }

        @Test("requests to other origins are not changed") func elsewhere() async throws {
            let app = try await App.signedIn()
            var request = URLRequest(url: try #require(URL(string: "https://cdn.example.com/a.png")))
            #expect(try await app.tokens.sign(&request) == nil)
            #expect(request.allHTTPHeaderFields?.isEmpty ?? true)
        }
    }
#endif
