import Foundation
import HTTPTypes
import MartletGuests
import MartletTesting
import Testing

@testable import Martlet

@Suite("Conformance: guests", .timeLimit(.minutes(10))) struct GuestConformanceTests {
    @Test(
        "C48: calls that require a session share one guest, and the others go out without a token")
    func automaticSignIn() async throws {
        let app = App { $0.automaticSignIn = registering }
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

    @Test("C48: calls that do not require a session register no guest") func noGuest() async throws {
        let app = App { $0.automaticSignIn = registering }
        app.backend.registersGuests()
        let results = await withTaskGroup(of: Result<Echo, NetworkError>.self) { group in
            for _ in 0..<10 { group.addTask { await app.call(Get("/public/feed", .ifSignedIn)) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.allSucceeded)
        #expect(app.transport.requests.allSatisfy { $0.headers[.authorization] == nil })
        #expect(app.tokens.state == .signedOut)
    }

    @Test("C48: a failed registration fails the calls that waited, and the next call tries again") func failure()
        async throws
    {
        let app = App { $0.automaticSignIn = registering }
        app.backend.beforeCall { $0.path == "/auth/guest/register" ? .status(400) : nil }
        for round in 1...2 {
            let results = await withTaskGroup(of: Result<Echo, NetworkError>.self) { group in
                for _ in 0..<5 { group.addTask { await app.call() } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(results.allSatisfy { $0.error?.response?.status == 400 })
            #expect(app.backend.calls(to: "/auth/guest/register") >= round)
        }
        #expect(app.backend.calls(to: "/me") == 0)
        app.backend.registersGuests()
        #expect(await app.call().isSuccess)
    }

    @Test("C48: a call made after a sign-out does not inherit the failure of a registration that began before")
    func registrationBeforeSignOut() async throws {
        let app = App { $0.automaticSignIn = registering }
        let gate = Gate()
        app.backend.registersGuests(gate)
        let first = Task { await app.call() }
        await gate.waitForArrivals()
        try await app.tokens.signIn(with: app.backend.issue())
        await app.tokens.signOut()
        let second = Task { await app.call() }
        let tap = Task { try await GuestAuthService(app.client).register(name: "Ada") }
        for _ in 0..<1000 { await Task.yield() }
        gate.open()
        #expect(await !first.value.isSuccess)
        #expect(await second.value.isSuccess)
        #expect(try await tap.value.id == "7")
        #expect(app.tokens.state.isSignedIn)
    }

    @Test("C48: all clients and services over one session share one registration")
    func manyClients() async throws {
        let app = App { $0.automaticSignIn = registering }
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
        // Leaves time for a second registration to start.
        for _ in 0..<1000 { await Task.yield() }
        gate.open()
        for call in calls { #expect(await call.value.isSuccess) }
        for tap in taps { #expect(try await tap.value.id == "7") }
        #expect(app.backend.calls(to: "/auth/guest/register") == 1)
    }

    @Test("C48: an automatic sign-in that needs a token from another client over the same session does not deadlock")
    func recursionOverAnotherClient() async throws {
        let app = App {
            $0.automaticSignIn = { client in
                let other = NetworkClient(tokens: try #require(client.tokens), config: client.config)
                let _: Echo = try await other.send(Get("/me", .required))
            }
        }
        guard case .signInRequired = await app.call().error else {
            Issue.record("the call was sent without a session")
            return
        }
    }

    @Test("C48: a cancelled caller does not cancel the registration for the others") func cancelled() async throws {
        let app = App { $0.automaticSignIn = registering }
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

    @Test("C48: after all callers are cancelled, the next call uses the registration under way")
    func unwatched() async throws {
        let app = App { $0.automaticSignIn = registering }
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

    @Test("an explicit registration stops once all its callers are cancelled, and the next one starts over")
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

    @Test(
        "C48: a user who signs in during the registration replaces the guest, and the calls use that user's token")
    func userMeanwhile()
        async throws
    {
        let app = App { $0.automaticSignIn = registering }
        let gate = Gate()
        app.backend.registersGuests(gate)
        let call = Task { await app.call() }
        await gate.waitForArrivals()
        let user = try await app.tokens.signIn(with: app.backend.issue(), account: SessionAccount(userID: "ada"))
        gate.open()
        #expect(await call.value.isSuccess)
        #expect(app.tokens.state == .signedIn(user))
    }

    @Test("C48: an automatic sign-in that itself needs a token does not deadlock") func recursion() async throws {
        let app = App {
            $0.automaticSignIn = { client in let _: Echo = try await client.send(Get("/me", .required))
            }
        }
        guard case .signInRequired = await app.call().error else {
            Issue.record("the call was sent without a session")
            return
        }
    }

    @Test("C48: a registration that sends a call which requires a session does not deadlock") func ownCall()
        async throws
    {
        let made = Locked<NetworkClient?>(nil)
        let app = App { config in
            config.automaticSignIn = registering
            config.interceptors = [Asking(client: made)]
        }
        made.withLock { $0 = app.client }
        app.backend.registersGuests()
        try await GuestAuthService(app.client).register(name: "Ada")
        #expect(app.backend.calls(to: "/auth/guest/register") == 1)
        #expect(app.tokens.state.isSignedIn)
    }

    /// Sends a call that requires a session during each guest registration.
    private struct Asking: RequestInterceptor {
        let client: Locked<NetworkClient?>

        func adapt(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
            guard request.path == "/auth/guest/register" else { return }
            let response: Echo? = try? await client.withLock { $0 }?.send(Get("/me"))
            #expect(response == nil)
        }
    }
}

extension App {
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

private let registering: @Sendable (NetworkClient) async throws -> Void = { client in
    try await GuestAuthService(client).register(name: "Guest")
}

extension SimulatedBackend {
    /// Registers guests, after the gate opens if there is one.
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
