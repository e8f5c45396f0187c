internal import Foundation
internal import Martlet
internal import ReferenceBackend

extension Demo {
    private static let credentials = AccountEndpoint.Credentials(
        email: "ada@example.com", password: "a swift never lands")

    mutating func appIsRestarted() async throws {
        report.step("The app is closed and started again")
        controls.resetCounters()
        app = App(props, watchedBy: recorder)
        let state = await app.tokens.restore()
        let requests = controls.counters.requests.values.reduce(0, +)
        report.check(
            state.isSignedIn && requests == 0,
            "Signed in from the stored session, with \(requests) requests to the server.",
            else: "signed in with 0 requests; it is \(state)")
        let user = try await app.client.send(Profile())
        report.check(
            user.name == "Ada", "The next call goes through: the server knows her as \(user.name).", else: "Ada")
    }

    mutating func guestBecomesAccount() async throws {
        report.step("The guest takes an account")
        let guest = try await app.client.send(Profile())
        let account: Account = try await app.client.signIn(AccountEndpoint.upgrade(Self.credentials))
        let page: ArticlePage = try await app.client.send(ArticleEndpoint.all)
        report.check(
            account.user.id == guest.id && !account.user.isGuest,
            "She has a password now and is still the same user; a new session took the guest's place.",
            else: "the same user, no guest any more")
        report.check(page.items.count == 3, "Her \(page.items.count) articles are there.", else: "3 articles")
    }

    mutating func serverEndsTheSession() async throws {
        report.step("The server revokes her session")
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
            "10 more calls ended the same way; \(counters.refreshesCalled) refresh was tried in all of this.",
            else: "all 20 expired after 1 refresh; of the last ten \(later) did")

        let account: Account = try await app.client.signIn(AccountEndpoint.login(Self.credentials))
        var told: [SessionState] = []
        while let state = await states.next() {
            told.append(state)
            if state.isSignedIn { break }
        }
        let expirations = told.count { if case .expired = $0 { true } else { false } }
        report.check(
            expirations == 1 && told.count == 2,
            "The app was told once: show the login screen. \(account.user.name) is back with her password.",
            else: "one .expired, then .signedIn; it was \(told)")
    }

    mutating func userSignsOut() async throws {
        report.step("She signs out")
        let token = try await app.tokens.validToken()
        controls.resetCounters()
        let start = recorder.elapsed
        await app.tokens.signOut()
        report.check(
            !FileManager.default.fileExists(atPath: props.sessionFile) && app.tokens.state == .signedOut,
            "Nothing is stored here any more, \((recorder.elapsed - start).forPeople) later.",
            else: "no session file, signed out; it is \(app.tokens.state)")
        let isRevoked = await recorder.sees(since: start) { $0 == .revoked }
        let probe = try await app.client.send(TokenProbe(token: token))
        report.check(
            isRevoked && controls.counters.revocations == 1 && !probe.authorizationValid,
            "The server has revoked the session too: the old token opens nothing.",
            else: "1 revocation and a dead token; \(controls.counters.revocations) and \(probe.authorizationValid)")
    }
}

extension Result where Failure == NetworkError {
    /// Whether the call failed because the session has ended.
    fileprivate var isExpired: Bool {
        if case .failure(.sessionExpired) = self { true } else { false }
    }
}
