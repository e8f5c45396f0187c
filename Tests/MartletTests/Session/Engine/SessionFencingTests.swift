import Foundation
import MartletGuests
import MartletTesting
import Testing

@testable import Martlet

@Suite("A session that has ended", .timeLimit(.minutes(10))) struct SessionFencingTests {
    @Test("the late response to an upgrade does not restore it") func lateUpgrade() async throws {
        let app = try await App.signedIn()
        let gate = Gate()
        app.backend.beforeCall { request in
            guard request.path == "/upgrade" else { return nil }
            await gate.pass()
            return .json(#"{"accessToken":"upgraded","refreshToken":"upgraded-refresh"}"#)
        }
        let upgrade = Task {
            await error { let _: NoContent = try await app.client.signIn(Get("/upgrade", .required)) }
        }
        await gate.waitForArrivals()
        await app.tokens.signOut()
        let bob = try await app.tokens.signIn(with: Tokens(accessToken: "bob", refreshToken: "bob-refresh"))
        gate.open()
        guard case .sessionChanged = await upgrade.value else {
            Issue.record("the upgrade was applied to a session that has ended")
            return
        }
        #expect(app.tokens.state == .signedIn(bob))
    }

    @Test("a sign-in that was sent before a sign-out starts no session, even while the store is being read")
    func loginBeforeSignOut() async throws {
        let (store, reading, response) = (FailingTokenStore(), Gate(), Gate())
        let backend = try await App.signedIn(store: store).backend
        store.hold(.read, at: reading)
        let app = App(backend, store: store)
        backend.beforeCall { _ in
            await response.pass()
            return .json(#"{"accessToken":"late","refreshToken":"late-refresh"}"#)
        }
        let login = Task { await error { let _: NoContent = try await app.client.signIn(Get("/login", .none)) } }
        await response.waitForArrivals()
        let signOut = Task { await app.tokens.signOut() }
        await reading.waitForArrivals()
        response.open()
        for _ in 0..<1000 { await Task.yield() }
        reading.open()
        guard case .sessionChanged = await login.value else {
            Issue.record("the sign-in has undone the sign-out")
            return
        }
        await signOut.value
        #expect(app.tokens.state == .signedOut)
        #expect(await store.read() == .empty)
    }

    @Test("the late response to a guest registration does not replace the user, and its tokens are revoked")
    func lateGuest() async throws {
        let app = App()
        let gate = Gate()
        app.backend.beforeCall { _ in
            await gate.pass()
            return .json(#"{"user":{"id":1},"accessToken":"guest","refreshToken":"guest-refresh"}"#)
        }
        var events = app.tokens.events.makeAsyncIterator()
        let guest = Task { await error { try await GuestAuthService(app.client).register(name: "Ada") } }
        await gate.waitForArrivals()
        let bob = try await app.tokens.signIn(with: .fresh(7))
        gate.open()
        guard case .sessionChanged = await guest.value else {
            Issue.record("the late guest replaced the user")
            return
        }
        #expect(app.tokens.state == .signedIn(bob))
        while let event = await events.next() {
            if event == .revoked { break }
        }
        #expect(app.backend.revoked.contains { $0.contains("guest-refresh") })
    }

    @Test("a former user's record is deleted if the next user's record cannot be written")
    func switchOnFullDisk() async throws {
        let store = FailingTokenStore()
        let app = try await App.signedIn(store: store)
        store.fail(.write, times: nil)
        let bob = try await app.tokens.signIn(with: Tokens(accessToken: "bob", refreshToken: "bob-refresh"))
        await app.tokens.flushStore()
        #expect(!bob.isSaved)
        #expect(await store.read().isEmpty)
    }

    @Test("an expiry declared by the server does not delete an unreadable record") func unreadableAtTheEnd()
        async throws
    {
        let memory = InMemoryTokenStore()
        let store = FailingTokenStore(memory)
        let app = try await App.signedIn(store: store)
        app.backend.revokeSession()
        store.fail(.read, times: nil, with: StorageError(.locked, "locked"))
        var events = app.tokens.events.makeAsyncIterator()
        await #expect(throws: SessionError.self) { try await app.tokens.refresh() }
        // Once for the expiry that could not be confirmed, and once for the first deletion after it.
        for _ in 1...2 {
            while let event = await events.next() {
                if case .storeDeleteFailed(let error) = event, error.kind == .locked { break }
            }
        }
        #expect(!store.operations.contains(.delete))

        // A user who has signed in by then stays signed in.
        store.recover()
        let other = StoredSession(id: SessionID(), generation: 1 << 50, tokens: .fresh(9))
        await memory.write(other)
        let clock = Task {
            while !Task.isCancelled {
                app.time.advanceToNextSleeper()
                await Task.yield()
            }
        }
        while let event = await events.next() {
            if event == .storeRecovered(nil) { break }
        }
        clock.cancel()
        #expect(await store.read() == .found(other))
        #expect(!store.operations.contains(.delete))
    }
}
