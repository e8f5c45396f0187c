import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("A session that has been left") struct SessionFencingTests {
    @Test("does not come back with a late upgrade") func lateUpgrade() async throws {
        let app = try await App.signedIn()
        let gate = Gate()
        app.backend.beforeCall { request in
            guard request.path == "/upgrade" else { return nil }
            await gate.pass()
            return .json(#"{"accessToken":"upgraded","refreshToken":"upgraded-refresh"}"#)
        }
        let upgrade = Task {
            await error { let _: Empty = try await app.client.signIn(Get("/upgrade", .required)) }
        }
        await gate.waitForArrivals()
        await app.tokens.signOut()
        let bob = try await app.tokens.signIn(with: TokenBundle(accessToken: "bob", refreshToken: "bob-refresh"))
        gate.open()
        guard case .sessionChanged = await upgrade.value else {
            Issue.record("the upgrade belonged to a session that is over")
            return
        }
        #expect(app.tokens.state == .signedIn(bob))
    }

    @Test("a late guest does not take a user's place, and the guest's tokens are taken back") func lateGuest()
        async throws
    {
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
            Issue.record("the guest came too late")
            return
        }
        #expect(app.tokens.state == .signedIn(bob))
        while let event = await events.next() {
            if event == .revoked { break }
        }
        #expect(app.backend.revoked.contains { $0.contains("guest-refresh") })
    }

    @Test("a cancelled registration registers nobody") func cancelledGuest() async throws {
        let app = App()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await error { try await GuestAuthService(app.client).register(name: "Ada") }
        }
        #expect(await task.value?.isCancelled == true)
        #expect(app.transport.requests.isEmpty)
    }

    @Test("a former user does not come back after a switch on a full disk") func switchOnFullDisk() async throws {
        let store = FailingTokenStore()
        let app = try await App.signedIn(store: store)
        store.fail(.write, times: nil)
        let bob = try await app.tokens.signIn(with: TokenBundle(accessToken: "bob", refreshToken: "bob-refresh"))
        await app.tokens.storeLane.flush()
        #expect(!bob.isSaved)
        #expect(await store.read() == .empty)
    }

    @Test("a refresh that is stored again after a failure says so") func recovered() async throws {
        let store = FailingTokenStore()
        let app = try await App.signedIn(store: store)
        store.fail(.write, times: nil)
        try await app.tokens.refresh()
        var events = app.tokens.events.makeAsyncIterator()
        store.heal()
        try await app.tokens.refresh()
        while let event = await events.next() {
            if case .storeRecovered = event { break }
        }
    }

    @Test("a failed write is tried again by one timer, however many refreshes fail to be stored") func oneTimer() {
        var machine = SessionStateMachine(policy: SessionPolicy())
        machine.signedIn(StoredSession(id: SessionID(), bundle: .fresh()), life: nil, by: 1)
        let failure = StorageFailure(.unreachable, "full")
        var timers = 0
        func take() -> (save: SessionStateMachine.SaveOrder?, refresh: SessionStateMachine.RefreshOrder?) {
            var found: (save: SessionStateMachine.SaveOrder?, refresh: SessionStateMachine.RefreshOrder?)
            for action in machine.takeActions() {
                if case .save(let order) = action { found.save = order }
                if case .refresh(let order) = action { found.refresh = order }
                if case .retrySave = action { timers += 1 }
            }
            return found
        }
        let nothing = SessionStateMachine.Sighting(reading: .empty)
        let journal = RefreshJournal(startedAt: Date(timeIntervalSince1970: 0), fingerprint: "")
        if let save = take().save { machine.saved(save, over: nothing, failure: failure) }
        for number in 0..<20 {
            _ = machine.refreshForced(by: 100 + number, at: .seconds(100 * number))
            if let order = take().refresh {
                let now = Duration.seconds(100 * number)
                let isToBeSent = machine.prepared(
                    order, over: nothing, journal: journal, failure: failure, at: now, jitter: 0)
                #expect(isToBeSent)
                _ = machine.refreshFinished(
                    order, .success(.fresh(number), nil, freshUntil: nil), at: now, jitter: 0)
            }
            if let save = take().save { machine.saved(save, over: nothing, failure: failure) }
            _ = take()
        }
        #expect(timers == 1)
    }

    @Test("an end that the server declares deletes no record that cannot be read") func unreadableAtTheEnd()
        async throws
    {
        let memory = InMemoryTokenStore()
        let store = FailingTokenStore(memory)
        let app = try await App.signedIn(store: store)
        app.backend.revokeSession()
        store.fail(.read, times: nil, with: StorageFailure(.locked, "locked"))
        var events = app.tokens.events.makeAsyncIterator()
        await #expect(throws: SessionError.self) { try await app.tokens.refresh() }
        // Once for the record that was to go with the refusal, and once for the first try to delete it after that.
        for _ in 1...2 {
            while let event = await events.next() {
                if case .storeFailed(.delete, let why) = event, why.kind == .locked { break }
            }
        }
        #expect(!store.operations.contains(.delete))

        // Whoever is signed in by then stays.
        store.heal()
        let other = StoredSession(id: SessionID(), bundle: .fresh(9))
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

    @Test("a sign-in carries no token of whoever was signed in before, and interceptors see its endpoint")
    func signInIsUnsigned() async throws {
        struct Login: APIEndpoint { let path = "/public/login" }
        struct Look: RequestInterceptor {
            let log: Log
            func adapt(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
                log.add("\(type(of: context.endpoint))")
            }
        }
        let log = Log()
        let app = try await App.signedIn { $0.interceptors = [Look(log: log)] }
        app.backend.beforeCall { _ in .json(#"{"accessToken":"next"}"#) }
        let _: Empty = try await app.client.signIn(Login())
        #expect(app.transport.requests.last?.headers[.authorization] == nil)
        #expect(log.lines == ["Login"])
    }
}

@Suite("What a server may send") struct HostileAnswerTests {
    @Test(
        "senseless times crash nothing",
        arguments: [
            #""expiresAt":1e40"#, #""expiresAt":-1e40"#, #""expiresIn":1e300"#, #""expires_at":"9999999999999""#,
        ])
    func senselessTimes(field: String) async throws {
        let app = try await App.signedIn()
        app.backend.beforeRefresh { _ in .json(#"{"accessToken":"a","refreshToken":"b",\#(field)}"#) }
        try await app.tokens.refresh()
        #expect(app.tokens.state.isSignedIn)
    }

    @Test(
        "a JWT's senseless times crash nothing", arguments: [#"{"iat":1,"exp":1e40}"#, #"{"exp":1e300}"#, "{}", "[]"])
    func senselessClaims(claims: String) async throws {
        let app = App()
        try await app.tokens.signIn(with: TokenBundle(accessToken: UnsignedJWT.make(claims: claims)))
        #expect(app.tokens.state.isSignedIn)
    }

    @Test("a stored record's senseless times crash nothing") func senselessRecord() async throws {
        let json = """
            {"version":1,"session":{"id":"x","rotation":0,"bundle":{"accessToken":"a","refreshToken":"b"},\
            "freshUntil":1e300,"lifetime":[195,2875508588929155072],"account":{"isGuest":false}}}
            """
        let record = try StoredSessionCodec.decode(Data(json.utf8))
        let app = App(store: InMemoryTokenStore(record))
        #expect(await app.tokens.restore().isSignedIn)
    }

    @Test("a timeout of for ever is one") func endlessTimeout() async throws {
        let transport = StubTransport { _ in .status(204) }
        try await client(transport) { $0.timeout = .seconds(Int64.max) }.send(Get("/a", .none))
    }

    @Test("a token that a server quotes is not shown") func quotedToken() async throws {
        let secret = "eyJhbGciOiJub25lIn0abcdef0123456789"
        let app = try await App.signedIn()
        app.backend.beforeRefresh { _ in .json(#"{"error":"token \#(secret) is unknown"}"#, status: 401) }
        let failure = await #expect(throws: SessionError.self) { try await app.tokens.refresh() }
        #expect(!"\(String(describing: failure)) \(app.tokens.state)".contains(secret))
    }

    @Test("a refused revocation is not called one") func refusedRevocation() async throws {
        let transport = StubTransport { _ in .status(401) }
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"),
            revoker: .json(path: "/auth/logout"), transport: transport, time: ManualTimeSource())
        try await tokens.signIn(with: .fresh())
        var events = tokens.events.makeAsyncIterator()
        await tokens.signOut()
        while let event = await events.next() {
            #expect(event != .revoked)
            if case .revocationFailed = event { break }
        }
    }

    @Test("the lane's own fields give way to the refresher's") func laneFields() async throws {
        let transport = StubTransport { _ in .json(#"{"accessToken":"a"}"#) }
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory,
            refresher: .oauth2(client: OAuthClient(id: "i", authentication: .basic(secret: "s"))),
            headers: [.contentType: "application/json", .authorization: "ApiKey k", .via: "x"], transport: transport)
        try await tokens.signIn(with: .fresh())
        try await tokens.refresh()
        let fields = try #require(transport.requests.first).headers
        #expect(fields[values: .contentType] == ["application/x-www-form-urlencoded"])
        #expect(fields[values: .authorization] == ["Basic aTpz"])
        #expect(fields[.via] == "x")
    }
}
