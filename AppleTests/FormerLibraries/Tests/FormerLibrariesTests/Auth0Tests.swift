import Auth0
import Foundation
import Martlet
import MartletAdoption
import SimpleKeychain
import Testing

// The default service is the bundle identifier of the app, which a test outside of an app does not have.
@Suite("Credentials that Auth0.swift has stored", .timeLimit(.minutes(1)))
struct Auth0Tests {
    private let place = Place()

    @Test("begin a session with their tokens, expiry and user, and are deleted")
    func adopted() async throws {
        defer { place.clear() }
        let credentials = credentials(tokenType: "Bearer")
        let manager = manager
        try manager.store(credentials: credentials)
        let session = try await place.adopt(former)
        #expect(session.tokens.accessToken == "fixture-access-token")
        #expect(session.tokens.refreshToken == "fixture-refresh-token")
        #expect(isSameMoment(session.tokens.expiresAt, credentials.expiresAt))
        #expect(session.tokens.tokenType == "Bearer")
        #expect(session.tokens.scope == "openid offline_access")
        #expect(session.account.userID == "auth0|1")
        #expect(!manager.canRenew())
    }

    @Test("are refused, and stay, if they are bound to a key of the library")
    func bound() async throws {
        defer { place.clear() }
        let manager = manager
        try manager.store(credentials: credentials(tokenType: "DPoP"))
        await place.refuse(former, as: .boundToKey)
        #expect(manager.canRenew())
    }

    private var manager: CredentialsManager {
        CredentialsManager(
            authentication: Auth0.authentication(clientId: "client", domain: "id.example.com"),
            storage: SimpleKeychain(service: place.name))
    }

    private var former: FormerTokens { .keychain(service: place.name, account: "credentials", writtenBy: .auth0) }

    private func credentials(tokenType: String) -> Credentials {
        Credentials(
            accessToken: "fixture-access-token", tokenType: tokenType, idToken: idToken(subject: "auth0|1"),
            refreshToken: "fixture-refresh-token", expiresAt: Date(timeIntervalSinceNow: 3600),
            scope: "openid offline_access")
    }
}
