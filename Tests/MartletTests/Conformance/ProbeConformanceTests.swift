import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("Conformance: one endpoint's rejection and the calls to others", .timeLimit(.minutes(10)))
struct ProbeConformanceTests {
    @Test("C90: while the token endpoint hangs, one call probes after a second, and the others follow at once")
    func accepted() async throws {
        let (app, gate) = try await hanging { $0 == "/broken" }
        async let broken = app.call("/broken")
        await gate.waitForArrivals()
        async let waiting = app.burst(20)
        await waiters(21, of: app)
        #expect(app.backend.calls(to: "/me") == 0)
        app.time.advance(by: .seconds(1))
        #expect(await waiting.allSucceeded)
        #expect(await app.call("/other").isSuccess, "the token is in use again")
        #expect(app.transport.requests(to: "/me").allSatisfy { $0.bearer == "access-1" })
        gate.open()
        #expect(await !broken.isSuccess)
        #expect(app.backend.refreshCalls == 1)
        #expect(app.backend.calls(to: "/broken") == 2)
    }

    @Test("C90: a thousand waiting calls cost one 401 for each probe") func refused() async throws {
        let (app, gate) = try await hanging { _ in false }
        app.backend.invalidateAccessTokens()
        async let first = app.call()
        await gate.waitForArrivals()
        async let waiting = app.burst(1_000)
        await waiters(1_001, of: app)
        for probe in 1...3 {
            app.time.advance(by: .seconds(1))
            while app.backend.rejections < 1 + probe { await Task.yield() }
            await waiters(1_001, of: app)
        }
        #expect(app.backend.rejections == 4)
        gate.open()
        #expect(await first.isSuccess)
        #expect(await waiting.allSucceeded)
        #expect(app.backend.rejections == 4)
        #expect(app.backend.refreshCalls == 1)
        #expect(app.backend.calls(to: "/me") == 1_001 + 4)
    }

    @Test("C90: a probe without a response is followed by another a second later") func lostProbe() async throws {
        let (app, gate) = try await hanging { $0 == "/broken" }
        let slow = Gate()
        let hung = Locked(false)
        app.backend.beforeCall { request in
            if request.path == "/broken" { return .status(401) }
            let isFirst = hung.withLock { hung in
                defer { hung = true }
                return !hung
            }
            if isFirst { await slow.pass() }
            return nil
        }
        async let broken = app.call("/broken")
        await gate.waitForArrivals()
        async let waiting = app.burst(5)
        await waiters(6, of: app)
        app.time.advance(by: .seconds(1))
        await slow.waitForArrivals()
        #expect(app.backend.calls(to: "/me") == 1)
        await waiters(5, of: app)
        app.time.advance(by: .seconds(1))
        // The rejected call and none of the others.
        await waiters(1, of: app)
        slow.open()
        #expect(await waiting.allSucceeded)
        gate.open()
        #expect(await !broken.isSuccess)
        #expect(app.backend.refreshCalls == 1)
    }

