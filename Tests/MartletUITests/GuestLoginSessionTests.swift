import Martlet
import MartletImages
import MartletTesting
import Testing

@testable import MartletUI

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@MainActor @Suite("Guest login and the session", .timeLimit(.minutes(10))) struct GuestLoginSessionTests {
    @Test("logging out ends the session and a registration under way", arguments: ModelVariant.allCases)
    func logout(variant: ModelVariant) async throws {
        let gate = Gate()
        let backend = Backend { request in
            if request.number == 2 { await gate.pass() }
            return nil
        }
        let login = try variant.login(GuestRegistration(backend.client))
        login.userName = "Ada"
        await login.registerGuest().value
        await login.logout().value
        #expect(!login.state.isAuthenticated)
        #expect(login.state.guest == nil)
        #expect(backend.tokens.state == .signedOut)

        login.userName = "Grace"
        let second = login.registerGuest()
        await gate.waitForArrivals()
        await login.logout().value
        gate.open()
        await second.value
        #expect(!login.state.isAuthenticated)
        #expect(backend.tokens.state == .signedOut)
    }

    @Test("after logging out, the name is cleared for the next user", arguments: ModelVariant.allCases)
    func nextPerson(variant: ModelVariant) async throws {
        let login = try variant.login(GuestRegistration(Backend().client))
        login.userName = "Ada"
        await login.registerGuest().value
        await login.logout().value
        #expect(login.userName == "")

        // A name typed while signed out is kept.
        login.userName = "Grace"
        await login.logout().value
        #expect(login.userName == "Grace")
    }

    @Test("after an expiry and a registration that fails, a sign-out empties the form", arguments: [true, false])
    func failedAfterExpiry(isCancelled: Bool) {
        var state = GuestLoginState()
        state.follow(.signedIn(SignedInSession(id: SessionID())))
        state.follow(.expired(.noRefreshToken))
        state.type("Ada")
        guard let submission = state.begin(maximumNameLength: 40) else {
            Issue.record("the registration does not begin")
            return
        }
        if isCancelled { state.cancel() } else { state.end(.failure(.offline(.stub)), of: submission) }
        state.follow(.signedOut)
        #expect(state.userName.isEmpty && state.errorText == nil)
    }

    @Test("after an expiry, a registration that cannot be saved keeps its input and says why") func unsavedAfterExpiry()
    {
        var state = GuestLoginState()
        let session = SignedInSession(id: SessionID())
        state.follow(.signedIn(session))
        state.follow(.expired(.noRefreshToken))
        state.type("Grace")
        guard let submission = state.begin(maximumNameLength: 40) else {
            Issue.record("the registration does not begin")
            return
        }
        state.follow(.signedOut)
        state.end(.failure(.timedOut(.stub, after: .seconds(30))), of: submission)
        state.follow(.signedOut)
        #expect(state.userName == "Grace")
        #expect(state.errorText != nil)
        // The next user still finds an empty form.
        state.follow(.signedIn(session))
        state.follow(.signedOut)
        #expect(state.userName.isEmpty && state.errorText == nil)
    }

    @Test(
        "after a user who signed in elsewhere has signed out, the form is empty for the next user",
        arguments: ModelVariant.allCases)
    func signedInElsewhere(variant: ModelVariant) async throws {
        let backend = Backend()
        await backend.tokens.restore()
        let login = try variant.login(GuestRegistration(backend.client))
        login.userName = "Ada"
        login.discardUnreadableImage()
        login.selectedImage = .file(at: "/tmp/ada.jpg")
        try await backend.tokens.signIn(with: .fresh(3))
        await waitUntil { login.state.isAuthenticated }
        #expect(login.userName == "Ada")
        await login.logout().value
        #expect(login.userName == "" && login.selectedImage == nil && login.state.errorText == nil)
    }

    @Test(
        "a registration that is cancelled when it is in force leaves no name behind for the next user",
        arguments: ModelVariant.allCases)
    func cancelledInForce(variant: ModelVariant) async throws {
        let (gate, backend) = (Gate(), Backend())
        let login = try variant.login(
            GuestRegistration(session: SessionSource(backend.tokens)) { name, _, _ throws(NetworkError) in
                let guest = try await GuestAuthService(backend.client).register(name: name)
                await gate.pass()
                return guest
            })
        login.userName = "Ada"
        let registration = login.registerGuest()
        await gate.waitForArrivals()
        login.cancelRegistration()
        gate.open()
        await registration.value
        await waitUntil { login.state.isAuthenticated }
        #expect(login.state.guest == nil && !login.state.isRegistering)
        await login.logout().value
        #expect(login.userName == "")
    }

    @Test(
        "the picture stays after a registration until the app clears it or the guest signs out",
        arguments: ModelVariant.allCases)
    func picture(variant: ModelVariant) async throws {
        let backend = Backend()
        let login = try variant.login(
            GuestRegistration(session: SessionSource(backend.tokens)) { name, _, _ throws(NetworkError) in
                try await GuestAuthService(backend.client).register(name: name)
            })
        login.userName = "Ada"
        login.selectedImage = .file(at: "/tmp/ada.jpg")
        await login.registerGuest().value
        #expect(login.guest?.id == "7" && login.selectedImage == .file(at: "/tmp/ada.jpg"))
        login.selectedImage = nil
        #expect(login.selectedImage == nil && login.state.selectedImage == nil)

        login.selectedImage = .file(at: "/tmp/grace.jpg")
        await login.logout().value
        // The next user does not see it.
        #expect(login.selectedImage == nil && login.state.selectedImage == nil)
    }

    @Test("restored sessions and sessions ended by the server are followed", arguments: ModelVariant.allCases)
    func follows(variant: ModelVariant) async throws {
        let time = ManualTimeSource()
        let backend = Backend(store: .inMemory(holding: .fresh(at: time.wallClock)), time: time) { _ in .status(401) }
        let login = try variant.login(GuestRegistration(backend.client))
        #expect(!login.state.isAuthenticated)
        let run = Task { await login.run() }
        await waitUntil { login.state.isAuthenticated }
        _ = try? await backend.client.data(for: Call<NoContent>.get("/me"))
        await waitUntil { !login.state.isAuthenticated }
        run.cancel()
        await run.value
    }

    @Test("a client without a session is an error with a message", arguments: ModelVariant.allCases)
    func withoutSession(variant: ModelVariant) async throws {
        let client = NetworkClient(
            baseURL: "https://api.example.com", transport: StubTransport { _ in .json(#"{"id":1}"#) })
        let login = try variant.login(GuestRegistration(client))
        login.userName = "Ada"
        await login.registerGuest().value
        #expect(login.state.errorText?.isEmpty == false)
        #expect(!login.state.isAuthenticated)
    }
}
