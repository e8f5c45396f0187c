internal import Foundation
internal import Martlet
internal import ReferenceBackend

extension Demo {
    private static let credentials = AccountEndpoint.Credentials(
        email: "ada@example.com", password: "a swift never lands")

    mutating func restartApp() async throws {
        report.step("The app restarts")
        controls.resetCounters()
        app = App(setup, watchedBy: recorder)
        let state = await app.tokens.restore()
        let requests = controls.counters.requests.values.reduce(0, +)
        report.check(
            state.isSignedIn && requests == 0,
            "Signed in from the session file, with \(requests) requests to the server.",
            else: "signed in with 0 requests; the state is \(state)")
        let user = try await app.client.send(Profile())
        report.check(
            user.name == "Ada", "The next call succeeds: the server knows the user as \(user.name).", else: "Ada")
    }

    mutating func upgradeGuest() async throws {
        report.step("The guest registers an account")
        let guest = try await app.client.send(Profile())
        let account: Account = try await app.client.signIn(AccountEndpoint.upgrade(Self.credentials))
        let page: ArticlePage = try await app.client.send(ArticleEndpoint.all)
        report.check(
            account.user.id == guest.id && !account.user.isGuest,
            "The guest became an account with the same user id, and a new session replaced the guest's.",
            else: "the same user id, not a guest")
        report.check(
            page.items.count == 3, "The user's \(page.items.count) articles are still there.", else: "3 articles")
    }

    mutating func revokeSession() async throws {
        report.step("The server revokes the session")
        var states = app.tokens.states.makeAsyncIterator()
        _ = await states.next()
        try await controls.revokeSessions(includingAccessTokens: true)
        controls.resetCounters()
        let failed = await app.burst(10).count(where: \.isExpired)
        report.check(
            failed == 10, "\(failed) of 10 calls ended with \"session expired\".", else: "10 of 10")
        let later = await app.burst(10).count(where: \.isExpired)
        let counters = controls.counters
        report.check(
            later == 10 && counters.refreshesCalled == 1,
            "\(later) of 10 more calls ended the same way, after \(counters.refreshesCalled) refresh attempt in total.",
            else: "10 of 10, after 1 refresh")

        let account: Account = try await app.client.signIn(AccountEndpoint.login(Self.credentials))
        var reported: [SessionState] = []
        while let state = await states.next() {
            reported.append(state)
            if state.isSignedIn { break }
        }
        let expirations = reported.count { if case .expired = $0 { true } else { false } }
        report.check(
            expirations == 1 && reported.count == 2,
            "The app got one \"expired\" state, to show the login screen. \(account.user.name) signed in again.",
            else: "one .expired, then .signedIn; the states were \(reported)")
    }

    mutating func signOut() async throws {
        report.step("The user signs out")
        let token = try await app.tokens.validTokens().accessToken
        controls.resetCounters()
        let start = recorder.elapsed
        await app.tokens.signOut()
        report.check(
            !FileManager.default.fileExists(atPath: setup.sessionFile) && app.tokens.state == .signedOut,
            "The session file is deleted after \((recorder.elapsed - start).readable).",
            else: "no session file, signed out; the state is \(app.tokens.state)")
        let isRevoked = await recorder.waitForEvent(since: start) { $0 == .revoked }
        let probe = try await app.client.send(TokenProbe(token: token))
        report.check(
            isRevoked && controls.counters.revocations == 1 && !probe.authorizationValid,
            "The server revoked the session too: it rejects the old access token.",
            else: "1 revocation and a rejected token; got \(controls.counters.revocations),"
                + " accepted: \(probe.authorizationValid)")
    }
}

extension Result where Failure == NetworkError {
    fileprivate var isExpired: Bool {
        if case .failure(.sessionExpired) = self { true } else { false }
    }
}
