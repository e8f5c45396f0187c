internal import Foundation
internal import Martlet
internal import NIOConcurrencyHelpers
internal import ReferenceBackend
internal import Testing

extension EndToEnd {
    @Suite("C53: no sink ever contains a token", .timeLimit(.minutes(10)))
    struct SecretsTests {
        /// Collects every text that a user or developer could see.
        final class Sinks: NetworkObserver, Sendable {
            private let lines = NIOLockedValueBox<[String]>([])

            var all: [String] { lines.withLockedValue { $0 } }

            func take(_ values: Any...) {
                for value in values {
                    var dumped = ""
                    dump(value, to: &dumped)
                    let text = ["\(value)", String(reflecting: value), dumped]
                    lines.withLockedValue { $0 += text }
                    if let error = value as? any Error {
                        let localized = error.localizedDescription
                        lines.withLockedValue { $0.append(localized) }
                    }
                }
            }

            func observe(_ event: CallEvent) {
                switch event {
                case .started(let call): take("call started", call)
                case .redirected(let call, let url): take("redirected", call, url)
                case .received(let call, let response): take(call, response, response.bodyText() ?? "")
                case .attemptFailed(let call, let error): take("attempt failed", call, error)
                case .retrying(let call, _, let error): take(call, error)
                case .finished(let call, let result): take("call finished", call, result)
                case .streamBroke(let call, let error): take("stream broke", call, error)
                case .attemptStarted(let call), .waitingForConnectivity(let call): take(call)
                @unknown default: take(event)
                }
            }
        }

        @Test(
            "C53: events, states, errors, descriptions and dumps contain no token", arguments: Wire.allCases,
            Dialect.allCases)
        func everySink(wire: Wire, dialect: Dialect) async throws {
            // One dialect is enough for opaque tokens: they are the same in all of them.
            for isOpaque in dialect == .envelope ? [false, true] : [false] {
                let setup = Setup.all.first { $0.dialect == dialect } ?? .envelope
                let sinks = Sinks()
                let flow = try await SecretFlow.run(setup, over: wire, into: sinks, opaqueTokens: isOpaque)
                #expect(flow.tokens.count >= 4, "too few tokens to search for")
                let text = sinks.all
                for seen in [
                    "call started", "redirected", "attempt failed", "call finished", "refreshSucceeded",
                ] {
                    #expect(text.contains { $0.contains(seen) }, "\(seen) was not recorded")
                }
                let everything = Data(text.joined(separator: "\n").utf8)
                let leaked = flow.tokens.filter { everything.range(of: Data($0.utf8)) != nil }
                // Report each line once, with the token masked, so that the failure can be shown.
                let leaks = leaked.isEmpty ? [] : Self.lines(of: text, with: leaked)
                #expect(leaks.sorted() == [])
            }
        }

        @Test("C53: the search finds a token planted in any log")
        func planted() async throws {
            try await App.run(.envelope, over: .asyncHTTPClient) { app in
                try await app.signUp()
                try await app.tokens.refresh()
                let issued = app.controls.issuedTokens
                #expect(issued.count == 4)
                #expect(await issued.contains(try #require(app.stored).tokens.accessToken.reveal()))
                for token in issued {
                    for name in LogSinks.Name.allCases {
                        let sinks = LogSinks()
                        sinks.take("GET /me?t=\(token)", as: name)
                        #expect(sinks.leaks(of: issued) == ["\(name): GET /me?t=TOKEN"])
                        #expect(sinks.leaks(of: issued.subtracting([token])) == [])
                    }
                }
            }
        }

        private static func lines(of text: [String], with tokens: Set<String>) -> Set<String> {
            var found: Set<String> = []
            for line in text.flatMap({ $0.split(separator: "\n") }) {
                guard let token = tokens.first(where: { line.contains($0) }) else { continue }
                found.insert(String(line.replacing(token, with: "TOKEN")))
            }
            return found
        }
    }
}

/// Runs a session from sign-in to sign-out with failures of every kind.
private struct SecretFlow {
    /// Every token that the backend issued.
    let tokens: Set<String>

    /// Decodes the token as a date, so that the decoding error quotes it.
    private struct Misread: Decodable, Sendable {
        let token: Date
    }

