internal import Foundation
internal import Martlet
internal import NIOConcurrencyHelpers
internal import ReferenceBackend
internal import Testing

extension EndToEnd {
    @Suite("Conformance over the wire: refreshing")
    struct ConformanceRefreshTests {
        @Test(
            "C01: ten calls that are all refused make one refresh, and each is sent again once",
            arguments: Wire.allCases)
        func tenRefused(wire: Wire) async throws {
            try await App.run(.reissue, over: wire) { app in
                try await app.signUp()
                try await app.controls.expireAccessTokens()
                let gate = app.controls.holdRequests("GET /me")
                async let results = app.burst(10)
                // All ten have been signed with the old token before the first of them is refused.
                try await gate.waitUntilHeld(10)
                gate.release()

                #expect(await results.successes == 10)
                #expect(app.counters.refreshesCalled == 1 && app.counters.reuseDetected == 0)
                #expect(app.counters["GET /me"] == 20 && app.counters.unauthorized == 10)
            }
        }

        @Test(
            "C01: a thousand calls make one refresh, and each refused one is sent again once", arguments: Wire.allCases)
        func thousand(wire: Wire) async throws {
            try await App.run(.reissue, over: wire, connections: 8) { app in
                try await app.signUp()
                try await app.controls.expireAccessTokens()

                let results = await app.burst(1_000)

                #expect(results.successes == 1_000, "\(results.errors.prefix(3))")
                #expect(app.counters.refreshesCalled == 1 && app.counters.reuseDetected == 0)
                #expect(app.counters["GET /me"] == 1_000 + app.counters.unauthorized)
                // Those that waited for a connection waited for the new token as well.
                #expect(app.counters.unauthorized <= 8)
            }
        }

        @Test("C07: a captive portal's page on the token endpoint changes nothing", arguments: Wire.allCases)
        func captivePortalPage(wire: Wire) async throws {
            try await App.run(.reissue, over: wire) { app in
                try await app.signUp()
                let before = await app.storedTokens
                try await app.controls.expireAccessTokens()
                app.controls.inject("POST /auth/reissue", .answer(.html()))

                guard case .refreshFailed(_, let failure, _) = try await app.failure(of: AnyCall.me) else {
                    return #expect(Bool(false), "not a failed refresh")
                }
                #expect(failure.kind == .unreadableAnswer)
                #expect(app.tokens.state.isSignedIn)
                #expect(await app.storedTokens == before)
            }
        }

        @Test("C07: a redirect of the token endpoint is not followed with the refresh token", arguments: Wire.allCases)
        func captivePortalRedirect(wire: Wire) async throws {
            try await App.run(.reissue, over: wire) { app in
                try await app.signUp()
                let before = await app.storedTokens
                try await app.controls.expireAccessTokens()
                let portal = app.backend.baseURL + "/public/ping"
                app.controls.inject("POST /auth/reissue", .answer(.redirect(to: portal, status: 307)))

                guard case .refreshFailed(_, let failure, _) = try await app.failure(of: AnyCall.me) else {
                    return #expect(Bool(false), "not a failed refresh")
                }
                #expect(failure.kind == .unreadableAnswer)
                #expect(app.controls.arrivalCount("/public/ping") == 0)
                #expect(app.tokens.state.isSignedIn)
                #expect(await app.storedTokens == before)
            }
        }

        @Test("C10: the task that started a refresh is cancelled, and the others succeed", arguments: Wire.allCases)
        func leaderCancelled(wire: Wire) async throws {
            try await App.run(.reissue, over: wire) { app in
                try await app.signUp()
                let events = app.tokens.events
                try await app.controls.expireAccessTokens()
                let gate = app.controls.holdRequests("POST /auth/reissue")
                let leader = Task { try await app.client.send(Me()) }
                try await gate.waitUntilHeld()
                async let others = app.burst(10)
                await events.passing(10, \.isJoined)

                leader.cancel()
                await expectCancelled(leader)
                gate.release()

                #expect(await others.successes == 10)
                #expect(app.counters.refreshesCalled == 1)
            }
        }

        @Test("C11: a cancelled waiter returns while the refresh is still under way", arguments: Wire.allCases)
        func waiterCancelled(wire: Wire) async throws {
            try await App.run(.reissue, over: wire) { app in
                try await app.signUp()
                let events = app.tokens.events
                try await app.controls.expireAccessTokens()
                let gate = app.controls.holdRequests("POST /auth/reissue")
                async let leader = app.burst(1)
                try await gate.waitUntilHeld()
                let waiter = Task { try await app.client.send(Me()) }
                await events.passing(1, \.isJoined)

                waiter.cancel()
                await expectCancelled(waiter)
                #expect(app.counters.refreshesSucceeded == 0 && gate.heldCount == 1)
                gate.release()

                #expect(await leader.successes == 1)
            }
        }

