import Foundation
import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

@Suite("Conformance: a call has one owner from the start", .timeLimit(.minutes(10))) struct CallOwnerConformanceTests {
    /// A way to a token for connections that Martlet does not make.
    enum Door: CaseIterable, Sendable {
        case tokens, signature

        func token(from tokens: TokenManager) async throws(SessionError) -> Secret? {
            switch self {
            case .tokens: return try await tokens.validTokens().accessToken
            case .signature:
                var request = HTTPRequest(method: .get, scheme: "https", authority: "api.example.com", path: "/me")
                try await tokens.sign(&request)
                return tokens.scheme.token(in: request.headerFields)
            }
        }
    }

    @Test(
        "C84: if a refresh fails just as another user signs in, its caller does not get the other user's token",
        arguments: Door.allCases)
    func failedRefresh(door: Door) async throws {
        let time = WatchedTime()
        let tokens = await TokenManager.signedIn(
            with: .expired(), transport: StubTransport { _ in .status(503) }, time: time)
        // A caller whose refresh has failed reads the clock before it looks for a token that is still valid.
        time.onRead {
            let hasFailed = tokens.inspect { core in
                if case .backingOff? = core.machine.session?.refresh { true } else { false }
            }
            if hasFailed { tokens.signInAndStore(.fresh(7)) }
            return hasFailed
        }
        await #expect(throws: SessionError.self) { try await door.token(from: tokens) }
        #expect(try await tokens.validTokens().accessToken == Tokens.fresh(7).accessToken)
    }

    @Test(
        "C84: a caller that asked for a token before the store was read never gets that of a user who signs in until then",
        arguments: Door.allCases)
    func unreadStore(door: Door) async throws {
        let (store, gate) = (FailingTokenStore(), Gate())
        let backend = try await App.signedIn(store: store).backend
        store.hold(.read, at: gate)
        let app = App(backend, store: store)
        let asking = Task { try await door.token(from: app.tokens) }
        await gate.waitForArrivals()
        let signIn = Task { try await app.tokens.signIn(with: backend.issue()) }
        while app.tokens.epoch == 0 { await Task.yield() }
        gate.open()
        _ = try await signIn.value
        await #expect(throws: SessionError.sessionChanged) { try await asking.value }
    }

    @Test("C84: a request that a user signs does not go out without a token after that user has signed out")
    func signOutWhileSigning() async throws {
        let (app, gate) = (try await App.signedIn(), Gate())
        app.backend.beforeRefresh { _ in
            await gate.pass()
            return nil
        }
        app.time.advance(by: .seconds(3601))
        let signing = Task { try await Door.signature.token(from: app.tokens) }
        await gate.waitForArrivals()
        await app.tokens.signOut()
        gate.open()
        await #expect(throws: SessionError.sessionChanged) { try await signing.value }
    }

    @Test("C84: a call made before the store was read belongs to the session in it, even if that ends first")
    func signOutAfterLaunch() async throws {
        let (store, gate) = (FailingTokenStore(), Gate())
        let former = try await App.signedIn(store: store)
        let app = App(former.backend, store: store, time: former.time)
        app.time.advance(by: .seconds(3601))
        app.backend.beforeRefresh { _ in
            await gate.pass()
            return nil
        }
        let quiet = NetworkClient(tokens: app.tokens)
        let post = Call<NoContent>(.post, "/public", authentication: .ifSignedIn)
        let sending = Task { await error { try await quiet.send(post) } }
        let reading = Task { await error { _ = try await quiet.send(Get("/public", .ifSignedIn), as: Echo.self) } }
        let signing = Task { try await Door.signature.token(from: app.tokens) }
        await gate.waitForArrivals()
        for _ in 0..<100 { await Task.yield() }
        await app.tokens.signOut()
        gate.open()
        for call in [sending, reading] {
            guard case .sessionChanged? = await call.value else {
                Issue.record("\(String(describing: await call.value))")
                continue
            }
        }
        await #expect(throws: SessionError.sessionChanged) { try await signing.value }
        #expect(app.backend.calls(to: "/public") == 0)
    }

    @Test("a call made before an empty store was read is sent again without a token after a sign-in")
    func signInAfterLaunch() async throws {
        let (app, gate, bearers) = (App(), Gate(), Log())
        app.backend.beforeCall { request in
            bearers.add(request.bearer ?? "none")
            guard bearers.lines.count == 1 else { return nil }
            await gate.pass()
            return .status(503)
        }
        let client = app.client
        let call = Task { try await client.send(Get("/public", .ifSignedIn), as: Echo.self) }
        await gate.waitForArrivals()
        try await app.tokens.signIn(with: app.backend.issue())
        gate.open()
        _ = try await app.time.advance(by: .seconds(10)) { try await call.value }
        #expect(bearers.lines == ["none", "none"])
    }

    @Test("after a sign-out, a call that waits to be replayed fails like every other call of the session")
    func signOutBeforeReplay() async throws {
        let (app, gate) = (try await App.signedIn(), Gate())
        app.backend.invalidateAccessTokens()
        app.backend.beforeRefresh { _ in
            await gate.pass()
            return nil
        }
        let calls = (0..<3).map { _ in Task { await app.call() } }
        await gate.waitForArrivals()
        await app.tokens.signOut()
        gate.open()
        for call in calls {
            guard case .sessionChanged = await call.value.error else {
                Issue.record("\(await call.value)")
                return
            }
        }
    }

    @Test(
        "C85: what a refresher sends through the app's client carries no token of a user who has signed in since",
        arguments: [AuthenticationRequirement.required, .ifSignedIn])
    func refresherCall(requirement: AuthenticationRequirement) async throws {
        let (gate, isOver) = (Gate(), Gate())
        let failures = Locked<[NetworkError?]>([])
        let client = Locked<NetworkClient?>(nil)
        let transport = StubTransport { _ in .status(401) }
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory,
            refresher: .custom { _, _ in
                await gate.pass()
                let failure = await error { _ = try await client.withLock { $0 }?.data(for: Get("/keys", requirement)) }
                failures.withLock { $0.append(failure) }
                isOver.open()
                throw RefreshError(.refresher, description: "no key")
            }, transport: transport, time: ManualTimeSource())
        client.withLock { $0 = NetworkClient(tokens: tokens) }
        try await tokens.signIn(with: .fresh(1))
        let refresh = Task { try await tokens.refresh() }
        await gate.waitForArrivals()
        let bob = try await tokens.signIn(with: .fresh(2))
        gate.open()
        await isOver.pass()
        await #expect(throws: SessionError.sessionChanged) { try await refresh.value }
        guard case .sessionChanged = failures.withLock({ $0.first ?? nil }) else {
            Issue.record("the call went on")
            return
        }
        #expect(transport.requests.isEmpty)
        // A rejection would have started a refresh.
        #expect(try await tokens.validTokens().accessToken == Tokens.fresh(2).accessToken)
        #expect(tokens.state == .signedIn(bob) && failures.withLock { $0.count } == 1)
    }

    @Test(
        "C85: a refresher neither signs out nor replaces a user who has signed in since", arguments: [true, false])
    func refresherChangesSession(signsOut: Bool) async throws {
        let (gate, isOver) = (Gate(), Gate())
        let manager = Locked<TokenManager?>(nil)
        let failures = Locked<[SessionError?]>([])
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory,
            refresher: .custom { _, _ in
                let tokens = manager.withLock { $0 }
                await gate.pass()
                if signsOut {
                    #expect(await tokens?.signOut(waitingForServer: .seconds(1)) == false)
                } else {
                    do throws(SessionError) {
                        try await tokens?.signIn(with: .fresh(3))
                        failures.withLock { $0.append(nil) }
                    } catch {
                        failures.withLock { $0.append(error) }
                    }
                }
                isOver.open()
                throw RefreshError(.refresher, description: "the account is blocked")
            }, transport: StubTransport { _ in .status(204) }, time: ManualTimeSource())
        manager.withLock { $0 = tokens }
        try await tokens.signIn(with: .fresh(1))
        let refresh = Task { try await tokens.refresh() }
        await gate.waitForArrivals()
        let bob = try await tokens.signIn(with: .fresh(2))
        gate.open()
        await isOver.pass()
        await #expect(throws: SessionError.sessionChanged) { try await refresh.value }
        #expect(tokens.state == .signedIn(bob))
        #expect(tokens.currentTokens?.accessToken == Tokens.fresh(2).accessToken)
        #expect(failures.withLock { $0 } == (signsOut ? [] : [.sessionChanged]))
    }

    @Test(
        "C85: a refresher may sign out the session that it refreshes, replace it, or both",
        arguments: ["o", "i", "oi", "io", "ii"])
    func refresherChangesOwnSession(steps: String) async throws {
        let (manager, isOver) = (Locked<TokenManager?>(nil), Gate())
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory,
            refresher: .custom { _, _ in
                let tokens = manager.withLock { $0 }
                for step in steps {
                    if step == "o" { await tokens?.signOut() } else { try await tokens?.signIn(with: .fresh(3)) }
                }
                isOver.open()
                throw RefreshError(.refresher, description: "the account is blocked")
            }, transport: StubTransport { _ in .status(204) }, time: ManualTimeSource())
        manager.withLock { $0 = tokens }
        try await tokens.signIn(with: .fresh(1))
        await #expect(throws: SessionError.self) { try await tokens.refresh() }
        await isOver.pass()
        #expect(tokens.currentTokens?.accessToken == (steps.hasSuffix("o") ? nil : Tokens.fresh(3).accessToken))
        #expect(tokens.state.isSignedIn == !steps.hasSuffix("o"))
    }

    @Test(
        "C85: what a refresher sends through the app's client carries the token of the session that it refreshes",
        arguments: [AuthenticationRequirement.required, .ifSignedIn], [true, false])
    func refresherOwnCall(_ requirement: AuthenticationRequirement, isForced: Bool) async throws {
        let (client, time) = (Locked<NetworkClient?>(nil), ManualTimeSource())
        let transport = StubTransport { _ in .status(204) }
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory,
            refresher: .custom { _, _ in
                _ = try await client.withLock { $0 }?.data(for: Get("/keys", requirement))
                return .fresh(2)
            }, transport: transport, time: time)
        client.withLock { $0 = NetworkClient(tokens: tokens) }
        try await tokens.signIn(with: .expiring(in: .seconds(3600), 1))
        if isForced {
            try await tokens.refresh()
        } else {
            // Ahead of time, while the token is valid.
            time.advance(by: .seconds(3590))
            _ = try await tokens.validTokens()
            #expect(await tokens.finishPendingWork())
        }
        #expect(transport.requests.map(\.bearer) == [Tokens.fresh(1).accessToken.reveal()])
    }

    @Test("C85: a task that a refresher has started makes calls like any other once the refresher has returned")
    func taskOfRefresher() async throws {
        let (client, task, gate) = (Locked<NetworkClient?>(nil), Locked<Task<Void, any Error>?>(nil), Gate())
        let (transport, time, count) = (StubTransport { _ in .status(204) }, ManualTimeSource(), Locked(1))
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory,
            refresher: .custom { _, _ in
                task.withLock { task in
                    task =
                        task
                        ?? Task {
                            await gate.pass()
                            _ = try await client.withLock { $0 }?.data(for: Get("/ping"))
                        }
                }
                return count.withLock { count in
                    count += 1
                    return .expiring(in: .seconds(60), count)
                }
            }, transport: transport, time: time)
        client.withLock { $0 = NetworkClient(tokens: tokens) }
        try await tokens.signIn(with: .expiring(in: .seconds(60), 1))
        try await tokens.refresh()
        // The token has expired, and the call of the task refreshes it.
        time.advance(by: .seconds(61))
        gate.open()
        try await task.withLock { $0 }?.value
        #expect(transport.requests.map(\.bearer) == [Tokens.fresh(3).accessToken.reveal()])
    }

    @Test("C87: a task that an automatic sign-in has started causes another one after a sign-out")
    func taskOfAutomaticSignIn() async throws {
        let (task, gate, backend) = (Locked<Task<Int, any Error>?>(nil), Gate(), SimulatedBackend())
        let app = App(backend) { config in
            config.automaticSignIn = { client in
                task.withLock { task in
                    task =
                        task
                        ?? Task {
                            await gate.pass()
                            return try await client.data(for: Get("/me")).status
                        }
                }
                try await client.tokens?.signIn(with: backend.issue())
            }
        }
        #expect(await app.call().isSuccess)
        await app.tokens.signOut()
        gate.open()
        #expect(try await task.withLock { $0 }?.value == 200)
        #expect(app.tokens.isSignedIn)
    }

    @Test("C87: a call that an automatic sign-in holds and that was made while a user was stored ends with that user")
    func heldCall() async throws {
        let (store, gate, log) = (FailingTokenStore(), Gate(), Log())
        let backend = try await App.signedIn(store: store).backend
        store.hold(.read, at: gate)
        let app = App(backend, store: store) { $0.automaticSignIn = { _ in log.add("signs in") } }
        let call = Task { await app.call() }
        await gate.waitForArrivals()
        let signIn = Task { try await app.tokens.signIn(with: backend.issue()) }
        while app.tokens.epoch == 0 { await Task.yield() }
        gate.open()
        _ = try await signIn.value
        guard case .sessionChanged = await call.value.error else {
            Issue.record("the call went on")
            return
        }
        #expect(backend.calls(to: "/me") == 0)
        #expect(log.lines == [])
    }

    @Test(
        "C87: calls made without a user get the session of the automatic sign-in, even at launch", arguments: [1, 50])
    func heldAtLaunch(count: Int) async throws {
        let backend = SimulatedBackend()
        for _ in 1...20 {
            let app = App(backend) { $0.automaticSignIn = { try await $0.tokens?.signIn(with: backend.issue()) } }
            #expect(await app.burst(count).allSucceeded)
        }
    }

    /// The end of the session of a call whose response is on its way.
    enum End: CaseIterable, Sendable { case signOut, signIn, expiry }

    @Test("C84: a call whose session ends before its response arrives fails", arguments: End.allCases)
    func lateResponse(end: End) async throws {
        let app = try await App.signedIn()
        let gate = Gate()
        app.backend.beforeCall { _ in
            await gate.pass()
            return nil
        }
        let call = Task { await app.call() }
        await gate.waitForArrivals()
        switch end {
        case .signOut: await app.tokens.signOut()
        case .signIn: try await app.tokens.signIn(with: app.backend.issue())
        case .expiry:
            app.backend.revokeSession()
            await #expect(throws: SessionError.self) { try await app.tokens.refresh() }
        }
        gate.open()
        switch (end, await call.value.error) {
        case (.expiry, .sessionExpired), (.signOut, .sessionChanged), (.signIn, .sessionChanged): break
        case (_, let error): Issue.record("the call ended with \(error?.description ?? "a response")")
        }
    }

    @Test("C87: a call made without a user keeps the session that the automatic sign-in has given to it")
    func switchAfterTheGate() async throws {
        let (backend, gate) = (SimulatedBackend(), Gate())
        let app = App(backend) { config in
            config.automaticSignIn = { try await $0.tokens?.signIn(with: backend.issue()) }
            config.interceptors = [ClosureInterceptor(onAdapt: { _, _ in await gate.pass() })]
        }
        let call = Task { await app.call() }
        await gate.waitForArrivals()
        try await app.tokens.signIn(with: backend.issue())
        gate.open()
        guard case .sessionChanged = await call.value.error else {
            Issue.record("the call went on")
            return
        }
        #expect(backend.calls(to: "/me") == 0)
    }

    @Test("C87: an event stream opened without a user stays with the session of the automatic sign-in")
    func heldStream() async throws {
        let backend = SimulatedBackend()
        let app = App(backend) { $0.automaticSignIn = { try await $0.tokens?.signIn(with: backend.issue()) } }
        await app.tokens.restore()
        let bearers = Log()
        backend.beforeCall { request in
            bearers.add(request.bearer ?? "none")
            throw TransportError.connectionLost("reset by peer")
        }
        let stream = Task {
            var stream = app.client.serverSentEvents(from: Get("/news")).makeAsyncIterator()
            return await error { _ = try await stream.next() }
        }
        while bearers.lines.isEmpty {
            app.time.advanceToNextSleeper()
            await Task.yield()
        }
        try await app.tokens.signIn(with: backend.issue())
        let clock = Task {
            while !Task.isCancelled {
                app.time.advance(by: .seconds(1))
                await Task.yield()
            }
        }
        guard case .sessionChanged = await stream.value else {
            Issue.record("the stream went on")
            return
        }
        clock.cancel()
        #expect(Set(bearers.lines) == ["access-1"])
    }
}
