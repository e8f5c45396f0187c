import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("Test tokens", .timeLimit(.minutes(10))) struct TestTokensTests {
    @Test("tokens are fresh, expire or are expired, as declared") func lifetimes() async throws {
        for (initial, refreshes) in [
            (Tokens.fresh(), 0), (.expired(), 1), (.expiring(in: .seconds(60)), 0),
            (.expiring(in: .seconds(9)), 1),
        ] {
            let time = ManualTimeSource()
            let transport = StubTransport(time: time)
            let refresh = transport.when(.post, "/auth/refresh").respond(.tokens(.fresh(5)))
            let tokens = await TokenManager.signedIn(
                with: initial, account: SessionAccount(userID: "ada"), transport: transport, time: time)
            guard case .signedIn(let session) = tokens.state else {
                Issue.record("\(tokens.state)")
                return
            }
            #expect(session.account.userID == "ada")
            #expect(transport.requests.isEmpty)
            time.advance(by: .seconds(10))
            _ = try await tokens.validTokens()
            #expect(refresh.requests.count == refreshes, "\(String(describing: initial.lifetime))")
        }
    }

    @Test("a stored session expires when a sign-in with its tokens would expire") func storedLifetime() async throws {
        let time = ManualTimeSource()
        let jwt = UnsignedJWT.make(issuedAt: time.wallClock, expiresAt: time.wallClock + 60)
        for (initial, valid, expired) in [
            (Tokens(accessToken: jwt, refreshToken: "r"), 40, 60),
            (Tokens(accessToken: "a", refreshToken: "r", expiresAt: time.wallClock + 86_400), 80_000, 86_400),
        ] {
            let time = ManualTimeSource()
            let transport = StubTransport(time: time)
            let refresh = transport.when(.post, "/auth/refresh").respond(.tokens(.fresh(5)))
            let tokens = await TokenManager.signedIn(with: initial, transport: transport, time: time)
            time.advance(by: .seconds(valid))
            _ = try await tokens.validTokens()
            #expect(refresh.requests.isEmpty)
            time.advance(by: .seconds(expired - valid))
            _ = try await tokens.validTokens()
            #expect(refresh.requests.count == 1)
        }
    }

    @Test("a stub's response keeps the expiry date") func expiryDate() async throws {
        let (transport, time) = (StubTransport(), ManualTimeSource())
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory(.fresh(1)), refresher: .json(path: "/auth/refresh"),
            transport: transport, time: time)
        let issued = Tokens(accessToken: "a2", refreshToken: "r2", expiresAt: time.wallClock + 600)
        let refresh = transport.when(.post, "/auth/refresh").respond(.tokens(issued))
        try await tokens.refresh()
        time.advance(by: .seconds(601))
        _ = try await tokens.validTokens()
        #expect(refresh.requests.count == 2)
    }

    @Test("the refresher decodes tokens from a stub's response") func tokens() async throws {
        let transport = StubTransport()
        transport.when(.post, "/auth/refresh").respond(.tokens(.expiring(in: .seconds(90), 7)))
        let tokens = await TokenManager.signedIn(
            with: .expired(), transport: transport, time: ManualTimeSource())
        #expect(try await tokens.validTokens().accessToken.reveal() == "access-7")
        #expect(transport.requests.first?.text.contains("refresh-0") == true)
    }

    @Test("a sign-out of a restored session reaches the revoker") func revoker() async throws {
        let transport = StubTransport()
        let logout = transport.when(.post, "/auth/logout").respond(.status(204))
        let tokens = await TokenManager.signedIn(
            revoker: .json(path: "/auth/logout"), transport: transport, time: ManualTimeSource())
        #expect(await tokens.signOut(waitingForServer: .seconds(5)))
        #expect(logout.requests.first?.text.contains("refresh-0") == true)
    }

    @Test("unsigned JWTs have claims of any type") func claims() throws {
        let token = try UnsignedJWT.make(
            subject: "ada", issuedAt: Date(timeIntervalSince1970: 1000), expiresAt: Date(timeIntervalSince1970: 2000),
            claims: ["role": "editor", "level": 3, "groups": ["a", "b"], "since": Date(timeIntervalSince1970: 500)])
        let parts = token.reveal().split(separator: ".")
        #expect(parts.count == 3)
        var payload = String(parts[1]).replacing("-", with: "+").replacing("_", with: "/")
        while payload.count % 4 != 0 { payload += "=" }
        let text = Data(base64Encoded: payload).map { String(decoding: $0, as: UTF8.self) }
        #expect(
            text == #"{"exp":2000,"groups":["a","b"],"iat":1000,"level":3,"role":"editor","since":500,"sub":"ada"}"#)
        let claims = JWTClaims(token)
        #expect(claims?.expiresAt == Date(timeIntervalSince1970: 2000))
        #expect(claims?.issuedAt == Date(timeIntervalSince1970: 1000))
        #expect(throws: (any Error).self) { try UnsignedJWT.make(claims: ["x": Double.nan]) }
    }
}
