import Foundation
import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

@Suite("Conformance: guests") struct GuestConformanceTests {
    @Test("C48: calls that need somebody share one guest, and the others go out bare") func guestPolicy() async throws {
        let app = App { $0.guestPolicy = .registering }
        app.backend.registersGuests()
        await withTaskGroup(of: (AuthenticationRequirement, Result<Echo, NetworkError>).self) { group in
            for number in 0..<20 {
                let requirement: AuthenticationRequirement = number % 2 == 0 ? .required : .ifSignedIn
                group.addTask {
                    (requirement, await app.call(Get(requirement == .required ? "/me" : "/public/feed", requirement)))
                }
            }
            for await (requirement, result) in group {
                #expect(result.isSuccess, "\(String(describing: result.error))")
                if requirement == .required { #expect((try? result.get())?.token == "seen") }
            }
        }
        #expect(app.backend.calls(to: "/auth/guest/register") == 1)
        #expect(app.tokens.state.isSignedIn)
    }

    @Test("C48: calls that go out signed in or not make no guest") func noGuest() async throws {
        let app = App { $0.guestPolicy = .registering }
        app.backend.registersGuests()
        let results = await withTaskGroup(of: Result<Echo, NetworkError>.self) { group in
            for _ in 0..<10 { group.addTask { await app.call(Get("/public/feed", .ifSignedIn)) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.allSucceeded)
        #expect(app.transport.requests.allSatisfy { $0.headers[.authorization] == nil })
        #expect(app.tokens.state == .signedOut)
    }

    @Test("C48: a guest who cannot be made fails the calls that waited, and the next call tries again") func failure()
        async throws
    {
        let app = App { $0.guestPolicy = .registering }
        app.backend.beforeCall { $0.path == "/auth/guest/register" ? .status(400) : nil }
        for round in 1...2 {
            let results = await withTaskGroup(of: Result<Echo, NetworkError>.self) { group in
                for _ in 0..<5 { group.addTask { await app.call() } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(results.allSatisfy { $0.error?.answer?.status == 400 })
            #expect(app.backend.calls(to: "/auth/guest/register") >= round)
        }
        #expect(app.backend.calls(to: "/me") == 0)
        app.backend.registersGuests()
        #expect(await app.call().isSuccess)
    }

    @Test("C48: a guest is made once, however many clients and services the app makes over one session")
    func manyClients() async throws {
        let app = App { $0.guestPolicy = .registering }
        let gate = Gate()
        app.backend.registersGuests(gate)
        var calls: [Task<Result<Echo, NetworkError>, Never>] = []
        var taps: [Task<Guest, any Error>] = []
        for _ in 0..<5 {
            let client = NetworkClient(tokens: app.tokens, config: app.client.config)
            calls.append(Task { await app.call(over: client) })
        }
        await gate.waitForArrivals()
        for _ in 0..<5 {
            let client = NetworkClient(tokens: app.tokens, config: app.client.config)
            taps.append(Task { try await GuestAuthService(client).register(name: "Ada") })
        }
        // Whoever would register a second guest has had the time for it.
        for _ in 0..<1000 { await Task.yield() }
        gate.open()
        for call in calls { #expect(await call.value.isSuccess) }
        for tap in taps { #expect(try await tap.value.id == "7") }
        #expect(app.backend.calls(to: "/auth/guest/register") == 1)
    }

    @Test("C48: a policy that needs a token of another client over the same session does not wait for itself")
    func recursionOverAnotherClient() async throws {
        let app = App {
            $0.guestPolicy = .signIn { client in
                let other = NetworkClient(tokens: try #require(client.tokens), config: client.config)
                let _: Echo = try await other.send(Get("/me", .required))
            }
        }
        guard case .signInRequired = await app.call().error else {
            Issue.record("nobody can be signed in by that")
            return
        }
    }

    @Test("C48: a caller that is cancelled does not take the guest from the others") func cancelled() async throws {
        let app = App { $0.guestPolicy = .registering }
        let gate = Gate()
        app.backend.registersGuests(gate)
        let first = Task { await app.call() }
        await gate.waitForArrivals()
        let second = Task { await app.call() }
        first.cancel()
        #expect(await first.value.error?.isCancelled == true)
        gate.open()
        #expect(await second.value.isSuccess)
        #expect(app.backend.calls(to: "/auth/guest/register") == 1)
    }

    @Test("C48: the guest of calls that were all cancelled is the next call's, and no second one is made")
    func unwatched() async throws {
        let app = App { $0.guestPolicy = .registering }
        let gate = Gate()
        app.backend.registersGuests(gate)
        let calls = (0..<3).map { _ in Task { await app.call() } }
        await gate.waitForArrivals()
        for call in calls { call.cancel() }
        for call in calls { #expect(await call.value.error?.isCancelled == true) }
        let next = Task { await app.call() }
        gate.open()
        #expect(await next.value.isSuccess)
        #expect(app.backend.calls(to: "/auth/guest/register") == 1)
    }

    @Test("A registration that nobody waits for any more is given up, and the next one makes another guest")
    func abandoned() async throws {
        let app = App()
        let gate = Gate()
        app.backend.registersGuests(gate)
        let service = GuestAuthService(app.client)
        let taps = (0..<3).map { _ in Task { try await service.register(name: "Ada") } }
        await gate.waitForArrivals()
        for tap in taps { tap.cancel() }
        for tap in taps { await #expect(throws: NetworkError.self) { try await tap.value } }
        #expect(app.client.tokens?.state.isSignedIn != true)
        let next = Task { try await service.register(name: "Ada") }
        await gate.waitForArrivals(2)
        gate.open()
        _ = try await next.value
        #expect(app.backend.calls(to: "/auth/guest/register") == 2)
    }

    @Test("C48: a user who signs in meanwhile wins over the guest, and the calls are the user's") func userMeanwhile()
        async throws
    {
        let app = App { $0.guestPolicy = .registering }
        let gate = Gate()
        app.backend.registersGuests(gate)
        let call = Task { await app.call() }
        await gate.waitForArrivals()
        let user = try await app.tokens.signIn(with: app.backend.issue(), account: SessionAccount(userID: "ada"))
        gate.open()
        #expect(await call.value.isSuccess)
        #expect(app.tokens.state == .signedIn(user))
    }

    @Test("C48: a policy that itself needs a token does not wait for itself") func recursion() async throws {
        let app = App {
            $0.guestPolicy = .signIn { client in let _: Echo = try await client.send(Get("/me", .required)) }
        }
        guard case .signInRequired = await app.call().error else {
            Issue.record("nobody can be signed in by that")
            return
        }
    }

    @Test("C48: a registration that makes a call which needs somebody does not wait for itself") func ownCall()
        async throws
    {
        let made = Locked<NetworkClient?>(nil)
        let app = App { config in
            config.guestPolicy = .registering
            config.interceptors = [Asking(client: made)]
        }
        made.withLock { $0 = app.client }
        app.backend.registersGuests()
        try await GuestAuthService(app.client).register(name: "Ada")
        #expect(app.backend.calls(to: "/auth/guest/register") == 1)
        #expect(app.tokens.state.isSignedIn)
    }

    /// Makes a call that needs somebody, whenever a guest is registered.
    private struct Asking: RequestInterceptor {
        let client: Locked<NetworkClient?>

        func adapt(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
            guard request.path == "/auth/guest/register" else { return }
            let answer: Echo? = try? await client.withLock { $0 }?.send(Get("/me"))
            #expect(answer == nil)
        }
    }

    @Test("C49: an upgrade wins over a refresh of the guest's, and has the guest's id") func upgrade() async throws {
        let (app, gate) = try await guestWithRefreshUnderWay()
        let events = app.tokens.events
        let ids = Locked<[String?]>([])
        app.backend.beforeCall { request in
            guard request.path == "/auth/upgrade" else { return nil }
            #expect(request.bearer == "access-1")
            return .json(#"{"accessToken":"user","refreshToken":"user-refresh"}"#)
        }
        let _: Empty = try await GuestAuthService(app.client).upgrade { id in
            ids.withLock { $0.append(id) }
            return Get("/auth/upgrade", .required)
        } account: { _ in
            SessionAccount(userID: "ada")
        }
        #expect(ids.withLock { $0 } == ["guest-7"])
        gate.open()
        #expect(
            await events.first { if case .refreshDiscarded(_, .sessionChanged) = $0 { true } else { false } } != nil)
        #expect(await events.first { $0 == .revoked } != nil)
        #expect(app.backend.revoked.contains { $0.contains("refresh-2") })
        #expect(try await app.tokens.validToken() == "user")
        guard case .signedIn(let session) = app.tokens.state else { return #expect(Bool(false), "signed out") }
        #expect(session.account == SessionAccount(userID: "ada"))
    }

    @Test("C49: what was under way for the guest is not repeated under the account") func fenced() async throws {
        let app = try await App.signedInAsGuest()
        let gate = Gate()
        app.backend.beforeCall { request in
            switch request.path {
            case "/auth/upgrade": return .json(#"{"accessToken":"user","refreshToken":"user-refresh"}"#)
            case "/me":
                await gate.pass()
                return .status(401)
            default: return nil
            }
        }
        let call = Task { await app.call() }
        await gate.waitForArrivals()
        let _: Empty = try await GuestAuthService(app.client).upgrade { _ in Get("/auth/upgrade") }
        gate.open()
        guard case .sessionChanged = await call.value.error else {
            Issue.record("a guest's call under a user's token")
            return
        }
        #expect(app.backend.calls(to: "/me") == 1)
    }

    @Test("C49: an upgrade that is refused leaves the guest signed in") func refused() async throws {
        let app = try await App.signedInAsGuest()
        let before = app.tokens.state
        app.backend.beforeCall { $0.path == "/auth/upgrade" ? .json(#"{"message":"taken"}"#, status: 409) : nil }
        let failure = await #expect(throws: NetworkError.self) {
            let _: Empty = try await GuestAuthService(app.client).upgrade { _ in Get("/auth/upgrade") }
        }
        #expect(failure?.answer?.status == 409)
        #expect(app.tokens.state == before)
        #expect(await app.call().isSuccess)
    }

    @Test("an upgrade is a guest's, and never goes out with another user's token") func onlyGuests() async throws {
        let app = try await App.signedIn()
        await #expect(throws: NetworkError.self) {
            let _: Empty = try await GuestAuthService(app.client).upgrade { _ in Get("/auth/upgrade") }
        }
        #expect(app.transport.requests.isEmpty)

        // A user signs in while the guest's token, which the upgrade needs, is being renewed.
        let other = try await App.signedInAsGuest()
        let gate = Gate()
        other.backend.beforeRefresh { _ in
            await gate.pass()
            return nil
        }
        other.time.advance(by: .seconds(7200))
        let upgrade = Task { () -> NetworkError? in
            do throws(NetworkError) {
                let _: Empty = try await GuestAuthService(other.client).upgrade { _ in Get("/auth/upgrade") }
                return nil
            } catch {
                return error
            }
        }
        await gate.waitForArrivals()
        try await other.tokens.signIn(with: other.backend.issue())
        gate.open()
        guard case .sessionChanged = await upgrade.value else {
            Issue.record("the upgrade of a guest who is not there any more")
            return
        }
        #expect(other.backend.calls(to: "/auth/upgrade") == 0)
    }

    private func guestWithRefreshUnderWay() async throws -> (App, Gate) {
        let app = try await App.signedInAsGuest()
        let gate = Gate()
        app.backend.afterRefresh { _ in
            await gate.pass()
            return nil
        }
        Task { try await app.tokens.refresh() }
        await gate.waitForArrivals()
        return (app, gate)
    }
}

extension App {
    fileprivate static func signedInAsGuest() async throws -> App {
        let app = App()
        try await app.tokens.signIn(
            with: app.backend.issue(), account: SessionAccount(userID: "guest-7", isGuest: true))
        return app
    }

    fileprivate func call(over client: NetworkClient) async -> Result<Echo, NetworkError> {
        do throws(NetworkError) {
            return .success(try await client.send(Get("/me")))
        } catch {
            return .failure(error)
        }
    }

    fileprivate func call(_ endpoint: Get) async -> Result<Echo, NetworkError> {
        do throws(NetworkError) {
            return .success(try await client.send(endpoint))
        } catch {
            return .failure(error)
        }
    }
}

extension GuestPolicy {
    fileprivate static var registering: GuestPolicy {
        .signIn { client in try await GuestAuthService(client).register(name: "Guest") }
    }
}

extension SimulatedBackend {
    /// Registers guests, behind a gate if there is one.
    fileprivate func registersGuests(_ gate: Gate? = nil) {
        beforeCall { request in
            guard request.path == "/auth/guest/register" else { return nil }
            await gate?.pass()
            let tokens = self.issue()
            return .json(
                #"{"user":{"id":7},"accessToken":"\#(tokens.accessToken.reveal())","refreshToken":"r","expiresIn":3600}"#
            )
        }
    }
}
