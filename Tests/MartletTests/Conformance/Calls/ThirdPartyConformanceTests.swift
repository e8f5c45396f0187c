import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("Conformance: header fields and third parties", .timeLimit(.minutes(10))) struct ThirdPartyConformanceTests {
    @Test("C73: the client's header fields go to the base URL and to trusted origins, and not to a third party")
    func clientFields() async throws {
        let transport = StubTransport { _ in .status(204) }
        let tokens = TokenManager(
            baseURL: "https://api.example.com/v1", store: .inMemory, refresher: .json(path: "/auth/refresh"),
            trustedOrigins: try [#require(Origin("https://media.example.com"))], transport: transport,
            time: ManualTimeSource())
        let signedIn = NetworkClient(
            tokens: tokens, config: config { $0.headers = [.apiKey: "k", .accept: "text/csv"] })
        let open = client(transport) { $0.headers = [.apiKey: "k", .accept: "text/csv"] }
        let trusted = [(signedIn, "/a"), (signedIn, "https://media.example.com/a"), (open, "/a")]
        for (client, path) in trusted {
            try await client.send(Plain(path: path))
            #expect(transport.requests.last?.headers[.apiKey] == "k", "\(path)")
            #expect(transport.requests.last?.headers[.accept] == "text/csv", "\(path)")
        }
        let foreign = [
            (signedIn, thirdParty), (open, thirdParty), (open, "https://media.example.com/a"),
            (open, "https://api.example.com:444/a"),
        ]
        for (client, path) in foreign {
            try await client.send(Plain(path: path))
            #expect(transport.requests.last?.headers[.apiKey] == nil, "\(path)")
            // The pipeline's own default, not the client's value.
            #expect(transport.requests.last?.headers[.accept] == "application/json", "\(path)")
            #expect(try !client.curlCommand(for: Plain(path: path)).lowercased().contains("x-api-key"))
        }
    }

    @Test("C73: a base URL over plain HTTP gets the client's header fields if it is allowed") func insecureBase()
        async throws
    {
        let transport = StubTransport { _ in .status(204) }
        let tokens = TokenManager(
            baseURL: "http://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"),
            transport: transport, time: ManualTimeSource())
        let client = NetworkClient(
            tokens: tokens,
            config: config {
                $0.headers = [.apiKey: "k"]
                $0.allowsInsecureHTTP = true
            })
        try await client.send(Plain(path: "/a"))
        #expect(transport.requests.last?.headers[.apiKey] == "k")
    }

    @Test("C73: header fields of an interceptor do not go to a third party", arguments: Phase.allCases)
    func interceptorFields(phase: Phase) async throws {
        let transport = StubTransport { _ in .status(204) }
        let client = client(transport) {
            $0.headers = [.apiKey: "client"]
            $0.interceptors = [
                Changing(phase: phase) { request in
                    request.headerFields[.apiKey] = "interceptor"
                    request.headerFields[.acceptLanguage] = "de"
                    request.headerFields[.userAgent] = nil
                }
            ]
        }
        let headers: HTTPFields = [.acceptLanguage: "en", .userAgent: "app"]
        try await client.send(Plain(path: thirdParty, headers: headers))
        let foreign = try #require(transport.requests.last)
        #expect(foreign.headers[.apiKey] == nil)
        #expect(foreign.headers[.acceptLanguage] == "en")
        #expect(foreign.headers[.userAgent] == nil)

        try await client.send(Plain(path: "/a", headers: headers))
        let ours = try #require(transport.requests.last)
        #expect(ours.headers[.apiKey] == "interceptor")
        #expect(ours.headers[.acceptLanguage] == "de")
        #expect(ours.headers[.userAgent] == nil)
    }

    @Test("C73: the endpoint's own header fields and those of the pipeline go to a third party")
    func endpointFields() async throws {
        let transport = StubTransport { _ in Response.status(200, headers: [.contentLength: "0"]) }
        let client = client(transport) {
            $0.headers = [.apiKey: "client", .contentType: "text/csv"]
            $0.interceptors = [Changing(phase: .adapt) { $0.headerFields[.apiKey] = "interceptor" }]
        }
        let headers: HTTPFields = [.apiKey: "endpoint"]
        _ = try await client.data(for: Plain(path: thirdParty, method: .post, headers: headers, body: .text("x")))
        let sent = try #require(transport.requests.last)
        #expect(sent.headers[.apiKey] == "endpoint")
        #expect(sent.headers[.contentType]?.hasPrefix("text/plain") == true)

        try await TemporaryFolder.with { folder in
            _ = try await client.download(Plain(path: thirdParty), to: folder.path + "/file")
        }
        #expect(transport.requests.last?.headers[.acceptEncoding] == "identity")
    }

    @Test(
        "C73: an interceptor that sends a request to a third party adds its own header fields and drops the others",
        arguments: Phase.allCases, Phase.allCases)
    func movedRequests(moves: Phase, adds: Phase) async throws {
        let transport = StubTransport { _ in .status(204) }
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"),
            transport: transport, time: ManualTimeSource())
        try await tokens.signIn(with: .fresh())
        let client = NetworkClient(
            tokens: tokens,
            config: config {
                $0.headers = [.apiKey: "client", .acceptLanguage: "de"]
                $0.interceptors = [
                    Changing(phase: adds) { $0.headerFields[.via] = "before" },
                    Changing(phase: moves) { request in
                        request.authority = "mirror.example.net"
                        request.headerFields[.mirrorKey] = "m"
                        request.headerFields[.authorization] = "Basic bWlycm9y"
                    },
                    Changing(phase: adds) { $0.headerFields[.from] = "after" },
                ]
            })
        try await client.send(
            Plain(path: "/a", method: .post, headers: [.acceptLanguage: "en"], body: .text("x"), .ifSignedIn))
        let sent = try #require(transport.requests.last)
        #expect(sent.request.authority == "mirror.example.net")
        #expect(sent.headers[.apiKey] == nil)
        #expect(sent.headers[.via] == nil)
        #expect(sent.headers[.from] == nil)
        #expect(sent.headers[.mirrorKey] == "m")
        #expect(sent.headers[.authorization] == "Basic bWlycm9y")
        #expect(sent.headers[.acceptLanguage] == "en")
        #expect(sent.headers[.accept] == "application/json")
        #expect(sent.headers[.contentType]?.hasPrefix("text/plain") == true)
    }

    @Test("C73: fields that an interceptor has prepared go along if it sends the request to a third party later")
    func preparedBeforeMove() async throws {
        /// Adds a field in one hook, and sends the request elsewhere in the next.
        struct Mirroring: RequestInterceptor {
            func prepare(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
                request.headerFields[.mirrorKey] = "m"
            }
            func adapt(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
                request.authority = "mirror.example.net"
            }
        }
        let transport = StubTransport { _ in .status(204) }
        let client = client(transport) {
            $0.interceptors = [
                Changing(phase: .prepare) { $0.headerFields[.via] = "before" }, Mirroring(),
                Changing(phase: .prepare) { $0.headerFields[.from] = "after" },
            ]
        }
        try await client.send(Plain(path: "/a"))
        let sent = try #require(transport.requests.last)
        #expect(sent.request.authority == "mirror.example.net")
        #expect(sent.headers[.mirrorKey] == "m")
        #expect(sent.headers[.via] == nil)
        #expect(sent.headers[.from] == nil)
    }

    @Test("C73: an interceptor that sends a request to a third party does not take the token along in another form")
    func reformattedToken() async throws {
        let app = try await App.signedIn {
            $0.interceptors = [
                Changing(phase: .adapt) { request in
                    request.authority = "mirror.example.net"
                    let token = request.headerFields[.authorization]?.dropFirst("Bearer ".count)
                    request.headerFields[.authorization] = token.map { "Token \($0)" }
                }
            ]
        }
        _ = await app.call()
        let sent = try #require(app.transport.requests.last)
        #expect(sent.request.authority == "mirror.example.net")
        #expect(sent.headers[.authorization] == nil)
    }
}