        @Test(
            "C12: everybody who waited is cancelled, and the new tokens are stored all the same",
            arguments: Wire.allCases)
        func everybodyCancelled(wire: Wire) async throws {
            try await App.run(.reissue, over: wire) { app in
                try await app.signUp()
                let events = app.tokens.events
                try await app.controls.expireAccessTokens()
                let gate = app.controls.holdRequests("POST /auth/reissue")
                let waiters = (0..<5).map { _ in Task { try await app.client.send(Me()) } }
                try await gate.waitUntilHeld()
                await events.passing(4, \.isJoined)

                for waiter in waiters { waiter.cancel() }
                for waiter in waiters { await expectCancelled(waiter) }
                gate.release()
                _ = await events.upTo(\.isRefreshed)

                #expect(await app.stored?.rotation == 1)
                _ = try await app.restarted().client.send(Me())
                #expect(app.counters.refreshesCalled == 1)
            }
        }

        @Test(
            "C13: a refresh that was under way at the sign-out brings nobody back, and its tokens are worth nothing",
            arguments: Wire.allCases)
        func signOutDuringRefresh(wire: Wire) async throws {
            try await App.run(.reissue, over: wire) { app in
                try await app.signUp()
                let events = app.tokens.events
                let gate = app.controls.holdRequests("POST /auth/reissue", at: .answer)
                let refresh = Task { try await app.tokens.refresh() }
                try await gate.waitUntilHeld()

                await app.tokens.signOut()
                gate.release()

                await #expect(throws: SessionError.signedOut) { try await refresh.value }
                // The tokens that the user had, and those that came too late.
                await events.passing(2) { $0 == .revoked }
                #expect(app.tokens.state == .signedOut)
                #expect(await app.stored == nil)
                #expect(app.counters.refreshesSucceeded == 1 && app.counters.revocations == 1)
            }
        }

        @Test("C54: a sign-out without a network is a sign-out", arguments: Wire.allCases)
        func signOutOffline(wire: Wire) async throws {
            try await App.run(.reissue, over: wire) { app in
                try await app.signUp()
                let events = app.tokens.events
                await app.backend.stop()

                await app.tokens.signOut()

                #expect(app.tokens.state == .signedOut)
                #expect(await app.stored == nil)
                #expect(await events.upTo(\.isFailedRevocation).count { $0.isSignedOut } == 1)
            }
        }

        @Test(
            "C44: a refresher that sends through the client itself neither recurses nor waits for itself",
            arguments: Wire.allCases)
        func refreshThroughTheClient(wire: Wire) async throws {
            let detour = Detour()
            var setup = Setup.reissue
            setup.refresher = .custom { bundle, _ in try await detour.refresh(bundle) }
            // Who waits for itself fails after this, and does not hang.
            setup.policy.refreshTimeout = .seconds(5)
            try await App.run(setup, over: wire) { app in
                detour.client.withLockedValue { $0 = app.client }
                defer { detour.client.withLockedValue { $0 = nil } }
                try await app.signUp()
                try await app.controls.expireAccessTokens()

                #expect(await app.burst(10).errors.map(\.description) == [])
                #expect(app.counters.refreshesCalled == 1)
            }
        }

        @Test("C45: a refresh is not kept waiting by the calls that wait for it", arguments: Wire.allCases)
        func limiter(wire: Wire) async throws {
            try await App.run(.reissue, over: wire, configure: { $0.maxConcurrentRequests = 4 }) { app in
                try await app.signUp()
                try await app.expireStoredToken()
                let start = try app.restarted { $0.maxConcurrentRequests = 4 }
                let gate = app.controls.holdRequests("POST /auth/reissue")
                async let results = start.burst(40)
                try await gate.waitUntilHeld()
                gate.release()

                #expect(await results.successes == 40)
                #expect(app.counters.refreshesCalled == 1 && app.counters["GET /me"] == 40)
            }
        }

        @Test("C45: a refresh gets through while every connection for calls is taken", arguments: Wire.allCases)
        func connectionsTaken(wire: Wire) async throws {
            try await App.run(.reissue, over: wire, connections: 1) { app in
                try await app.signUp()
                let gate = app.controls.holdRequests("GET /me")
                async let results = app.burst(3)
                try await gate.waitUntilHeld()

                try await app.tokens.refresh()

                #expect(app.counters.refreshesSucceeded == 1)
                gate.release()
                #expect(await results.successes == 3)
            }
        }
    }
}
