internal import Foundation
internal import Martlet
internal import MartletOAuth

/// The cells of one server.
struct OAuthCells: Sendable {
    let kind: OAuthRigServer
    let site: OAuthSite
    let browser: RigBrowser

    private static let scope = ["openid", "profile", "email"]

    private struct Claims: Decodable {
        let sub: String
    }

    /// All cells. Each begins without cookies.
    static func cells(of kind: OAuthRigServer, _ site: OAuthSite) -> [OAuthCell] {
        let algorithms = ["RS256", "PS256", "ES256", "ES384", "EdDSA"].map { name in
            OAuthCell(name: "ID token \(name)", missing: site.clients.contains(name) ? nil : kind.reason(for: name)) {
                try await $0.idToken(by: name)
            }
        }
        let refused = ["HS256", "RS512", "none"].map { name in
            OAuthCell(
                name: "ID token \(name) refused",
                missing: site.refusedClients?.contains(name) == true ? nil : kind.reason(for: name)
            ) { try await $0.refusedIDToken(by: name) }
        }
        return flows(of: kind) + algorithms + refused + [
            OAuthCell(name: "userinfo") { try await $0.userinfo() },
            OAuthCell(name: "refresh, same sub") { try await $0.refresh() },
            OAuthCell(name: "spent token ends it") { try await $0.spentToken() },
            OAuthCell(
                name: "spent token, by status",
                missing: kind == .glewlwyd ? nil : "names the reason, which the cell above tests"
            ) { try await $0.spentTokenByStatus() },
            OAuthCell(name: "revocation") { try await $0.revocation() },
            OAuthCell(name: "logout") { try await $0.logout() },
        ]
    }

    private static func flows(of kind: OAuthRigServer) -> [OAuthCell] {
        [
            OAuthCell(name: "code flow with PKCE") { try await $0.codeFlow() },
            OAuthCell(name: "PAR", missing: kind == .glewlwyd ? nil : "has no endpoint for pushed requests") {
                try await $0.pushedRequest()
            },
            OAuthCell(name: "loopback") { try await $0.loopback() },
            OAuthCell(name: "loopback, any port", missing: kind.reasonAgainstAnyPort) {
                try await $0.loopback(port: 0)
            },
            OAuthCell(name: "claimed redirect") { try await $0.claimedRedirect() },
            OAuthCell(name: "wrong iss") { try await $0.wrongIssuer() },
            OAuthCell(name: "denied", missing: kind == .glewlwyd ? "its page has no button for it" : nil) {
                try await $0.denied()
            },
            OAuthCell(name: "max_age", missing: kind == .canaille ? nil : kind.reasonAgainstMaxAge) {
                try await $0.maxAge()
            },
        ]
    }

    // MARK: - Ways to sign in

    private var firstClient: String { site.clients[0] }

    /// Signs in with a redirect that an app claims.
    private func signIn(
        _ client: String, to purpose: RigBrowser.Purpose = .signIn, options: SignInOptions = SignInOptions()
    ) async throws -> (server: OAuthServer, tokens: TokenManager, user: OAuthUser) {
        let server = site.server(client: client)
        let tokens = site.manager(of: server)
        let user = try await server.signIn(to: tokens, scope: Self.scope, options: options) { url in
            try await browser.callback(of: url, to: purpose)
        }
        return (server, tokens, user)
    }

    private func codeFlow() async throws {
        let server = site.server(client: firstClient)
        let tokens = site.manager(of: server)
        let user = try await server.signIn(to: tokens, scope: Self.scope) { url in
            let names = url.queryValues
            try OAuthCellError.require(
                names["code_challenge_method"] == "S256" || names["request_uri"] != nil, "no challenge in the URL")
            return try await browser.callback(of: url)
        }
        try OAuthCellError.require(user.subject?.isEmpty == false, "the user has no subject")
        guard case .signedIn(let session) = tokens.state else {
            throw OAuthCellError(description: "no session began")
        }
        try OAuthCellError.require(session.account.userID == user.subject, "the session is another user's")
        try OAuthCellError.require(tokens.currentTokens?.refreshToken != nil, "no refresh token")
    }

