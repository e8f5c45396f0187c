import AppAuthCore
import Foundation
import GTMAppAuth
import Martlet
import MartletAdoption
import Testing

// A process without entitlements cannot use the data protection Keychain, GTMAppAuth's default.
@Suite("A session that GTMAppAuth has stored", .timeLimit(.minutes(1)))
struct GTMAppAuthTests {
    private let place = Place()

    @Test("begins a session with the tokens of its state, their expiry and its user, and is deleted")
    func adopted() async throws {
        defer { place.clear() }
        let state = try AuthStates.codeFlow()
        let keychain = keychain
        try keychain.save(authSession: AuthSession(authState: state, serviceProvider: "Google"))
        let session = try await place.adopt(former)
        #expect(session.tokens.accessToken == "fixture-access-token")
        #expect(session.tokens.refreshToken == "fixture-refresh-token")
        #expect(isSameMoment(session.tokens.expiresAt, state.lastTokenResponse?.accessTokenExpirationDate))
        #expect(session.account.userID == "user-1")
        #expect(throws: KeychainStore.Error.self) { _ = try keychain.retrieveAuthSession() }
    }

    @Test("is refused, and stays, if the server has rejected its refresh token")
    func ended() async throws {
        defer { place.clear() }
        let state = try AuthStates.codeFlow()
        state.update(withAuthorizationError: NSError(domain: OIDOAuthTokenErrorDomain, code: -10))
        let keychain = keychain
        try keychain.save(authSession: AuthSession(authState: state))
        await place.refuse(former, as: .ended)
        #expect(throws: Never.self) { _ = try keychain.retrieveAuthSession() }
    }

    private var keychain: KeychainStore {
        let attribute = KeychainAttribute(attribute: .useFileBasedKeychain)
        return KeychainStore(itemName: place.name, keychainAttributes: [attribute])
    }

    private var former: FormerTokens { .keychain(service: place.name, account: "OAuth", writtenBy: .gtmAppAuth) }
}
