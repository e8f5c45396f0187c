import AppAuthCore
import Foundation
import Martlet
import MartletAdoption
import Testing

// AppAuth stores nothing. Its example for Swift keeps the archived state in UserDefaults.
@Suite("A state that AppAuth has archived", .timeLimit(.minutes(1)))
struct AppAuthTests {
    private let place = Place()

    @Test("begins a session with the tokens of the code flow, their expiry and the subject of the ID token")
    func codeFlow() async throws {
        let state = try AuthStates.codeFlow()
        try store(state)
        defer { clear() }
        let session = try await place.adopt(former)
        #expect(session.tokens.accessToken == "fixture-access-token")
        #expect(session.tokens.refreshToken == "fixture-refresh-token")
        #expect(isSameMoment(session.tokens.expiresAt, state.lastTokenResponse?.accessTokenExpirationDate))
        #expect(session.tokens.tokenType == "Bearer")
        #expect(session.tokens.scope == "openid offline_access")
        #expect(session.account.userID == "user-1")
        #expect(UserDefaults.standard.data(forKey: place.name) == nil)
    }

    @Test("keeps the refresh token if the response to a refresh had none")
    func refreshed() async throws {
        let state = try AuthStates.codeFlow()
        let request = try #require(state.tokenRefreshRequest())
        let response = OIDTokenResponse(
            request: request,
            parameters: ["access_token": NSString(string: "fixture-later-token"), "expires_in": NSNumber(value: 60)])
        state.update(with: response, error: nil)
        try store(state)
        defer { clear() }
        let session = try await place.adopt(former)
        #expect(session.tokens.accessToken == "fixture-later-token")
        #expect(session.tokens.refreshToken == "fixture-refresh-token")
        #expect(isSameMoment(session.tokens.expiresAt, response.accessTokenExpirationDate))
    }

    @Test("begins an expired session if AppAuth would refresh first")
    func stale() async throws {
        let state = try AuthStates.codeFlow()
        state.setNeedsTokenRefresh()
        try store(state)
        defer { clear() }
        let session = try await place.adopt(former)
        #expect(session.tokens.isExpired())
        #expect(session.tokens.refreshToken == "fixture-refresh-token")
    }

    @Test("begins a session with the access token of the implicit flow")
    func implicitFlow() async throws {
        let state = try AuthStates.implicitFlow()
        try store(state)
        defer { clear() }
        let session = try await place.adopt(former)
        #expect(session.tokens.accessToken == "fixture-access-token")
        #expect(session.tokens.refreshToken == nil)
        let expiry = state.lastAuthorizationResponse.accessTokenExpirationDate
        #expect(isSameMoment(session.tokens.expiresAt, expiry))
        #expect(session.account.userID == "user-1")
    }

    @Test("is refused if the server has rejected the refresh token")
    func ended() async throws {
        let state = try AuthStates.codeFlow()
        // AppAuth's code for `invalid_grant`.
        state.update(withAuthorizationError: NSError(domain: OIDOAuthTokenErrorDomain, code: -10))
        try store(state)
        defer { clear() }
        await place.refuse(former, as: .ended)
    }

    private var former: FormerTokens {
        let key = place.name
        return FormerTokens(
            named: key, writtenBy: .appAuth, read: { UserDefaults.standard.data(forKey: key) },
            delete: { UserDefaults.standard.removeObject(forKey: key) })
    }

    private func store(_ state: OIDAuthState) throws {
        let data = try NSKeyedArchiver.archivedData(withRootObject: state, requiringSecureCoding: true)
        UserDefaults.standard.set(data, forKey: place.name)
    }

    private func clear() {
        UserDefaults.standard.removeObject(forKey: place.name)
        place.clear()
    }
}