    private func pushedRequest() async throws {
        let server = site.server(client: firstClient)
        let attempt = try await server.beginSignIn(scope: Self.scope)
        let names = attempt.url.queryValues
        try OAuthCellError.require(
            Set(names.keys) == ["client_id", "request_uri"], "the browser gets \(names.keys.sorted())")
        try await server.finish(
            attempt, callback: browser.callback(of: attempt.url), to: site.manager(of: server))
    }

    private func loopback(port: UInt16? = nil) async throws {
        let port = port ?? site.loopbackPort
        let server = site.server(client: firstClient, redirect: .loopback(port: port))
        let tokens = site.manager(of: server)
        try await server.signIn(to: tokens, scope: Self.scope, with: browser.loopback(port: port))
        try OAuthCellError.require(tokens.state.isSignedIn, "no session began")
        let title = try await browser.latestVisit.title
        try OAuthCellError.require(
            ["You can close this window", "이 창을 닫아도 됩니다"].contains(title), "the last page is “\(title)”")
    }

    private func claimedRedirect() async throws {
        let server = site.server(client: firstClient)
        // Encode the attempt, as a web server does between two requests.
        let kept = try await JSONEncoder().encode(server.beginSignIn(scope: Self.scope))
        let attempt = try JSONDecoder().decode(SignInAttempt.self, from: kept)
        let callback = try await browser.callback(of: attempt.url)
        let other = site.server(client: firstClient)
        let tokens = site.manager(of: other)
        try await other.finish(attempt, callback: callback, to: tokens)
        try OAuthCellError.require(tokens.state.isSignedIn, "no session began")
    }

    private func wrongIssuer() async throws {
        let server = site.server(client: firstClient)
        let tokens = site.manager(of: server)
        let attempt = try await server.beginSignIn(scope: Self.scope)
        let callback = try await browser.callback(of: attempt.url)
        try OAuthCellError.require(callback.queryValues["iss"] == site.issuer, "the callback has no iss")
        let changed = try callback.replacing("iss", by: site.issuer + "/other")
        try await expect(.wrongIssuer) { try await server.finish(attempt, callback: changed, to: tokens) }
        try OAuthCellError.require(!tokens.state.isSignedIn, "a session began")
        // The code was not sent, so it still works.
        try await server.finish(attempt, callback: callback, to: tokens)
    }

    private func denied() async throws {
        var options = SignInOptions()
        options.prompt = kind == .canaille ? "consent" : nil
        // Django's error has no `iss`, although its metadata promises one for each callback (RFC 9207, section 2).
        try await expect(kind == .oauthToolkit ? .wrongIssuer : .denied) {
            _ = try await signIn(firstClient, to: .denial, options: options)
        }
    }

    private func maxAge() async throws {
        _ = try await signIn(firstClient)
        try await Task.sleep(for: .seconds(2))
        var options = SignInOptions()
        options.maxAge = .seconds(1)
        _ = try await signIn(firstClient, options: options)
        let steps = try await browser.latestVisit.steps
        try OAuthCellError.require(steps.contains("password"), "the user was not asked again: \(steps)")
    }

    // MARK: - Tokens

    private func idToken(by algorithm: String) async throws {
        let tokens = try await signIn(algorithm).tokens
        let found = tokens.currentTokens?.idToken?.jwtAlgorithm
        try OAuthCellError.require(found == algorithm, "the ID token is signed by \(found ?? "nothing")")
    }

    private func refusedIDToken(by algorithm: String) async throws {
        let server = site.server(client: algorithm)
        let tokens = site.manager(of: server)
        try await expect(.idToken(.algorithm)) {
            try await server.signIn(to: tokens, scope: Self.scope) { try await browser.callback(of: $0) }
        }
        try OAuthCellError.require(!tokens.state.isSignedIn && tokens.currentTokens == nil, "a session began")
    }

