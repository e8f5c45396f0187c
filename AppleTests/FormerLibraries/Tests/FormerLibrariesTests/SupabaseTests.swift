import Auth
import Foundation
import Martlet
import MartletAdoption
import Testing

@Suite("A session that supabase-swift has stored", .timeLimit(.minutes(1)))
struct SupabaseTests {
    private let place = Place()
    private let userID = "859f402d-b3de-4105-a1b9-932836d9193b"
    private let expiry = Date(timeIntervalSince1970: 2_000_000_000)

    // A service of its own, because the client also looks for sessions of its earlier versions in the service.
    @Test("by a sign-in begins a session with its tokens, expiry and user, and is deleted")
    func signIn() async throws {
        defer { place.clear() }
        let body = """
            {"access_token":"fixture-access-token","token_type":"bearer","expires_in":3600,"expires_at":2000000000,
            "refresh_token":"fixture-refresh-token","user":{"id":"\(userID)","app_metadata":{"provider":"email"},
            "user_metadata":{},"aud":"authenticated","email":"a@example.com",
            "created_at":"2022-03-30T10:33:41.018575Z","updated_at":"2022-03-30T10:33:41.021531Z"}}
            """
        let url = try #require(URL(string: "https://project.example.com/auth/v1"))
        let client = AuthClient(
            url: url, localStorage: KeychainLocalStorage(service: place.name),
            fetch: { request in
                let url = try #require(request.url)
                let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil)
                return (Data(body.utf8), try #require(response))
            },
            autoRefreshToken: false)
        try await client.signIn(email: "a@example.com", password: "fixture-password")
        try await adopt(service: place.name, account: "supabase.auth.token")
        #expect(client.currentSession == nil)
    }

    @Test("in its default service begins a session with its tokens, expiry and user, and is deleted")
    func defaultService() async throws {
        defer { place.clear() }
        let storage = KeychainLocalStorage()
        let user = User(
            id: try #require(UUID(uuidString: userID)), appMetadata: [:], userMetadata: [:], aud: "authenticated",
            createdAt: .distantPast, updatedAt: .distantPast)
        let session = Session(
            accessToken: "fixture-access-token", tokenType: "bearer", expiresIn: 3600,
            expiresAt: expiry.timeIntervalSince1970, refreshToken: "fixture-refresh-token", user: user)
        // As the library stores it (SessionStorage.swift), under a key that no project has.
        try storage.store(key: place.name, value: JSONEncoder().encode(session))
        defer { try? storage.remove(key: place.name) }
        try await adopt(service: "supabase.gotrue.swift", account: place.name)
        #expect(throws: (any Error).self) { _ = try storage.retrieve(key: place.name) }
    }

    private func adopt(service: String, account: String) async throws {
        let former = FormerTokens.keychain(service: service, account: account, writtenBy: .supabase)
        let session = try await place.adopt(former)
        #expect(session.tokens.accessToken == "fixture-access-token")
        #expect(session.tokens.refreshToken == "fixture-refresh-token")
        #expect(isSameMoment(session.tokens.expiresAt, expiry))
        #expect(session.tokens.tokenType == "bearer")
        #expect(session.account.userID == userID)
    }
}
