import Foundation
import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

@Suite("Cookies that a server deletes", .timeLimit(.minutes(10))) struct CookieDeletionTests {
    @Test("an expired cookie does not displace a live one") func eviction() async throws {
        let live = (0..<100).map { "c\($0)=1; Path=/" }
        let dead = (0..<10).map { "d\($0)=; Path=/; Max-Age=0" }
        var head = HTTPFields()
        for cookie in live + dead { head.append(HTTPField(name: .setCookie, value: cookie)) }
        let transport = StubTransport { [head] request in
            request.number == 1 ? .status(200, headers: head) : .status(200)
        }
        let client = client(transport) { $0.cookies = CookieJar() }
        _ = try await client.text(Visit("/a"))
        _ = try await client.text(Visit("/a"))
        let count = transport.requests.last?.headers[.cookie]?.split(separator: ";").count
        #expect(count == 100)
    }

    @Test("the cookie that was unused the longest makes room, and a secure one last", arguments: [false, true])
    func leastUsed(isSecure: Bool) async throws {
        let session = "sid=1; Path=/" + (isSecure ? "; Secure" : "")
        let transport = StubTransport { request in
            guard request.number > 1 else { return .status(200, headers: [.setCookie: session]) }
            var head: HTTPFields = [.setCookie: "old\(request.number)=1; Path=/old"]
            if !isSecure { head.append(HTTPField(name: .setCookie, value: session)) }
            return .status(200, headers: head)
        }
        let client = client(transport) { $0.cookies = CookieJar() }
        for _ in 1...250 { _ = try await client.text(Visit("/other")) }
        #expect(transport.requests.last?.headers[.cookie] == "sid=1")
        _ = try await client.text(Visit("/old"))
        #expect(transport.requests.last?.headers[.cookie]?.split(separator: ";").count == 100)
    }

    @Test("a cookie that the response to a sign-in deletes is not sent in its session") func deletedBySignIn()
        async throws
    {
        let app = App {
            $0.cookies = CookieJar()
            $0.observers = []
        }
        let signedIn = app.backend.issue()
        app.backend.beforeCall { request in
            switch request.path {
            case "/": return .status(200, headers: [.setCookie: "pre=1; Path=/"])
            case "/login":
                var head: HTTPFields = [.setCookie: "pre=; Path=/; Max-Age=0"]
                head.append(HTTPField(name: .setCookie, value: "sid=ada; Path=/"))
                let tokens = #"{"accessToken":"\#(signedIn.accessToken.reveal())","refreshToken":"r"}"#
                return StubTransport.Response(200, headers: head, body: Data(tokens.utf8))
            default: return .status(200)
            }
        }
        await app.tokens.restore()
        _ = try await app.client.text(Visit("/", .get, .none))
        try await app.client.signIn(Visit("/login", .post), as: NoContent.self)
        _ = try await app.client.text(Visit("/x"))
        #expect(app.transport.requests(to: "/login").map { $0.headers[.cookie] } == ["pre=1"])
        #expect(app.transport.requests(to: "/x").map { $0.headers[.cookie] } == ["sid=ada"])
    }

    @Test("a deleted refresh cookie of another path is no refresh token") func deletedCookie() {
        var headers: HTTPFields = [.setCookie: "refresh=new; Path=/; HttpOnly"]
        headers.append(HTTPField(name: .setCookie, value: "refresh=; Path=/auth; Max-Age=0"))
        #expect(SetCookie.value(of: "refresh", in: headers)?.reveal() == "new")
        headers = [.setCookie: "refresh=new; Path=/; HttpOnly"]
        headers.append(
            HTTPField(
                name: .setCookie, value: "refresh=deleted; expires=Thu, 01-Jan-1970 00:00:01 GMT; Max-Age=0; path=/auth"
            ))
        #expect(SetCookie.value(of: "refresh", in: headers)?.reveal() == "new")
    }

    @Test("an expired secure cookie protects nothing") func expiredSecure() async throws {
        let time = ManualTimeSource()
        let transport = StubTransport { request in
            switch request.number {
            case 1: .status(200, headers: [.setCookie: "a=1; Secure; Path=/; Max-Age=5"])
            case 2: .status(200, headers: [.setCookie: "a=2; Path=/"])
            default: .status(200)
            }
        }
        let client = client(transport) {
            $0.cookies = CookieJar()
            $0.time = time
            $0.allowsInsecureHTTP = true
        }
        _ = try await client.text(Visit("https://api.example.com/x"))
        time.advance(by: .seconds(10))
        _ = try await client.text(Visit("http://api.example.com/x"))
        _ = try await client.text(Visit("http://api.example.com/x"))
        #expect(transport.requests.last?.headers[.cookie] == "a=2")
    }

    @Test(
        "a refresh whose response also deletes an old cookie of the same name keeps the session",
        arguments: ["", "deleted"])
    func cookieRefresh(deleted: String) async throws {
        let transport = StubTransport { request in
            guard request.path == "/auth/refresh" else { return .status(200) }
            // The server rotates refresh tokens: each may be spent once.
            let spent = request.headers[.cookie] ?? ""
            let number = Int(spent.drop { !$0.isNumber }) ?? -1
            guard spent.hasPrefix("refresh_token=r"), number >= 0, request.number == number + 1 else {
                return .json(#"{"error":"reused"}"#, status: 401)
            }
            var fields: HTTPFields = [.setCookie: "refresh_token=r\(number + 1); Path=/auth/refresh; HttpOnly; Secure"]
            fields.append(
                HTTPField(
                    name: .setCookie,
                    value: "refresh_token=\(deleted); Path=/; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT"))
            return .json(#"{"accessToken":"a\#(number + 1)","expiresIn":3600}"#, headers: fields)
        }
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory, refresher: .cookie(path: "/auth/refresh"),
            transport: transport, time: ManualTimeSource())
        try await tokens.signIn(with: Tokens(accessToken: "a0", refreshToken: "r0", lifetime: .seconds(3600)))
        _ = try await tokens.refresh()
        _ = try? await tokens.refresh()
        #expect(transport.requests.map { $0.headers[.cookie] } == ["refresh_token=r0", "refresh_token=r1"])
        if case .signedIn = tokens.state {} else { Issue.record("\(tokens.state)") }
    }
}
