import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

@Suite("Calls that wait for a token before they are built", .timeLimit(.minutes(10))) struct EarlyWaitTests {
    @Test("calls without observers and interceptors wait for one refresh, and their duration counts the wait")
    func duration() async throws {
        let app = try await Self.app()
        app.backend.beforeRefresh { [time = app.time] _ in
            time.advance(by: .milliseconds(70))
            return nil
        }
        app.time.advance(by: .seconds(3600))
        let response = try await app.client.response(for: Get("/me"), as: Echo.self)
        #expect(response.duration == .milliseconds(70))
        #expect(response.attempts == 1)
        #expect(app.backend.refreshCalls == 1)
    }

    @Test("a call that cannot be sent fails without a refresh") func invalid() async throws {
        let app = try await Self.app()
        app.time.advance(by: .seconds(3600))
        guard case .failure(.invalidRequest) = await app.call("/a/../b") else {
            Issue.record("the path has no valid form")
            return
        }
        #expect(app.backend.refreshCalls == 0)
    }

    @Test("a failed refresh is the same error with and without observers", arguments: [503, 401])
    func failure(status: Int) async throws {
        var texts: [String] = []
        for isObserved in [true, false] {
            let app = try await Self.app(isObserved: isObserved)
            app.backend.beforeRefresh { _ in .status(status) }
            app.time.advance(by: .seconds(3600))
            texts.append("\(try #require(await app.call().error))")
            #expect(app.backend.refreshCalls == 1)
        }
        #expect(texts[0] == texts[1])
    }

    @Test("after the expiry, a call that may go out without a token does so") func anonymous() async throws {
        let app = try await Self.app()
        app.backend.beforeRefresh { _ in .status(401) }
        app.time.advance(by: .seconds(3600))
        #expect(await app.call().error != nil)
        let result: Result<Echo, any Error> = await Self.result { try await app.client.send(Get("/me", .ifSignedIn)) }
        // The backend refuses it, because it has no token.
        #expect(throws: NetworkError.self) { try result.get() }
        let request = try #require(app.transport.requests(to: "/me").last)
        #expect(request.headers[.authorization] == nil)
    }

    @Test("the interceptors of one call run before the call waits") func intercepted() async throws {
        let app = try await Self.app()
        let log = Log()
        app.backend.beforeRefresh { _ in
            log.add("refresh")
            return nil
        }
        app.time.advance(by: .seconds(3600))
        let client = app.client.intercepted(by: ClosureInterceptor(onPrepare: { _, _ in log.add("prepare") }))
        let _: Echo = try await client.send(Get("/me"))
        #expect(log.lines == ["prepare", "refresh"])
    }

    @Test("a call that is cancelled while it waits ends, and the refresh goes on") func cancelled() async throws {
        let app = try await Self.app()
        let gate = Gate()
        app.backend.beforeRefresh { _ in
            await gate.pass()
            return nil
        }
        app.time.advance(by: .seconds(3600))
        let call = Task { await app.call() }
        await gate.waitForArrivals()
        call.cancel()
        #expect(await call.value.error?.isCancelled == true)
        gate.open()
        #expect(await app.call().isSuccess)
        #expect(app.backend.refreshCalls == 1)
    }

    private static func app(isObserved: Bool = false) async throws -> App {
        try await App.signedIn { config in
            if !isObserved { config.observers = [] }
            config.retry = .never
        }
    }

    private static func result(_ call: () async throws -> Echo) async -> Result<Echo, any Error> {
        do { return .success(try await call()) } catch { return .failure(error) }
    }
}