    @Test(
        "C90: if no waiting call requires a token, a call that only reads is the probe",
        arguments: [true, false])
    func optionalTokens(hasObservers: Bool) async throws {
        let (app, gate) = try await hanging(hasObservers: hasObservers) { $0 == "/broken" }
        async let broken = app.call("/broken")
        await gate.waitForArrivals()
        let writing = Task {
            try await app.client.send(Call<NoContent>(.post, "/me", body: .json(["a": 1])))
        }
        await waiters(2, of: app)
        let reading = (1...20).map { _ in Task { try await app.client.data(for: Get("/me", .ifSignedIn)).status } }
        await waiters(22, of: app)
        app.time.advance(by: .seconds(1))
        for task in reading { #expect(try await task.value == 200) }
        _ = try await writing.value
        let methods = app.transport.requests(to: "/me").map(\.method)
        #expect(methods.count == 21 && methods.first == .get)
        gate.open()
        #expect(await !broken.isSuccess)
        #expect(app.backend.refreshCalls == 1)
    }

    @Test(
        "C90: an endpoint that may need no token is no probe while another call waits, because it may accept any",
        arguments: [true, false])
    func publicEndpoint(hasObservers: Bool) async throws {
        let (app, gate) = try await hanging(hasObservers: hasObservers) { $0 == "/broken" }
        async let broken = app.call("/broken")
        await gate.waitForArrivals()
        let open = Task { try await app.client.data(for: Get("/public", .ifSignedIn)) }
        async let waiting = app.call()
        await waiters(3, of: app)
        app.time.advance(by: .seconds(1))
        #expect(await waiting.isSuccess)
        #expect(try await open.value.status == 200)
        let others = app.transport.requests.map(\.path).filter { $0 == "/me" || $0 == "/public" }
        #expect(others.first == "/me")
        gate.open()
        #expect(await !broken.isSuccess)
    }

    @Test("C90: callers that sign requests themselves get the token as soon as a probe is accepted")
    func otherClients() async throws {
        let (app, gate) = try await hanging { $0 == "/broken" }
        async let broken = app.call("/broken")
        await gate.waitForArrivals()
        async let tokens = app.tokens.validTokens()
        await waiters(2, of: app)
        async let call = app.call()
        await waiters(3, of: app)
        app.time.advance(by: .seconds(1))
        #expect(try await tokens.accessToken == "access-1")
        #expect(await call.isSuccess)
        gate.open()
        #expect(await !broken.isSuccess)
    }

    @Test("a probe that gets another error does not let the others follow", arguments: [404, 503])
    func failedProbe(status: Int) async throws {
        let (app, gate) = try await hanging(retry: .never) { $0 == "/broken" }
        app.backend.beforeCall { request in
            switch request.path {
            case "/broken": .status(401)
            case "/first": .status(status)
            default: nil
            }
        }
        async let broken = app.call("/broken")
        await gate.waitForArrivals()
        async let first = app.call("/first")
        await waiters(2, of: app)
        async let second = app.call()
        await waiters(3, of: app)
        app.time.advance(by: .seconds(1))
        #expect(await first.error?.response?.status == status)
        // The rejected call, and the one that has not been sent.
        #expect(app.tokens.inspect({ $0.waiting.count }) == 2)
        #expect(app.backend.calls(to: "/me") == 0)
        app.time.advance(by: .seconds(1))
        #expect(await second.isSuccess)
        #expect(app.transport.requests(to: "/me").map(\.bearer) == ["access-1"])
        gate.open()
        #expect(await !broken.isSuccess)
    }

    @Test("an upload whose body can be sent only once, or takes long, is no probe", arguments: [true, false])
    func upload(isSingleUse: Bool) async throws {
        let (app, gate) = try await hanging { $0 == "/broken" }
        async let broken = app.call("/broken")
        await gate.waitForArrivals()
        let body: RequestBody =
            isSingleUse ? .singleUse(Chunks(chunks: [Data("abc".utf8)]), length: 3) : .bytes(Data(count: 2_000_000))
        let upload = Task {
            try await app.client.send(Call<NoContent>.post("/uploads", body, authentication: .required))
        }
        await waiters(2, of: app)
        async let reading = app.call()
        await waiters(3, of: app)
        app.time.advance(by: .seconds(1))
        #expect(await reading.isSuccess)
        _ = try await upload.value
        let paths = app.transport.requests.map(\.path).filter { $0 == "/me" || $0 == "/uploads" }
        #expect(paths == ["/me", "/uploads"])
        gate.open()
        #expect(await !broken.isSuccess)
    }

    /// An app whose token endpoint hangs until the gate is opened.
    /// - Parameter hasObservers: Without observers, calls wait for a token before they are built.
    private func hanging(
        hasObservers: Bool = true, retry: RetryPolicy = RetryPolicy(),
        rejecting isBroken: @escaping @Sendable (String) -> Bool
    ) async throws -> (App, Gate) {
        let app = try await App.signedIn {
            $0.retry = retry
            if !hasObservers { $0.observers = [] }
        }
        let gate = Gate()
        app.backend.beforeCall { isBroken($0.path) ? .status(401) : nil }
        app.backend.beforeRefresh { _ in
            await gate.pass()
            return nil
        }
        return (app, gate)
    }

    private func waiters(_ count: Int, of app: App) async {
        while app.tokens.inspect({ $0.waiting.count }) != count { await Task.yield() }
    }
}
