import Foundation
import MartletGuests
import MartletTesting
import Testing

@testable import Martlet

@Suite("The request of a sign-in", .timeLimit(.minutes(10))) struct SignInTests {
    @Test("a cancelled guest registration sends nothing") func cancelledGuest() async throws {
        let app = App()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await error { try await GuestAuthService(app.client).register(name: "Ada") }
        }
        #expect(await task.value?.isCancelled == true)
        #expect(app.transport.requests.isEmpty)
    }

    @Test("a sign-in that a sign-out overtakes while it is saved says so") func overtakenBySignOut() async throws {
        let (store, gate) = (FailingTokenStore(), Gate())
        store.hold(.write, at: gate)
        let app = App(store: store)
        await app.tokens.restore()
        let signIn = Task { try await app.tokens.signIn(with: app.backend.issue()) }
        await gate.waitForArrivals()
        let signOut = Task { await app.tokens.signOut() }
        while app.tokens.state != .signedOut || app.tokens.epoch < 2 { await Task.yield() }
        gate.open()
        await #expect(throws: SessionError.sessionChanged) { try await signIn.value }
        await signOut.value
        #expect(app.tokens.state == .signedOut)
    }

    @Test("a session that the server has ended is not replaced automatically") func expiredSession() async throws {
        let log = Log()
        let app = try await App.signedIn { $0.automaticSignIn = { _ in log.add("signs in") } }
        app.backend.invalidateAccessTokens()
        app.backend.revokeSession()
        for _ in 1...2 {
            guard case .sessionExpired = await app.call().error else {
                Issue.record("the call did not fail with the end of its session")
                return
            }
        }
        #expect(log.lines == [])
    }

    @Test("a sign-in carries no token of the previous user, and interceptors see its endpoint")
    func signInIsUnsigned() async throws {
        struct Login: APIEndpoint { let path: RequestPath = "/public/login" }
        struct EndpointLog: RequestInterceptor {
            let log: Log
            func adapt(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
                log.add("\(type(of: context.endpoint))")
            }
        }
        let log = Log()
        let app = try await App.signedIn { $0.interceptors = [EndpointLog(log: log)] }
        app.backend.beforeCall { _ in .json(#"{"accessToken":"next"}"#) }
        let _: NoContent = try await app.client.signIn(Login())
        #expect(app.transport.requests.last { $0.path != "/auth/logout" }?.headers[.authorization] == nil)
        #expect(log.lines == ["Login"])
    }

    private struct User: Decodable, Sendable { var name: String }
    private struct Login: APIRequest {
        typealias Response = User
        let path: RequestPath = "/public/login"
    }

    @Test("a sign-in has the code, the message and the meta of its envelope") func response() async throws {
        let app = App { $0.envelope = ResponseEnvelope() }
        app.backend.beforeCall { _ in
            .json(
                """
                {"success":true,"code":"WELCOME","message":"Welcome back","errors":[],"meta":{"requestId":"7f3a"},
                 "data":{"name":"Ada","accessToken":"access-9","refreshToken":"refresh-9"}}
                """, status: 201, headers: [.setCookie: "id=cookie-9"])
        }
        let response = try await app.client.signInResponse(for: Login()) { SessionAccount(userID: $0.name) }
        #expect(response.value.name == "Ada" && response.status == 201 && response.attempts == 1)
        #expect(response.code == "WELCOME" && response.message == "Welcome back")
        #expect(response.meta?.requestID == "7f3a")
        #expect(app.tokens.currentTokens?.accessToken == "access-9")
        guard case .signedIn(let session) = app.tokens.state else { return #expect(Bool(false), "not signed in") }
        #expect(session.account.userID == "Ada")

        let other = try await app.client.signInResponse(for: Call<NoContent>.post("/public/login"), as: User.self)
        #expect(other.value.name == "Ada" && other.code == "WELCOME")
        #expect(try await app.client.signIn(Login()).name == "Ada")
    }

    /// A refresher that reads the tokens of a sign-in itself.
    private struct OwnReader: TokenRefresher {
        let token: Secret

        func refresh(_ tokens: Tokens, over client: TokenEndpointClient) async throws -> Tokens { tokens }

        func tokens(inSignInResponse response: ServerResponse) throws -> Tokens { Tokens(accessToken: token) }
    }

    @Test("the Date of a sign-in's response tells how long its token lives, even if the refresher does not read it")
    func serverDate() async throws {
        let time = ManualTimeSource()
        // A day before the device's clock.
        let issued = time.wallClock.addingTimeInterval(-86400 - 3000)
        let token = UnsignedJWT.make(issuedAt: issued, expiresAt: issued.addingTimeInterval(3600))
        let transport = StubTransport { _ in
            .json(#"{"name":"Ada"}"#, headers: [.date: "Sun, 20 Sep 2026 14:13:20 GMT"])
        }
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory, refresher: OwnReader(token: token),
            transport: transport, time: time)
        #expect(try await NetworkClient(tokens: tokens).signIn(Login()).name == "Ada")
        #expect(tokens.currentTokens?.expiresAt == time.wallClock.addingTimeInterval(600))
    }

    @Test("a sign-in's response shows no secret when it is printed") func printed() async throws {
        let app = App()
        app.backend.beforeCall { _ in
            .json(
                #"{"name":"Ada","accessToken":"access-9","refreshToken":"refresh-9"}"#,
                headers: [.setCookie: "id=cookie-9"])
        }
        let response = try await app.client.signInResponse(for: Login(), as: JSONValue.self)
        var dumped = ""
        dump(response, to: &dumped)
        for text in ["\(response)", String(reflecting: response), dumped] {
            #expect(!text.contains("-9"), "\(text)")
        }
        #expect("\(response)" == "200 after 1 attempt")
    }

    @Test("a sign-in that the server refuses throws its error, and signs no user in") func refusedResponse()
        async throws
    {
        let app = App { $0.envelope = ResponseEnvelope() }
        app.backend.beforeCall { _ in
            .json(#"{"success":false,"code":"WRONG_PASSWORD","message":"No"}"#, status: 401)
        }
        guard case .api(_, let failure) = await error({ _ = try await app.client.signInResponse(for: Login()) }) else {
            return #expect(Bool(false), "not an API error")
        }
        #expect(await app.tokens.restore() == .signedOut && failure.code == "WRONG_PASSWORD")
    }
}
