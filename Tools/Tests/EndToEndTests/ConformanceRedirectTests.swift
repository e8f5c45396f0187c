internal import Foundation
internal import Martlet
internal import ReferenceBackend
internal import Testing

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

extension EndToEnd {
    @Suite("Conformance over the wire: redirects and origins", .timeLimit(.minutes(10)))
    struct ConformanceRedirectTests {
        static let codes = [301, 302, 303, 307, 308]

        /// Adds an API key to requests, as an app's interceptor would.
        struct APIKey: RequestInterceptor {
            func adapt(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
                guard let name = HTTPField.Name("X-Example") else { return }
                request.headerFields.setSensitive("example-key", for: name)
            }
        }

        @Test(
            "C31: a redirect to another origin carries no token, no key and no cookie", arguments: Wire.allCases, codes)
        func crossOrigin(wire: Wire, code: Int) async throws {
            try await App.run(.reissue, over: wire, configure: { $0.interceptors = [APIKey()] }) { app in
                try await app.signUp()
                try await ReferenceBackend.withRunning(.testing(.reissue)) { other in
                    for method in [HTTPRequest.Method.get, .post] {
                        var call = app.redirect(code, to: other.baseURL + "/_control/echo", method)
                        call.headers = [.cookie: "taste=sweet", .acceptLanguage: "tlh"]
                        let echo: Echo = try await app.client.send(call)
                        for name in ["authorization", "x-example", "cookie"] { #expect(echo.header(name) == nil) }
                        #expect(echo.header("accept-language") == "tlh")
                        #expect(other.controls.counters.reuseDetected == 0)
                    }
                }
            }
        }

        @Test("With the delegate of the article, a URLSession keeps the token within its origin", arguments: codes)
        func clientOfTheApp(code: Int) async throws {
            try await App.run(.reissue, over: .urlSession) { app in
                try await app.signUp()
                let token = try await app.tokens.validTokens().accessToken.reveal()
                let session = URLSession(
                    configuration: .ephemeral, delegate: RedirectGuard(tokens: app.tokens), delegateQueue: nil)
                defer { session.invalidateAndCancel() }
                try await ReferenceBackend.withRunning(.testing(.reissue)) { other in
                    for (target, field) in [("", "Bearer \(token)"), (other.baseURL, nil)] {
                        var url = try #require(URLComponents(string: app.backend.baseURL + "/_control/redirect"))
                        url.queryItems = [
                            URLQueryItem(name: "to", value: target + "/_control/echo"),
                            URLQueryItem(name: "status", value: "\(code)"),
                        ]
                        var request = URLRequest(url: try #require(url.url))
                        try await app.tokens.sign(&request)
                        let (body, _) = try await session.data(for: request)
                        let echo = try JSONDecoder().decode(Echo.self, from: body)
                        #expect(echo.header("authorization") == field)
                    }
                }
            }
        }

        @Test("C31: a 401 from another origin does not refresh the token", arguments: Wire.allCases)
        func foreignRefusal(wire: Wire) async throws {
            try await App.run(.reissue, over: wire) { app in
                try await app.signUp()
                try await ReferenceBackend.withRunning(.testing(.reissue)) { other in
                    let error = try await app.failure(of: app.redirect(307, to: other.baseURL + "/me", .get))
                    #expect(error.response?.status == 401)
                    #expect(app.counters.refreshesCalled == 0 && app.tokens.state.isSignedIn)
                }
            }
        }

        @Test("C32: a redirect within the origin keeps the token and the key", arguments: Wire.allCases, codes)
        func sameOrigin(wire: Wire, code: Int) async throws {
            try await App.run(.reissue, over: wire, configure: { $0.interceptors = [APIKey()] }) { app in
                try await app.signUp()
                let token = try await app.tokens.validTokens().accessToken.reveal()
                let echo: Echo = try await app.client.send(app.redirect(code, to: "/_control/echo", .get))
                #expect(echo.header("authorization") == "Bearer \(token)")
                #expect(echo.header("x-example") == "example-key")
            }
        }

        @Test("C33: a redirect from https to http is refused", arguments: Limitation.trustingAnAuthority.wires, codes)
        func downgrade(wire: Wire, code: Int) async throws {
            try await App.run(.reissue, over: wire, backend: { $0.tls = .selfSigned }) { app in
                try await app.signUp()
                try await ReferenceBackend.withRunning(.testing(.reissue)) { plain in
                    let call = app.redirect(code, to: plain.baseURL + "/_control/echo", .get)
                    guard case .insecureURL(_, let url) = try await app.failure(of: call) else {
                        return #expect(Bool(false), "not refused")
                    }
                    #expect(url.hasPrefix(plain.baseURL))
                    #expect(plain.controls.counters.connectionsAccepted == 0)
                }
            }
        }

        @Test("C34: 307 and 308 send a POST again unchanged", arguments: Wire.allCases, [307, 308])
        func bodyKept(wire: Wire, code: Int) async throws {
            try await App.run(.reissue, over: wire) { app in
                var call = app.redirect(code, to: "/_control/echo", .post)
                call.body = .json(["name": "Wren"])
                let echo: Echo = try await app.client.send(call)
                #expect(echo.method == "POST" && echo.bodyText == #"{"name":"Wren"}"#)
                #expect(echo.header("content-type") == "application/json")
            }
        }

        @Test("C34: 301, 302 and 303 turn a POST into a GET without a body", arguments: Wire.allCases, [301, 302, 303])
        func bodyDropped(wire: Wire, code: Int) async throws {
            try await App.run(.reissue, over: wire) { app in
                var call = app.redirect(code, to: "/_control/echo", .post)
                call.body = .json(["name": "Wren"])
                let echo: Echo = try await app.client.send(call)
                #expect(echo.method == "GET" && echo.bodyLength == 0)
                #expect(echo.header("content-type") == nil)
            }
        }

        @Test("C35: a 401 with a Basic challenge is a response", arguments: Wire.allCases)
        func basicChallenge(wire: Wire) async throws {
            try await App.run(.reissue, over: wire) { app in
                var call = AnyCall.get("/_control/basic-challenge")
                call.timeout = .seconds(20)
                guard case .unauthorized(_, let response) = try await app.failure(of: call) else {
                    return #expect(Bool(false), "not the server's 401")
                }
                #expect(response.headers[.wwwAuthenticate] == "Basic realm=\"martlet\"")
                #expect(String(decoding: response.body, as: UTF8.self) == "Who are you?")
            }
        }

        @Test("C36: an absolute URL of another origin gets no token", arguments: Wire.allCases)
        func thirdParty(wire: Wire) async throws {
            try await App.run(.reissue, over: wire) { app in
                try await app.signUp()
                try await ReferenceBackend.withRunning(.testing(.reissue)) { other in
                    let theirs: Ping = try await app.client.send(AnyCall.get(.absolute(other.baseURL + "/public/ping")))
                    #expect(!theirs.authorizationSeen)
                    let ours: Ping = try await app.client.send(
                        AnyCall.get(.absolute(app.backend.baseURL + "/public/ping")))
                    #expect(ours.authorizationSeen)
                }
            }
        }

        @Test("A redirect loop ends", arguments: Wire.allCases)
        func circle(wire: Wire) async throws {
            try await App.run(.reissue, over: wire) { app in
                app.controls.inject("GET /feed", .respond(.redirect(to: "/feed")), times: nil)
                guard case .tooManyRedirects(_, let limit) = try await app.failure(of: AnyCall.get("/feed")) else {
                    return #expect(Bool(false), "not tired")
                }
                #expect(app.counters["GET /feed"] == limit + 1)
            }
        }
    }
}

/// The delegate of <doc:KeepingTheClientYouHave#Redirects>.
private final class RedirectGuard: NSObject, URLSessionTaskDelegate {
    private let tokens: TokenManager

    init(tokens: TokenManager) {
        self.tokens = tokens
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(tokens.redirected(task.originalRequest, by: response, to: request))
    }
}

extension App {
    /// A call to which the backend responds with a redirect.
    fileprivate func redirect(_ code: Int, to target: String, _ method: HTTPRequest.Method) -> AnyCall {
        AnyCall(method: method, path: "/_control/redirect", query: ["status": code, "to": target])
    }
}
