import Foundation
import MartletGuests
import MartletTesting
import Testing

@testable import Martlet

@Suite("A sign-in without the user gives way to one of the user", .timeLimit(.minutes(10)))
struct UnattendedSignInTests {
    private static let guest = #"{"user":{"id":1},"accessToken":"guest","refreshToken":"guest-refresh"}"#
    private let ada = SessionAccount(userID: "ada")

    /// The ways in which an automatic sign-in starts a session.
    enum Way: CaseIterable {
        case registersGuest, signsInOverHTTP, hasTokens

        func signIn(_ client: NetworkClient) async throws {
            switch self {
            case .registersGuest: try await GuestAuthService(client).register(name: "Ada")
            case .signsInOverHTTP: try await client.signIn(Get("/auth/guest/register", .none), as: NoContent.self)
            case .hasTokens:
                try await client.tokens?.signIn(with: Tokens(accessToken: "guest", refreshToken: "guest-refresh"))
            }
        }
    }

    @Test("automaticSignIn gives way if the user signs in while its closure waits", arguments: Way.allCases)
    func automatic(way: Way) async throws {
        let gate = Gate()
        let app = App { config in
            config.automaticSignIn = { client in
                // For example, for an attestation of the device.
                await gate.pass()
                try await way.signIn(client)
            }
        }
        app.backend.beforeCall { request in
            request.path == "/auth/guest/register" ? .json(Self.guest) : .json(#"{"path":"/me","token":"seen"}"#)
        }
        let call = Task { await app.call() }
        await gate.waitForArrivals()
        let user = try await app.tokens.signIn(with: app.backend.issue(), account: ada)
        gate.open()
        #expect(await call.value.isSuccess)
        // Nothing was registered in vain.
        let requests = app.transport.requests.filter { $0.path != "/auth/logout" }
        #expect(requests.map(\.path) == ["/me"] && requests.map(\.bearer) == ["access-1"])
        #expect(app.tokens.state == .signedIn(user))
        #expect(!app.backend.revoked.contains { $0.contains("refresh-1") })
    }

    @Test("automaticSignIn does not replace a user who has expired while its closure waits", arguments: Way.allCases)
    func expired(way: Way) async throws {
        let gate = Gate()
        let app = App { config in
            config.automaticSignIn = { client in
                await gate.pass()
                try await way.signIn(client)
            }
        }
        let call = Task { await app.call() }
        await gate.waitForArrivals()
        try await app.tokens.signIn(with: app.backend.issue(), account: ada)
        app.backend.revokeSession()
        _ = try? await app.tokens.refresh()
        guard case .expired = app.tokens.state else {
            Issue.record("the session has not expired")
            return
        }
        gate.open()
        #expect(await !call.value.isSuccess)
        guard case .expired = app.tokens.state else {
            Issue.record("a guest has replaced the user whose session has expired")
            return
        }
    }

    @Test("a sign-in of automaticSignIn that requires a token does not carry that of a user who has signed in since")
    func requiredToken() async throws {
        let gate = Gate()
        let failure = Locked<NetworkError?>(nil)
        let app = App { config in
            config.automaticSignIn = { client in
                try await Way.hasTokens.signIn(client)
                await gate.pass()
                let link = await error { try await client.signIn(Get("/link", .required), as: NoContent.self) }
                failure.withLock { $0 = link }
            }
        }
        app.backend.beforeCall { _ in .json(#"{"path":"/me","token":"seen"}"#) }
        let call = Task { await app.call() }
        await gate.waitForArrivals()
        let user = try await app.tokens.signIn(with: app.backend.issue(), account: ada)
        gate.open()
        _ = await call.value
        guard case .sessionChanged? = failure.withLock({ $0 }) else {
            Issue.record("the sign-in was not refused")
            return
        }
        #expect(!app.transport.requests.contains { $0.path == "/link" })
        #expect(app.tokens.state == .signedIn(user))
    }

    @Test("a user's sign-in that was sent before wins, although the automatic one has finished first")
    func userFinishesLater() async throws {
        let gate = Gate()
        let jar = CookieJar()
        let app = App { config in
            config.cookies = jar
            config.automaticSignIn = { client in try await Way.hasTokens.signIn(client) }
        }
        let tokens = app.backend.issue()
        app.backend.beforeCall { request in
            guard request.path == "/login" else { return .json(#"{"path":"/me","token":"seen"}"#) }
            await gate.pass()
            let body = #"{"accessToken":"\#(tokens.accessToken.reveal())","refreshToken":"refresh-1"}"#
            return .json(body, headers: [.setCookie: "sid=ada"])
        }
        await app.tokens.restore()
        let login = Task { try await app.client.signIn(Call<NoContent>.post("/login", .json(["a": 1]))) }
        await gate.waitForArrivals()
        #expect(await app.call().isSuccess)
        #expect(app.tokens.currentTokens?.accessToken.reveal() == "guest")
        gate.open()
        _ = try await login.value
        #expect(app.tokens.currentTokens?.accessToken == tokens.accessToken)
        #expect(await app.call().isSuccess)
        let last = try #require(app.transport.requests.last { $0.path == "/me" })
        #expect(last.headers[.cookie] == "sid=ada")
    }

    @Test("a sign-out still comes before a user's sign-in, whatever an automatic one does") func signOutBetween()
        async throws
    {
        var machine = SessionStateMachine(policy: SessionPolicy())
        _ = machine.loadRequested(by: 0)
        machine.answer(.read, .empty)
        let start = machine.epoch
        machine.signedIn(record("guest", 1), deadlines: nil, isUnattended: true, by: 1)
        #expect(machine.acceptsSignIn(since: start))
        machine.signedOut(at: SessionStateMachine.wallClock)
        #expect(!machine.acceptsSignIn(since: start))
        machine.signedIn(record("guest-2", 2), deadlines: nil, isUnattended: true, by: 2)
        #expect(!machine.acceptsSignIn(since: start))
        let now = machine.epoch
        machine.signedIn(record("bob", 3), deadlines: nil, by: 3)
        #expect(!machine.acceptsSignIn(since: now))
    }

    private func record(_ user: String, _ generation: Int) -> StoredSession {
        StoredSession(id: SessionID(rawValue: user), generation: generation, tokens: .fresh(generation))
    }

    @Test(
        "an automatic sign-in gives way to a user who has signed in in another process",
        arguments: [StoreReading.empty, .ended(EndMark(.end(ofGeneration: 4)))])
    func otherProcess(known: StoreReading) {
        var machine = SessionStateMachine(policy: SessionPolicy(), sharesStore: true)
        _ = machine.loadRequested(by: 0)
        machine.answer(.read, known)
        _ = machine.takeActions()
        let (guest, bob) = (record("guest", 6), record("bob", 5))
        machine.signedIn(guest, deadlines: nil, isUnattended: true, by: 1)
        #expect(machine.answer(.write, .found(bob)) == .keep)
        #expect(machine.currentRecord == bob)
        let actions = machine.takeActions()
        #expect(actions.contains(.revoke(guest.tokens, expiresAt: nil)))
        #expect(!actions.contains(.revoke(bob.tokens, expiresAt: nil)))
        // Without one, it is stored.
        var alone = SessionStateMachine(policy: SessionPolicy(), sharesStore: true)
        _ = alone.loadRequested(by: 0)
        alone.answer(.read, known)
        alone.signedIn(guest, deadlines: nil, isUnattended: true, by: 1)
        #expect(alone.answer(.write, known) == .write(guest))
    }

    @Test("a call that is made after a sign-out signs in again, although it joined the sign-in before it")
    func afterSignOut() async throws {
        let (gate, signIns) = (Gate(), Locked(0))
        let app = App { config in
            config.automaticSignIn = { client in
                let number = signIns.withLock { signIns in
                    signIns += 1
                    return signIns
                }
                try await client.tokens?.signIn(with: .fresh(number))
                if number == 1 { await gate.pass() }
            }
        }
        app.backend.beforeCall { _ in .json(#"{"path":"/me","token":"seen"}"#) }
        let first = Task { await app.call() }
        await gate.waitForArrivals()
        await app.tokens.signOut()
        let second = Task { await app.call() }
        while app.client.gate?.waiting != 2 { await Task.yield() }
        gate.open()
        #expect(await second.value.isSuccess)
        _ = await first.value
        #expect(signIns.withLock { $0 } == 2)
    }

    @Test("a registration gives way to a user's sign-in that is being saved", arguments: [false, true])
    func whileSaved(isReplaced: Bool) async throws {
        let (store, gate) = (FailingTokenStore(), Gate())
        let app = App(store: store)
        if isReplaced { try await app.tokens.signIn(with: app.backend.issue()) } else { await app.tokens.restore() }
        store.hold(.write, at: gate)
        let signIn = Task { try await app.tokens.signIn(with: app.backend.issue(), account: ada) }
        await gate.waitForArrivals()
        app.backend.beforeCall { _ in .json(Self.guest) }
        let failure = await error { try await GuestAuthService(app.client).register(name: "Ada") }
        gate.open()
        let user = try await signIn.value
        guard case .sessionChanged? = failure else {
            Issue.record("the registration has replaced the user")
            return
        }
        #expect(!app.transport.requests.contains { $0.path == "/auth/guest/register" })
        #expect(app.tokens.state == .signedIn(user))
    }

    @Test("an automatic sign-in ends with a sign-in and a sign-out that come before its response") func signedOutSince()
        async throws
    {
        let gate = Gate()
        let app = App { config in config.automaticSignIn = Way.registersGuest.signIn }
        app.backend.beforeCall { request in
            guard request.path == "/auth/guest/register" else { return nil }
            await gate.pass()
            return .json(Self.guest)
        }
        await app.tokens.restore()
        let call = Task { await app.call() }
        await gate.waitForArrivals()
        try await app.tokens.signIn(with: app.backend.issue(), account: ada)
        await app.tokens.signOut()
        gate.open()
        #expect(await call.value.error != nil)
        #expect(app.tokens.state == .signedOut)
        #expect(!app.transport.requests(to: "/me").contains { $0.bearer != nil })
    }

    @Test("a registration gives way while its picture is being prepared") func picture() async throws {
        let gate = Gate()
        let app = App()
        await app.tokens.restore()
        app.backend.beforeCall { _ in .json(Self.guest) }
        let guest = Task {
            await error {
                _ = try await GuestAuthService(app.client).registrationResponse(name: "Ada", monitor: nil) {
                    () async throws(InvalidRequestError) in
                    await gate.pass()
                    return nil
                }
            }
        }
        await gate.waitForArrivals()
        let user = try await app.tokens.signIn(with: app.backend.issue(), account: ada)
        gate.open()
        guard case .sessionChanged? = await guest.value else {
            Issue.record("the registration has replaced the user")
            return
        }
        #expect(app.tokens.state == .signedIn(user))
    }

    @Test("automaticSignIn does not sign out a user who has signed in since it began") func signsOutLater() async throws
    {
        let gate = Gate()
        let app = App { config in
            config.automaticSignIn = { client in
                await gate.pass()
                await client.tokens?.signOut()
                throw CancellationError()
            }
        }
        await app.tokens.restore()
        let call = Task { await app.call() }
        await gate.waitForArrivals()
        let user = try await app.tokens.signIn(with: app.backend.issue(), account: ada)
        gate.open()
        _ = await call.value
        #expect(app.tokens.state == .signedIn(user))
    }

    @Test("an automatic sign-in that has signed out gives way to a user who signs in at that moment")
    func userBetweenTheStepsOfASignOut() async throws {
        let time = WatchedTime()
        let failures = Locked<[SessionError?]>([])
        let transport = StubTransport { _ in .status(204) }
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"),
            transport: transport, connectivity: nil, time: time)
        let client = NetworkClient(
            tokens: tokens,
            config: config {
                $0.automaticSignIn = { client in
                    let tokens = client.tokens
                    // A sign-out reads the clock between its two steps.
                    time.onRead {
                        guard let tokens, tokens.epoch > 0 else { return false }
                        tokens.signInAndStore(.fresh(7))
                        return true
                    }
                    await tokens?.signOut()
                    do throws(SessionError) {
                        try await tokens?.signIn(with: .fresh(1))
                        failures.withLock { $0.append(nil) }
                    } catch {
                        failures.withLock { $0.append(error) }
                        throw error
                    }
                }
            })
        await tokens.restore()
        _ = await error { _ = try await client.data(for: Get("/me", .required)) }
        #expect(failures.withLock { $0 } == [.sessionChanged])
        #expect(tokens.currentTokens?.accessToken == Tokens.fresh(7).accessToken)
    }

    @Test("automaticSignIn may sign out, and sign in again") func signsOut() async throws {
        let app = App { config in
            config.automaticSignIn = { client in
                try await client.tokens?.signIn(with: .fresh(5))
                await client.tokens?.signOut()
                try await client.tokens?.signIn(with: .fresh(6))
                try await client.tokens?.signIn(with: .fresh(7), account: SessionAccount(userID: "seven"))
            }
        }
        app.backend.beforeCall { _ in .json(#"{"path":"/me","token":"seen"}"#) }
        #expect(await app.call().isSuccess)
        guard case .signedIn(let session) = app.tokens.state else {
            Issue.record("no user is signed in")
            return
        }
        #expect(session.account.userID == "seven")
    }

    @Test("a step after the registration of a guest belongs to the same automatic sign-in") func stepAfterRegistration()
        async throws
    {
        let app = App { config in
            config.automaticSignIn = { client in
                try await Way.registersGuest.signIn(client)
                try await client.signIn(Get("/link", .required), as: NoContent.self)
            }
        }
        app.backend.beforeCall { request in
            switch request.path {
            case "/auth/guest/register": return .json(Self.guest)
            case "/link": return .json(#"{"accessToken":"linked","refreshToken":"linked-refresh"}"#)
            default: return .json(#"{"path":"/me","token":"seen"}"#)
            }
        }
        #expect(await app.call().isSuccess)
        #expect(app.transport.requests(to: "/link").map(\.bearer) == ["guest"])
        #expect(app.transport.requests(to: "/me").map(\.bearer) == ["linked"])
    }

    @Test("automatic sign-ins to two sessions that need each other fail, and do not wait for each other") func mutual()
        async throws
    {
        let second = Locked<NetworkClient?>(nil)
        let one = App { config in
            config.automaticSignIn = { _ in
                let client = try #require(second.withLock { $0 })
                let _: Echo = try await client.send(Get("/me"))
            }
        }
        let other = App { config in
            config.automaticSignIn = { [client = one.client] _ in let _: Echo = try await client.send(Get("/me")) }
        }
        second.withLock { $0 = other.client }
        defer { second.withLock { $0 = nil } }
        guard case .signInRequired = await one.call().error else {
            Issue.record("the call was sent without a session")
            return
        }
        #expect(one.transport.requests.isEmpty && other.transport.requests.isEmpty)
    }

    @TaskLocal private static var caller = "none"

    @Test("no task-local value of the call that starts it reaches automaticSignIn", arguments: Way.allCases)
    func taskLocals(way: Way) async throws {
        let seen = Log()
        let app = App { config in
            config.automaticSignIn = { client in
                seen.add(Self.caller)
                try await way.signIn(client)
            }
        }
        app.backend.beforeCall { request in
            guard request.path == "/auth/guest/register" else { return .json(#"{"path":"/me","token":"seen"}"#) }
            seen.add(Self.caller)
            return .json(Self.guest)
        }
        let result = await Self.$caller.withValue("first") { await app.call() }
        #expect(result.isSuccess)
        #expect(Set(seen.lines) == ["none"])
    }

    @Test("no task-local value of the caller that starts it reaches a registration, which others may join")
    func taskLocalsOfRegistration() async throws {
        let seen = Log()
        let app = App()
        await app.tokens.restore()
        app.backend.beforeCall { _ in
            seen.add(Self.caller)
            return .json(Self.guest)
        }
        let guests = GuestAuthService(app.client)
        let response = try await Self.$caller.withValue("first") {
            try await guests.registrationResponse(name: "Ada", monitor: nil) { () async throws(InvalidRequestError) in
                seen.add(Self.caller)
                return nil
            }
        }
        #expect(response.value.id == "1")
        #expect(seen.lines == ["none", "none"])
    }

    @Test("a call fails for the store, and not for want of a session, if the store cannot be read")
    func unread() async throws {
        let store = FailingTokenStore()
        store.fail(.read, times: 1, with: StorageError(.unreachable, "busy"))
        let app = App(store: store) { config in
            config.automaticSignIn = { client in try await client.tokens?.signIn(with: .fresh(5)) }
        }
        app.backend.beforeCall { _ in .json(#"{"path":"/me","token":"seen"}"#) }
        guard case .storageUnavailable? = await app.call().error else {
            Issue.record("the call did not fail for the store")
            return
        }
        #expect(await app.call().isSuccess)
    }

    @Test("a registration that is cancelled while its session is being saved is in force, and its caller learns that")
    func cancelled() async throws {
        let (store, gate) = (FailingTokenStore(), Gate())
        let app = App(store: store)
        await app.tokens.restore()
        store.hold(.write, at: gate)
        app.backend.beforeCall { _ in .json(Self.guest) }
        let guest = Task { try await GuestAuthService(app.client).register(name: "Ada") }
        await gate.waitForArrivals()
        guest.cancel()
        gate.open()
        #expect(try await guest.value.id == "1")
        #expect(app.tokens.state.isSignedIn)
    }
}
