import Foundation
import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

@Suite("The session for other clients") struct RequestSigningTests {
    @Test("signs a request, and once more where its token was refused") func signAndRecover() async throws {
        let app = try await App.signedIn()
        var request = HTTPRequest.to("https://api.example.com/me")
        #expect(try await app.tokens.sign(&request))
        #expect(request.headerFields[.authorization] == "Bearer access-1")
        #expect(try await !app.tokens.recover(from: HTTPResponse(status: .ok), to: &request))

        app.backend.invalidateAccessTokens()
        #expect(try await app.tokens.recover(from: HTTPResponse(status: .unauthorized), to: &request))
        #expect(request.headerFields[values: .authorization] == ["Bearer access-2"])
        #expect(app.backend.refreshCalls == 1)
    }

    @Test("renews the token once for all who were refused, however late they say so") func burst() async throws {
        let app = try await App.signedIn()
        app.backend.invalidateAccessTokens()
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    var request = HTTPRequest.to("https://api.example.com/me")
                    guard (try? await app.tokens.sign(&request)) == true else { return false }
                    guard request.headerFields[.authorization] == "Bearer access-1" else { return true }
                    return (try? await app.tokens.recover(from: HTTPResponse(status: .unauthorized), to: &request))
                        == true && request.headerFields[.authorization] == "Bearer access-2"
                }
            }
            for await isGood in group { #expect(isGood) }
        }
        #expect(app.backend.refreshCalls == 1 && app.backend.reuseDetected == 0)
    }

    @Test("shares its refresh with those who ask for a token alone") func validToken() async throws {
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
        async let token = app.tokens.validToken()
        #expect(await events.first { if case .refreshJoined = $0 { true } else { false } } != nil)
        gate.open()
        #expect(try await recovery.value)
        #expect(try await token == "access-2")
        #expect(app.backend.refreshCalls == 1)
    }

    @Test("recovers a request that was signed by hand, or before the app was started") func signedElsewhere()
        async throws
    {
        let store = InMemoryTokenStore()
        let app = try await App.signedIn(store: store)
        let token = try await app.tokens.validToken()
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

    @Test("says that nobody knows whose request it was while the store cannot be read") func unreadable() async {
        struct Shut: TokenStore {
            let why = StorageFailure(.locked, "locked")
            func read() async -> StoreReading { .unavailable(why) }
            func write(_ session: StoredSession) async throws { throw why }
            func delete() async throws { throw why }
        }
        let app = App(store: Shut())
        await #expect(throws: SessionError.unavailable(Shut().why)) { () async throws in
            var request = HTTPRequest.to("https://api.example.com/me")
            request.headerFields[.authorization] = "Bearer access-1"
            _ = try await app.tokens.recover(from: HTTPResponse(status: .unauthorized), to: &request)
        }
    }

    @Test("never signs for another user what was signed for a former one") func fenced() async throws {
        let app = try await App.signedIn()
        var request = HTTPRequest.to("https://api.example.com/me")
        try await app.tokens.sign(&request)
        try await app.tokens.signIn(with: app.backend.issue())
        let signed = request
        await #expect(throws: SessionError.sessionChanged) { () async throws in
            var request = signed
            _ = try await app.tokens.recover(from: HTTPResponse(status: .unauthorized), to: &request)
        }
        // Nor what somebody else has signed.
        request.headerFields[.authorization] = "Bearer unknown"
        let unknown = request
        await #expect(throws: SessionError.sessionChanged) { () async throws in
            var request = unknown
            _ = try await app.tokens.recover(from: HTTPResponse(status: .unauthorized), to: &request)
        }
        #expect(app.backend.refreshCalls == 0)
    }

    @Test(
        "leaves requests alone that go elsewhere",
        arguments: ["https://other.example.com/me", "http://api.example.com/me", "https://api.example.com:444/me"])
    func elsewhere(url: String) async throws {
        let app = try await App.signedIn()
        var request = HTTPRequest.to(url)
        #expect(try await !app.tokens.sign(&request))
        #expect(request.headerFields.isEmpty)
        request.headerFields[.authorization] = "Bearer theirs"
        #expect(try await !app.tokens.recover(from: HTTPResponse(status: .unauthorized), to: &request))
        #expect(request.headerFields[.authorization] == "Bearer theirs")
    }

    @Test("says that nobody is signed in, unless that is all right") func signedOut() async throws {
        let app = App()
        await #expect(throws: SessionError.signedOut) { () async throws in
            var request = HTTPRequest.to("https://api.example.com/me")
            try await app.tokens.sign(&request)
        }
        var request = HTTPRequest.to("https://api.example.com/me")
        #expect(try await !app.tokens.sign(&request, .ifSignedIn))
        #expect(try await !app.tokens.sign(&request, .none))
        #expect(request.headerFields.isEmpty)
    }

    @Test("says that the session is over when the server says so") func expired() async throws {
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

    @Suite("The session for URLSession") struct URLRequestSigningTests {
        @Test("signs a request, and once more where its token was refused") func signAndRecover() async throws {
            let app = try await App.signedIn()
            let url = try #require(URL(string: "https://api.example.com/me?a=b"))
            var request = URLRequest(url: url)
            request.setValue("text/plain", forHTTPHeaderField: "Accept")
            #expect(try await app.tokens.sign(&request))
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

        @Test("leaves requests alone that go elsewhere") func elsewhere() async throws {
            let app = try await App.signedIn()
            var request = URLRequest(url: try #require(URL(string: "https://cdn.example.com/a.png")))
            #expect(try await !app.tokens.sign(&request))
            #expect(request.allHTTPHeaderFields?.isEmpty ?? true)
        }
    }
#endif
