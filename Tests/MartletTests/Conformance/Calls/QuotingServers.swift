import Foundation
import MartletTesting
import Testing

@testable import Martlet

/// A token as it appears in a path.
struct Token: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let text: String

    static let all = [
        Token(
            testDescription: "a JWT",
            text:
                "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"),
        Token(testDescription: "43 characters of base64url", text: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
        Token(testDescription: "32 hex digits", text: "9f86d081884c7d659a2feaa0c55ad015"),
        Token(testDescription: "percent-encoded base64", text: "k3Jd9fKq27%2FLmZx81Vb%2B0TqW5s%3D"),
        Token(testDescription: "a percent-encoded JWT", text: "%65yJhbGciOiJIUzI1NiJ9%2EeyJzdWIiOiIxIn0%2Edozjg"),
    ]

    var decoded: String { PercentEncoding.decode(text) }
}

/// Collects everything that comes out of calls and sessions.
final class Output: NetworkObserver {
    private let token: Token
    private let collected = Locked<Set<String>>([])

    init(_ token: Token) {
        self.token = token
    }

    var texts: Set<String> { collected.withLock { $0 } }

    /// Adds a value and, of an error, the texts that an app may show in place of the description.
    func add(_ value: some Sendable) {
        show(value)
        if let error = value as? NetworkError { addParts(of: error) }
        if let error = value as? NetworkError? { error.map(addParts) }
    }

    /// Adds what `print`, `debugPrint` and `dump` show of a value.
    func show(_ value: some Sendable) {
        var dumped = ""
        dump(value, to: &dumped)
        let texts = [String(describing: value), String(reflecting: value), dumped]
        collected.withLock { $0.formUnion(texts) }
    }

    private func addParts(of error: NetworkError) {
        add(error.call)
        switch error {
        case .cannotConnect(_, let text), .connectionLost(_, let text), .tlsFailed(_, let text),
            .invalidRequest(_, let text), .insecureURL(_, let text), .invalidResponse(_, let text):
            add(text)
        case .decoding(_, let error): add(error)
        case .api(_, let error): add(error)
        case .refreshFailed(_, let error, _): add(error)
        case .downloadFailed(_, let error): add("\(error)")
        default: break
        }
        if let response = error.response { add(response) }
    }

    func expectNoToken() {
        let leaks = texts.filter { $0.contains(token.text) || $0.contains(token.decoded) }
        #expect(leaks.isEmpty, "\(leaks.count) of \(texts.count): \(leaks.sorted().prefix(5))")
        #expect(texts.contains { $0.contains("<redacted>") })
    }

    func observe(_ event: CallEvent) {
        add(event.call)
        switch event {
        case .redirected(_, let url): add(url)
        case .received(_, let response):
            add(response)
            add(response.bodyText() ?? "")
        case .attemptFailed(_, let error), .retrying(_, _, let error), .streamBroke(_, let error): add(error)
        case .finished(_, let result): add(result)
        case .started, .attemptStarted, .waitingForConnectivity: break
        }
    }
}

/// A GET request whose `Referer` names a page.
struct Quoting: APIEndpoint {
    let path: RequestPath
    var referer: String
    var headers: HTTPFields { referer.isEmpty ? [:] : [.referer: referer] }

    init(path: String, referer: String = "") {
        self.path = RequestPath(setting: path)
        self.referer = referer
    }
}

/// An error whose description quotes a URL.
private struct QuotingError: Error, CustomStringConvertible {
    let description: String
}

/// A transport that responds with a closure, which also chooses the reason phrase.
private struct Server: Transport {
    let respond: @Sendable (_ url: String) throws -> (head: HTTPResponse, body: ByteStream)

    func send(
        _ request: HTTPRequest, body: OutgoingBody?
    ) async throws -> (head: HTTPResponse, body: ByteStream) {
        try respond("\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "")")
    }
}

/// Servers that fail in every way, and quote the URL and the token wherever they can.
func servers(quoting token: Token) -> [any Transport] {
    @Sendable func response(
        _ status: Int, _ fields: HTTPFields = [:], _ body: String = ""
    ) -> (head: HTTPResponse, body: ByteStream) {
        (HTTPResponse(status: .init(code: status), headerFields: fields), ByteStream(Data(body.utf8)))
    }
    let reasons: [@Sendable (String) -> any Error] = [
        { TransportError.cannotConnect("GET \($0) failed") }, { TransportError.connectionLost("GET \($0) failed") },
        { TransportError.tlsFailed("\($0): expired") }, { TransportError.invalidResponse("<\($0)>") },
        { TransportError.invalidRequest("\"\($0)\" is not a URL") }, { _ in TransportError.offline },
        { TransportError.bodyFailed(QuotingError(description: "no body for \($0)")) }, { _ in TransportError.timedOut },
        { QuotingError(description: "\($0) does not work") },
    ]
    let locations = [
        token.text, "/next/\(token.text)", "https://files.example.net/\(token.text)?next=/\(token.text)",
        "http://files.example.net/\(token.text)", "ftp://files.example.net/\(token.text)",
        "https://exa mple/\(token.text)", "https://ada:pw@files.example.net/\(token.text)",
        "https://files.example.net:99999/\(token.text)",
    ]
    let quoting: @Sendable (String) -> String = { #"{"code":"gone","message":"nothing at \#($0)","path":"\#($0)"}"# }
    return reasons.map { reason in Server { throw reason($0) } }
        + locations.map { location in Server { _ in response(302, [.location: location]) } } + [
            Server { response(404, [:], "nothing at \($0)") },
            Server { response(500, [.contentType: "application/problem+json"], quoting($0)) },
            Server { response(401, [.contentType: "application/json"], quoting($0)) },
            Server { response(200, [.contentType: "application/json"], quoting($0)) },
            Server { response(200, [.contentType: "application/json"], #"{"\#($0)":"\#($0)"}"#) },
            Server { url in
                (HTTPResponse(status: .init(code: 410, reasonPhrase: "\(url) is gone")), ByteStream(Data()))
            },
            Server { url in
                let head = HTTPResponse(status: .init(code: 200))
                return (head, ByteStream.singlePass { { throw TransportError.connectionLost("\(url) broke off") } })
            },
        ]
}
