import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("The server's code in an error of a refresh", .timeLimit(.minutes(10))) struct RefreshErrorCodeTests {
    @Test("a code that does not end the session reaches the app, which asks for what the server wants") func code()
        async throws
    {
        let app = try await App.signedIn()
        let needsFactor = Locked(true)
        app.backend.beforeRefresh { _ in
            needsFactor.withLock { $0 } ? .json(#"{"error":"mfa_required","mfa_token":"m"}"#, status: 403) : nil
        }
        app.backend.invalidateAccessTokens()
        guard case .refreshFailed(_, let error, _) = await app.call().error else {
            Issue.record("the call did not fail for its refresh")
            return
        }
        #expect(error.kind == .status(403) && error.code == "mfa_required")
        #expect(app.tokens.isSignedIn)
        #expect(!error.mayHaveSpentToken)
        needsFactor.withLock { $0 = false }
        // Other calls wait for the backoff. The app knows that the user has confirmed the sign-in, and does not.
        #expect(await !app.call().isSuccess)
        try await app.tokens.refresh()
        #expect(await app.call().isSuccess)
    }

    @Test("a refusal with a code says that the token is not spent, so it is not sent again within a grace period")
    func grace() async throws {
        let app = try await App.signedIn(policy: SessionPolicy(rotationGrace: .seconds(30)))
        app.backend.beforeRefresh { _ in .json(#"{"error":"mfa_required"}"#, status: 403) }
        app.backend.invalidateAccessTokens()
        #expect(await !app.call().isSuccess)
        #expect(app.backend.refreshCalls == 1)
        app.backend.beforeRefresh { _ in .json(#"{"error":"invalid_grant"}"#, status: 400) }
        await #expect(throws: SessionError.expired(.refreshTokenRejected(code: "invalid_grant"))) {
            try await app.tokens.refresh()
        }
    }

    @Test("a forced refresh waits for the backoff if the server has asked for a pause, or has not said what it wants")
    func forcedInBackoff() async throws {
        let refusals = [("{}", 403, nil), (#"{"error":"later"}"#, 403, "60"), (#"{"error":"busy"}"#, 503, nil)]
        for (body, status, pause) in refusals {
            let app = try await App.signedIn()
            app.backend.beforeRefresh { _ in
                .json(body, status: status, headers: pause.map { [.retryAfter: $0] } ?? [:])
            }
            app.backend.invalidateAccessTokens()
            #expect(await !app.call().isSuccess)
            await #expect(throws: SessionError.self) { try await app.tokens.refresh() }
            #expect(app.backend.refreshCalls == 1)
        }
    }

    @Test("a code that quotes a token is masked") func quotedToken() async throws {
        let app = try await App.signedIn()
        let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"
        app.backend.beforeRefresh { _ in .json(#"{"error":"refresh token \#(token) is not valid"}"#, status: 403) }
        app.backend.invalidateAccessTokens()
        guard case .refreshFailed(_, let error, _) = await app.call().error else {
            Issue.record("the call did not fail for its refresh")
            return
        }
        var dumped = ""
        dump(error, to: &dumped)
        #expect(error.code?.contains("is not valid") == true)
        #expect(!dumped.contains(token) && error.code?.contains(token) == false)
    }

    @Test("a response without a code, or without JSON, has none", arguments: ["", "{}", "<html>", #"{"error":null}"#])
    func none(body: String) async throws {
        let app = try await App.signedIn()
        app.backend.beforeRefresh { _ in .json(body, status: 503) }
        app.backend.invalidateAccessTokens()
        guard case .refreshFailed(_, let error, _) = await app.call().error else {
            Issue.record("the call did not fail for its refresh")
            return
        }
        #expect(error.kind == .status(503) && error.code == nil)
    }

    @Test(
        "its text has the server's message and code instead of the JSON",
        arguments: [
            (#"{"error":"slow_down","error_description":"Come back.","trace":"7f"}"#, "Come back. (slow_down)"),
            (#"{"success":false,"code":1042,"message":"maintenance"}"#, "maintenance (1042)"),
            (#"{"error":{"code":503,"message":"UNAVAILABLE : try again"}}"#, "UNAVAILABLE : try again (UNAVAILABLE)"),
            (#"{"detail":"maintenance"}"#, "maintenance"),
            (#"{"error":"unavailable"}"#, "unavailable"),
            (#"{"message":"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"}"#, "<redacted>"),
            (#"{"trace":"7f"}"#, #"{"trace":"7f"}"#),
            ("<html>", "<html>"),
        ])
    func text(body: String, words: String) async throws {
        let app = try await App.signedIn()
        app.backend.beforeRefresh { _ in .json(body, status: 503) }
        app.backend.invalidateAccessTokens()
        let explanation = await app.call().error?.explanation ?? ""
        #expect(explanation.contains("the token endpoint responded with 503: \(words)"))
    }
}
