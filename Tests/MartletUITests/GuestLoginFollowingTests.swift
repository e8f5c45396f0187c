import Martlet
import MartletImages
import MartletTesting
import Testing

@testable import MartletUI

#if canImport(Combine)
    import Combine
#elseif OpenCombine
    import OpenCombine
#endif

@MainActor @Suite("A guest login follows the session by itself", .timeLimit(.minutes(10)))
struct GuestLoginFollowingTests {
    @Test(
        "restored sessions and sessions ended by the server are followed without run()",
        arguments: ModelVariant.allCases)
    func follows(variant: ModelVariant) async throws {
        let time = ManualTimeSource()
        let backend = Backend(store: .inMemory(holding: .fresh(at: time.wallClock)), time: time) { _ in .status(401) }
        let login = try variant.login(GuestRegistration(backend.client))
        await waitUntil { login.isAuthenticated }
        _ = try? await backend.client.data(for: Call<NoContent>.get("/me"))
        await waitUntil { !login.isAuthenticated }
    }

    @Test(
        "a login that is made after the session was restored is authenticated at once", arguments: ModelVariant.allCases
    )
    func restored(variant: ModelVariant) async throws {
        let time = ManualTimeSource()
        let backend = Backend(store: .inMemory(holding: .fresh(at: time.wallClock)), time: time)
        await backend.tokens.restore()
        let login = try variant.login(GuestRegistration(backend.client))
        #expect(login.isAuthenticated && login.state.isAuthenticated)
        await backend.tokens.signOut()
        await waitUntil { !login.isAuthenticated }
    }

    @Test(
        "another user who signs in without a sign-out sees nothing of the previous one",
        arguments: ModelVariant.allCases)
    func anotherUser(variant: ModelVariant) async throws {
        let backend = Backend()
        let login = try variant.login(GuestRegistration(backend.client))
        login.userName = "Ada"
        login.selectedImage = .file(at: "/a.jpg")
        let source = StoredSession.fresh(at: backend.time.wallClock)
        _ = try await backend.tokens.signIn(with: source.tokens, account: SessionAccount(userID: "7", isGuest: true))
        await waitUntil { login.isAuthenticated }
        // The same user with an account in place of the guest.
        _ = try await backend.tokens.signIn(with: source.tokens, account: SessionAccount(userID: "7"))
        for _ in 0..<1000 { await Task.yield() }
        #expect(login.userName == "Ada" && login.selectedImage == .file(at: "/a.jpg"))
        _ = try await backend.tokens.signIn(with: source.tokens, account: SessionAccount(userID: "8"))
        await waitUntil { login.userName.isEmpty }
        #expect(login.isAuthenticated && login.guest == nil && login.selectedImage == nil)
    }

    @Test(
        "a sign-out from a session that had expired before the launch clears the form", arguments: ModelVariant.allCases
    )
    func expiredBeforeLaunch(variant: ModelVariant) async throws {
        let state = Locked(SessionState.expired(.noRefreshToken))
        let (changes, change) = AsyncStream.makeStream(of: SessionState.self)
        let source = SessionSource(state: { state.withLock { $0 } }, changes: { changes })
        let login = try variant.login(GuestRegistration(session: source) { name, _, _ in Guest(id: name) })
        login.userName = "Ada"
        login.selectedImage = .file(at: "/a.jpg")
        state.withLock { $0 = .signedOut }
        change.yield(.signedOut)
        await waitUntil { login.userName.isEmpty }
        #expect(login.selectedImage == nil)
    }

    @Test("a released model stops following", arguments: ModelVariant.allCases)
    func released(variant: ModelVariant) async throws {
        let ended = Gate()
        let source = SessionSource(
            state: { .signedOut },
            changes: {
                AsyncStream { continuation in
                    continuation.yield(.signedOut)
                    continuation.onTermination = { _ in ended.open() }
                }
            })
        var login: (any GuestLogin)? = try variant.login(
            GuestRegistration(session: source) { name, _, _ in Guest(id: name) })
        weak let left = login
        for _ in 0..<100 { await Task.yield() }
        login = nil
        await ended.pass()
        #expect(left == nil)
    }

    @Test(
        "without a session of its own, as in a preview, a registration authenticates", arguments: ModelVariant.allCases)
    func preview(variant: ModelVariant) async throws {
        let login = try variant.login(GuestRegistration { name, _, _ in Guest(id: name) })
        login.userName = "Ada"
        await login.registerGuest().value
        for _ in 0..<100 { await Task.yield() }
        #expect(login.isAuthenticated)
    }

    #if canImport(Combine) || OpenCombine
        @Test("a view model publishes the name and whether a user is signed in") func publishers() async throws {
            let backend = Backend()
            let login = GuestLoginViewModel(backend.client)
            var names: [String] = []
            var authenticated: [Bool] = []
            let first = login.$userName.sink { names.append($0) }
            let second = login.$isAuthenticated.sink { authenticated.append($0) }
            login.userName = "A"
            login.userName = "Ada"
            #expect(login.state.userName == "Ada")
            await login.registerGuest().value
            #expect(authenticated == [false, true])
            await login.logout().value
            #expect(authenticated == [false, true, false])
            // The next user does not see the name, however it was set.
            #expect(names == ["", "A", "Ada", ""] && login.userName == "")
            var pictures: [ImageSource?] = []
            let third = login.$selectedImage.sink { pictures.append($0) }
            defer { third.cancel() }
            let any: any GuestLogin = login
            login.selectedImage = .file(at: "/a.jpg")
            #expect(login.state.selectedImage == .file(at: "/a.jpg") && any.selectedImage == .file(at: "/a.jpg"))
            any.selectedImage = .file(at: "/b.jpg")
            login.discardUnreadableImage()
            #expect(pictures == [nil, .file(at: "/a.jpg"), .file(at: "/b.jpg"), nil])
            any.userName = "Grace"
            #expect(login.userName == "Grace" && names.last == "Grace")
            first.cancel()
            second.cancel()
        }
    #endif
}