private typealias Response = StubTransport.Response

private let thirdParty = "https://files.example.net/a"

/// The hook in which an interceptor changes a request.
enum Phase: CaseIterable {
    case prepare, adapt
}

/// Changes requests in one of the two hooks.
private struct Changing: RequestInterceptor {
    let phase: Phase
    let change: @Sendable (inout HTTPRequest) -> Void

    func prepare(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
        if phase == .prepare { change(&request) }
    }

    func adapt(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
        if phase == .adapt { change(&request) }
    }
}

private struct Plain: APIEndpoint {
    let path: RequestPath
    var method: HTTPRequest.Method
    var headers: HTTPFields
    var body: RequestBody?
    var authentication: AuthenticationRequirement

    init(
        path: String, method: HTTPRequest.Method = .get, headers: HTTPFields = [:], body: RequestBody? = nil,
        _ authentication: AuthenticationRequirement = .none
    ) {
        self.path = RequestPath(setting: path)
        self.method = method
        self.headers = headers
        self.body = body
        self.authentication = authentication
    }
}

extension HTTPField.Name {
    fileprivate static let apiKey = HTTPField.Name("X-Api-Key") ?? .server
    fileprivate static let mirrorKey = HTTPField.Name("X-Mirror-Key") ?? .vary
    fileprivate static let from = HTTPField.Name("From") ?? .upgrade
}