    static func run(_ setup: Setup, over wire: Wire, into sinks: EndToEnd.SecretsTests.Sinks, opaqueTokens: Bool)
        async throws
        -> SecretFlow
    {
        var tokens: Set<String> = []
        try await App.run(setup, over: wire) { outer in
            outer.controls.update { $0.opaqueAccessTokens = opaqueTokens }
            let store = RecordingStore(AnyTokenStore.file(path: outer.storePath))
            let traffic = RecordingTransport(try wire.transport(), keepsResponses: true)
            let app = try App(
                setup, on: outer.backend, over: wire, storePath: outer.storePath, store: store, traffic: traffic,
                sinks: outer.sinks
            ) { $0.observers.append(sinks) }
            let events = app.tokens.events
            sinks.take(app.tokens, app.client, store)

            try await app.signUp()
            sinks.take(app.tokens.state, await app.stored as Any)
            try await app.controls.expireAccessTokens()
            _ = await app.burst(3)
            let current = try await app.tokens.validTokens()
            let token = current.accessToken
            sinks.take(token, current, app.tokens.currentTokens as Any)
            await provoke(app, token.reveal(), sinks)
            await refreshBadly(app, token.reveal(), sinks)
            try await app.controls.expireAccessTokens()
            try await app.controls.revokeSessions()
            for result in await app.burst(3) { sinks.take(result) }
            sinks.take(app.tokens.state)
            try await app.signUp(email: "again@example.org")
            app.controls.inject("POST /auth/logout", .respond(.init(503, body: "no: \(token.reveal())")))
            app.controls.inject("POST /oauth/revoke", .respond(.init(503, body: "no: \(token.reveal())")))
            await app.tokens.signOut()
            for event in await events.upTo({ $0 == .revoked }) { sinks.take(event) }

            tokens = store.writtenTokens.union(traffic.responses.flatMap(Self.tokens))
            #expect(outer.sinks.silent.isEmpty)
            await traffic.shutdown()
        }
        return SecretFlow(tokens: tokens)
    }

    /// Makes calls that fail in every way that could reveal the token of a request or a response.
    private static func provoke(_ app: App, _ token: String, _ sinks: EndToEnd.SecretsTests.Sinks) async {
        let quotes = [
            #"{"code": "X", "success": false, "message": "\#(token) is bad", "errors": ["\#(token)"], "data": null}"#,
            "Bearer \(token)", "<p>\(token)</p>", #"{"token": "\#(token)"}"#,
        ]
        for quote in quotes {
            for (status, type) in [(400, "application/json"), (403, "application/problem+json"), (500, "text/plain")] {
                app.controls.inject("GET /feed", .respond(.init(status, body: quote, contentType: type)))
                await fail(app, AnyCall.get("/feed"), as: User.self, sinks)
            }
            app.controls.inject("GET /feed", .respond(.init(200, body: quote)))
            await fail(app, AnyCall.get("/feed"), as: User.self, sinks)
        }
        await fail(app, AnyCall.get("/_control/echo"), as: User.self, sinks)
        for body in [#"{"token": "\#(token)"}"#, #"{"success": true, "data": {"token": "\#(token)"}}"#] {
            app.controls.inject("GET /feed", .respond(.init(200, body: body)))
            await fail(app, AnyCall.get("/feed"), as: Misread.self, sinks)
        }
        await fail(app, AnyCall.get("/me", query: ["access_token": token]), as: [Int].self, sinks)
        await fail(
            app, AnyCall.get("/_control/redirect", query: ["to": "/me?access_token=\(token)"]), as: [Int].self, sinks)
        await fail(
            app, AnyCall.get("/_control/redirect", query: ["to": "ftp://host/?access_token=\(token)"]), as: User.self,
            sinks)
        app.controls.inject("GET /feed", .dropConnection)
        await fail(app, AnyCall.get("/feed"), as: User.self, sinks)
        await fail(app, AnyCall(path: "/feed", headers: [.authorization: "Bearer \(token)"]), as: [Int].self, sinks)
        await fail(app, AnyCall.post("/articles", .json(["title": 7])), as: User.self, sinks)
    }

    /// Makes a refresh whose response is invalid and contains the token.
    private static func refreshBadly(_ app: App, _ token: String, _ sinks: EndToEnd.SecretsTests.Sinks) async {
        let endpoint: RequestPattern =
            switch app.setup.dialect {
            case .oauth2: "/oauth/token"
            case .reissue: "/auth/reissue"
            case .envelope, .header, .legacy419, .cookie: "/auth/refresh"
            }
        app.controls.inject(endpoint, .respond(.init(503, body: "Bearer \(token)", contentType: "text/plain")))
        do throws(SessionError) {
            try await app.tokens.refresh()
            Issue.record("a refresh that failed did not say so")
        } catch {
            sinks.take(error)
        }
    }

    private static func fail<Value: Decodable & Sendable>(
        _ app: App, _ call: AnyCall, as type: Value.Type, _ sinks: EndToEnd.SecretsTests.Sinks
    ) async {
        do throws(NetworkError) {
            _ = try await app.client.send(call, as: type)
            Issue.record("\(call.path) did not fail")
        } catch {
            sinks.take(error)
            if let response = error.response { sinks.take(response) }
            if case .api(_, let refusal) = error { sinks.take(refusal, refusal.errors) }
        }
    }

    /// The tokens in a response's fields and body.
    private static func tokens(in response: String) -> [String] {
        let named = #/"(?:accessToken|refreshToken|access_token|refresh_token|token)"\s*:\s*"([^"]{8,})"/#
        let cookie = #/refresh_token=([^;]{8,})/#
        return response.matches(of: named).map { String($0.1) } + response.matches(of: cookie).map { String($0.1) }
    }
}