    private func userinfo() async throws {
        var options = SignInOptions()
        options.fetchesUserinfo = true
        let user = try await signIn(firstClient, options: options).user
        let claims: Claims = try user.userinfo()
        try OAuthCellError.require(claims.sub == user.subject, "userinfo describes \(claims.sub)")
    }

    private func refresh() async throws {
        let (_, tokens, user) = try await signIn(firstClient)
        let old = tokens.currentTokens
        try await tokens.refresh()
        let new = tokens.currentTokens
        try OAuthCellError.require(new?.accessToken != old?.accessToken, "the access token is the same")
        try OAuthCellError.require(new?.refreshToken != old?.refreshToken, "the refresh token is the same")
        let subject = new?.idToken?.jwtSubject
        try OAuthCellError.require(subject == user.subject, "the ID token is that of \(subject ?? "no user")")
    }

    private func spentToken() async throws {
        let (server, tokens, _) = try await signIn(firstClient)
        guard let spent = tokens.currentTokens else { throw OAuthCellError(description: "no session began") }
        try await tokens.refresh()
        let thief = site.manager(of: server)
        try await thief.signIn(with: spent)
        try await requireEnd(of: thief)
        // The server considers the token stolen, and ends the other session too.
        guard kind != .canaille else { return }
        try await requireEnd(of: tokens)
    }

    /// Checks that a spent token ends the session with the rule for servers that name no reason.
    private func spentTokenByStatus() async throws {
        let (server, tokens, _) = try await signIn(firstClient)
        guard let spent = tokens.currentTokens else { throw OAuthCellError(description: "no session began") }
        try await tokens.refresh()
        let thief = site.manager(of: server, sessionEnd: .status(400))
        try await thief.signIn(with: spent)
        do throws(SessionError) {
            try await thief.refresh()
        } catch {
            guard case .expired = error else {
                throw OAuthCellError(description: "the refresh failed with \(error), and ended no session")
            }
            return try OAuthCellError.require(!thief.state.isSignedIn, "the session is \(thief.state)")
        }
        throw OAuthCellError(description: "a refresh succeeded")
    }

    /// Refreshes a session whose refresh token is no longer valid, and requires that the session ends.
    private func requireEnd(of tokens: TokenManager) async throws {
        do throws(SessionError) {
            try await tokens.refresh()
        } catch {
            if case .expired = error { return }
            // Glewlwyd responds with 400 and no reason, which may be a transient error. The session stays.
            if kind == .glewlwyd, case .refreshFailed = error { return }
            throw OAuthCellError(description: "the refresh failed with \(error), and ended no session")
        }
        throw OAuthCellError(description: "a refresh succeeded")
    }

    private func revocation() async throws {
        let (server, tokens, _) = try await signIn(site.confidentialClient ?? firstClient)
        guard let revoked = tokens.currentTokens else { throw OAuthCellError(description: "no session began") }
        await tokens.signOut(waitingForServer: .seconds(10))
        let thief = site.manager(of: server)
        try await thief.signIn(with: revoked)
        try await requireEnd(of: thief)
    }

    private func logout() async throws {
        let (_, tokens, _) = try await signIn(firstClient)
        let port = site.loopbackPort
        let server = site.server(client: firstClient, redirect: .loopback(port: port))
        try await server.signOut(of: tokens, with: browser.loopback(port: port, to: .signOut))
        try OAuthCellError.require(tokens.state == .signedOut, "the session is \(tokens.state)")
        _ = try await browser.latestVisit
        _ = try await signIn(firstClient)
        let steps = try await browser.latestVisit.steps
        let login = kind == .canaille ? "password" : "login"
        try OAuthCellError.require(steps.contains(login), "the browser was still signed in: \(steps)")
    }

    private func expect(_ kind: OAuthError.Kind, _ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch let error as OAuthError {
            return try OAuthCellError.require(error.kind == kind, "\(error.kind) instead of \(kind): \(error)")
        }
        throw OAuthCellError(description: "it succeeded instead of failing with \(kind)")
    }
}
