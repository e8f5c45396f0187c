import Foundation
import MartletGuests
import MartletTesting
import Testing

@testable import Martlet

/// A value whose encoding takes time.
private struct SlowValue: Encodable, Sendable {
    let wait: @Sendable () -> Void

    func encode(to encoder: any Encoder) throws {
        wait()
        var container = encoder.singleValueContainer()
        try container.encode("text")
    }
}

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

    @Test("a user who signs out while the store is being read is not shown as signed in") func hiddenSession()
        async throws
    {
        let (store, reading) = (FailingTokenStore(), Gate())
        let backend = try await App.signedIn(store: store).backend
        store.hold(.read, at: reading)
        let app = App(backend, store: store)
        let states = app.tokens.states
        await reading.waitForArrivals()
        let signOut = Task { await app.tokens.signOut() }
        while app.tokens.epoch == 0 { await Task.yield() }
        reading.open()
        await signOut.value
        let seen = Locked<[SessionState]>([])
        for await state in states {
            seen.withLock { $0.append(state) }
            if state == .signedOut { break }
        }
        #expect(seen.withLock { $0 } == [.loading, .signedOut])
    }

    @Test(
        "a call that waits for the store while its user signs out is not sent without a token",
        arguments: [AuthenticationRequirement.required, .ifSignedIn])
    func callBeforeSignOut(requirement: AuthenticationRequirement) async throws {
        let (store, reading) = (FailingTokenStore(), Gate())
        let backend = try await App.signedIn(store: store).backend
        store.hold(.read, at: reading)
        let app = App(backend, store: store)
        let call = Task { await error { _ = try await app.client.data(for: Get("/me", requirement)) } }
        await reading.waitForArrivals()
        let signOut = Task { await app.tokens.signOut() }
        while app.tokens.epoch == 0 { await Task.yield() }
        reading.open()
        await signOut.value
        guard case .sessionChanged = await call.value else {
            Issue.record("the call went on")
            return
        }
        #expect(app.transport.requests(to: "/me").isEmpty)
    }

    @Test("a sign-in that begins after a sign-out starts a session, however long the store takes")
    func loginAfterSignOut() async throws {
        let (store, reading, response) = (FailingTokenStore(), Gate(), Gate())
        let backend = try await App.signedIn(store: store).backend
        store.hold(.read, at: reading)
        let app = App(backend, store: store)
        let signOut = Task { await app.tokens.signOut() }
        await reading.waitForArrivals()
        let issued = backend.issue()
        backend.beforeCall { _ in
            await response.pass()
            return .json(
                #"{"accessToken":"\#(issued.accessToken.reveal())","refreshToken":"\#(issued.refreshToken?.reveal() ?? "")"}"#
            )
        }
        let login = Task { await error { let _: NoContent = try await app.client.signIn(Get("/login", .none)) } }
        await response.waitForArrivals()
        reading.open()
        await signOut.value
        response.open()
        #expect(await login.value == nil)
        #expect(app.tokens.currentTokens?.accessToken == issued.accessToken)
    }

    @Test("a sign-out during the reading of the store names the session that it has found") func departure()
        async throws
    {
        let (store, reading) = (FailingTokenStore(), Gate())
        let first = try await App.signedIn(store: store)
        guard case .signedIn(let session) = first.tokens.state else {
            Issue.record("no user is signed in")
            return
        }
        store.hold(.read, at: reading)
        let app = App(first.backend, store: store)
        let departures = Locked<[Set<SessionID>]>([])
        let cancel = app.tokens.onDeparture { ended in departures.withLock { $0.append(ended) } }
        defer { cancel() }
        let signOut = Task { await app.tokens.signOut() }
        await reading.waitForArrivals()
        reading.open()
        await signOut.value
        #expect(departures.withLock { $0.reduce(into: []) { $0.formUnion($1) } } == [session.id])
    }

    @Test("a token that expires while the body is encoded is replaced before it is sent") func slowEncoding()
        async throws
    {
        let time = ManualTimeSource()
        let transport = StubTransport { request in
            request.path == "/auth/refresh" ? .tokens(.fresh(2)) : .status(204)
        }
        let tokens = manager(over: transport, time)
        try await tokens.signIn(with: .fresh(1))
        let value = SlowValue { time.advance(by: .seconds(7200)) }
        try await NetworkClient(tokens: tokens).send(Call<NoContent>.post("/articles", .json(value)))
        #expect(transport.requests(to: "/articles").map(\.bearer) == ["access-2"])
    }

    @Test("a token that expires while the body is opened is replaced before it is sent") func slowOpening() async throws
    {
        let time = ManualTimeSource()
        let transport = StubTransport { request in
            request.path == "/auth/refresh" ? .tokens(.fresh(2)) : .status(204)
        }
        let tokens = manager(over: transport, time)
        try await tokens.signIn(with: Tokens(accessToken: "access-1", refreshToken: "r", lifetime: .seconds(10)))
        let body = RequestBody.stream(length: 1, contentType: nil) {
            time.advance(by: .seconds(11))
            return ByteStream(Data("x".utf8))
        }
        try await NetworkClient(tokens: tokens).send(Call<NoContent>.put("/articles/7", body))
        #expect(transport.requests(to: "/articles/7").map(\.bearer) == ["access-2"])
    }

    private func manager(over transport: StubTransport, _ time: ManualTimeSource) -> TokenManager {
        TokenManager(
            baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"),
            transport: transport, time: time)
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
