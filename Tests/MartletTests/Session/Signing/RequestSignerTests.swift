#if !os(Linux) || URLSession || !AsyncHTTPClient
    import Foundation
    import HTTPTypes
    import MartletTesting
    import Testing

    @testable import Martlet

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    @Suite("Requests that another client repeats", .timeLimit(.minutes(10))) struct RequestSignerTests {
        /// The object of another client that stands for all attempts of a request.
        private final class Request: Sendable {}

        private let url: URL

        init() throws {
            url = try #require(URL(string: "https://api.example.com/me"))
        }

        @Test("the attempts of a request are signed for one session, with its newest token") func sameSession()
            async throws
        {
            let app = try await App.signedIn()
            let (signer, request) = (RequestSigner(tokens: app.tokens), Request())
            var attempt = URLRequest(url: url)
            let first = try #require(try await signer.sign(&attempt, of: request))
            #expect(attempt.value(forHTTPHeaderField: "Authorization") == "Bearer access-1")
            try await app.tokens.refresh()
            var second = URLRequest(url: url)
            #expect(try await signer.sign(&second, of: request)?.session == first.session)
            #expect(second.value(forHTTPHeaderField: "Authorization") == "Bearer access-2")
        }

        @Test("a repeated request is not signed for another user", arguments: [true, false])
        func otherUser(isFirstAttemptSigned: Bool) async throws {
            let app = try await App.signedIn()
            let (signer, request) = (RequestSigner(tokens: app.tokens), Request())
            if !isFirstAttemptSigned {
                app.time.advance(by: .seconds(4000))
                app.backend.beforeRefresh { _ in .status(503) }
            }
            var first = URLRequest(url: url)
            let stamp = try? await signer.sign(&first, of: request)
            #expect((stamp != nil) == isFirstAttemptSigned)
            app.backend.beforeRefresh(nil)
            try await app.tokens.signIn(with: app.backend.issue())
            await #expect(throws: SessionError.sessionChanged) { () async throws in
                var second = URLRequest(url: url)
                try await signer.sign(&second, of: request)
            }
            var other = URLRequest(url: url)
            #expect(try await signer.sign(&other, of: Request()) != nil)
        }

        @Test("a request from before the store was read is not signed for a user who signs in until then")
        func unreadStore() async throws {
            let (store, gate) = (FailingTokenStore(), Gate())
            let backend = try await App.signedIn(store: store).backend
            store.hold(.read, at: gate)
            let app = App(backend, store: store)
            let (signer, request) = (RequestSigner(tokens: app.tokens), Request())
            let attempt = Task { [url] in
                var attempt = URLRequest(url: url)
                return try await signer.sign(&attempt, of: request)
            }
            await gate.waitForArrivals()
            let signIn = Task { try await app.tokens.signIn(with: backend.issue()) }
            while app.tokens.epoch == 0 { await Task.yield() }
            gate.open()
            _ = try await signIn.value
            await #expect(throws: SessionError.sessionChanged) { try await attempt.value }
            await #expect(throws: SessionError.sessionChanged) { () async throws in
                var second = URLRequest(url: url)
                try await signer.sign(&second, of: request)
            }
        }

        @Test("a request that begins without a session stays without a token", arguments: [true, false])
        func login(isExpired: Bool) async throws {
            let app = isExpired ? try await App.signedIn() : App()
            if isExpired {
                app.backend.revokeSession()
                await #expect(throws: SessionError.self) { try await app.tokens.refresh() }
            }
            let (signer, request) = (RequestSigner(tokens: app.tokens), Request())
            var login = URLRequest(url: url)
            login.setValue("Basic dXNlcjpwYXNz", forHTTPHeaderField: "Authorization")
            #expect(try await signer.sign(&login, of: request) == nil)
            try await app.tokens.signIn(with: app.backend.issue())
            #expect(try await signer.sign(&login, of: request) == nil)
            #expect(login.value(forHTTPHeaderField: "Authorization") == "Basic dXNlcjpwYXNz")
            await #expect(throws: SessionError.self) { () async throws in
                var login = URLRequest(url: url)
                try await signer.sign(&login, .required, of: request)
            }
        }

        @Test("the rejection of a login with the app's own bearer credential is the login's") func ownBearer()
            async throws
        {
            let app = App()
            let (signer, request) = (RequestSigner(tokens: app.tokens), Request())
            var login = URLRequest(url: url)
            login.setValue("Bearer app-key", forHTTPHeaderField: "Authorization")
            #expect(try await signer.sign(&login, of: request) == nil)
            #expect(try await !signer.recover(from: response(401), to: &login, of: request))
            #expect(login.value(forHTTPHeaderField: "Authorization") == "Bearer app-key")
        }

        @Test("a rejection of a credential that another adapter has put in the place of the token is the request's")
        func replacedByAnotherAdapter() async throws {
            let app = try await App.signedIn()
            let (signer, request) = (RequestSigner(tokens: app.tokens), Request())
            var attempt = URLRequest(url: url)
            #expect(try await signer.sign(&attempt, of: request) != nil)
            attempt.setValue("Bearer app-key", forHTTPHeaderField: "Authorization")
            #expect(try await !signer.recover(from: response(401), to: &attempt, of: request))
            #expect(attempt.value(forHTTPHeaderField: "Authorization") == "Bearer app-key")
        }

        @Test("a rejected token is replaced once, even if the request was repeated for another reason before")
        func replacedOnce() async throws {
            let app = try await App.signedIn()
            let (signer, request) = (RequestSigner(tokens: app.tokens), Request())
            var attempt = URLRequest(url: url)
            try await signer.sign(&attempt, of: request)
            #expect(try await !signer.recover(from: response(503), to: &attempt, of: request))
            app.backend.invalidateAccessTokens()
            #expect(try await signer.recover(from: response(401), to: &attempt, of: request))
            #expect(attempt.value(forHTTPHeaderField: "Authorization") == "Bearer access-2")
            #expect(try await !signer.recover(from: response(401), to: &attempt, of: request))
            #expect(app.backend.refreshCalls == 1)
        }

        @Test("a failed refresh is not repeated when the client asks about its error") func failedRefresh() async throws
        {
            let app = try await App.signedIn()
            let (signer, request) = (RequestSigner(tokens: app.tokens), Request())
            var signed = URLRequest(url: url)
            try await signer.sign(&signed, of: request)
            let sent = signed
            app.backend.beforeRefresh { _ in .status(503) }
            await #expect(throws: SessionError.self) { () async throws in
                var attempt = sent
                _ = try await signer.recover(from: response(401), to: &attempt, of: request)
            }
            app.time.advance(by: .seconds(120))
            var attempt = sent
            #expect(try await !signer.recover(from: response(401), to: &attempt, of: request))
            #expect(app.backend.refreshCalls == 1)
        }

        @Test("a request that was not signed here is not recovered") func unknownRequest() async throws {
            let app = try await App.signedIn()
            var attempt = URLRequest(url: url)
            try await app.tokens.sign(&attempt)
            let signer = RequestSigner(tokens: app.tokens)
            #expect(try await !signer.recover(from: response(401), to: &attempt, of: Request()))
            #expect(app.backend.refreshCalls == 0)
        }

        @Test("a request is forgotten when its object is released, and not before") func forgetting() async throws {
            let app = try await App.signedIn()
            let (signer, kept) = (RequestSigner(tokens: app.tokens), Request())
            var attempt = URLRequest(url: url)
            try await signer.sign(&attempt, of: kept)
            for _ in 0..<10_000 {
                var attempt = URLRequest(url: url)
                try await signer.sign(&attempt, of: Request())
            }
            #expect(signer.count <= 65)
            try await app.tokens.signIn(with: app.backend.issue())
            await #expect(throws: SessionError.sessionChanged) { () async throws in
                var attempt = URLRequest(url: url)
                try await signer.sign(&attempt, of: kept)
            }
        }

        @Test("all requests in progress are remembered") func manyAtOnce() async throws {
            let app = try await App.signedIn()
            let signer = RequestSigner(tokens: app.tokens)
            let requests = (0..<200).map { _ in Request() }
            for request in requests {
                var attempt = URLRequest(url: url)
                try await signer.sign(&attempt, of: request)
            }
            try await app.tokens.signIn(with: app.backend.issue())
            for request in requests {
                await #expect(throws: SessionError.sessionChanged) { () async throws in
                    var attempt = URLRequest(url: url)
                    try await signer.sign(&attempt, of: request)
                }
            }
        }

        private func response(_ status: Int) throws -> HTTPURLResponse {
            try #require(HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: nil))
        }
    }

    @Suite("Redirects that URLSession follows", .timeLimit(.minutes(10))) struct SignedRedirectTests {
        @Test(
            "a token goes only where the redirect stays on its origin",
            arguments: [
                ("https://api.example.com/a", "https://api.example.com/b", true),
                ("https://api.example.com/a", "https://api.example.com:443/b", true),
                ("https://api.example.com/a", "https://cdn.example.com/b", false),
                ("https://api.example.com/a", "http://api.example.com/b", false),
                ("https://api.example.com/a", "https://api.example.com:8443/b", false),
                // Another origin has sent the request back.
                ("https://other.example.com/a", "https://api.example.com/b", false),
            ])
        func target(from: String, to: String, keepsToken: Bool) async throws {
            let app = try await App.signedIn()
            var original = URLRequest(url: try #require(URL(string: "https://api.example.com/first")))
            try await app.tokens.sign(&original)
            let response = try redirect(at: from)
            // On Linux, the proposed request has the fields of the original; on Apple platforms, it lacks this one.
            for field in [nil, "Bearer access-1"] {
                var next = URLRequest(url: try #require(URL(string: to)))
                next.setValue(field, forHTTPHeaderField: "Authorization")
                next.setValue("text/plain", forHTTPHeaderField: "Accept")
                let followed = app.tokens.redirected(original, by: response, to: next)
                #expect(followed.value(forHTTPHeaderField: "Authorization") == (keepsToken ? "Bearer access-1" : nil))
                #expect(followed.value(forHTTPHeaderField: "Accept") == "text/plain")
                #expect(followed.url == next.url)
            }
        }

        @Test("the field of another token scheme is removed, too") func otherScheme() async throws {
            let tokens = TokenManager(
                baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"),
                scheme: AuthenticationScheme(header: try #require(HTTPField.Name("X-Token")), prefix: nil))
            try await tokens.signIn(with: .fresh(1))
            var original = URLRequest(url: try #require(URL(string: "https://api.example.com/first")))
            try await tokens.sign(&original)
            #expect(original.value(forHTTPHeaderField: "X-Token") == "access-1")
            var next = original
            next.url = URL(string: "https://cdn.example.com/b")
            let followed = tokens.redirected(original, by: try redirect(at: "https://api.example.com/first"), to: next)
            #expect(followed.allHTTPHeaderFields?.isEmpty ?? true)
        }

        @Test("a server to which a redirect has led cannot reject the token") func foreignRejection() async throws {
            let app = try await App.signedIn()
            var request = URLRequest(url: try #require(URL(string: "https://api.example.com/first")))
            try await app.tokens.sign(&request)
            let elsewhere = try #require(URL(string: "https://cdn.example.com/b"))
            let foreign = try #require(
                HTTPURLResponse(url: elsewhere, statusCode: 401, httpVersion: nil, headerFields: nil))
            #expect(try await !app.tokens.recover(from: foreign, to: &request))
            #expect(app.backend.refreshCalls == 0)
            #expect(request.value(forHTTPHeaderField: "Authorization") == "Bearer access-1")
        }

        private func redirect(at url: String) throws -> HTTPURLResponse {
            let url = try #require(URL(string: url))
            return try #require(HTTPURLResponse(url: url, statusCode: 307, httpVersion: nil, headerFields: nil))
        }
    }
#endif
