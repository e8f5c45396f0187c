internal import Foundation
internal import Martlet
internal import NIOConcurrencyHelpers
internal import ReferenceBackend
internal import Testing

extension EndToEnd {
    @Suite("Conformance over the wire: refreshing", .timeLimit(.minutes(10)))
    struct ConformanceRefreshTests {
        @Test(
            "C01: ten calls that are all rejected make one refresh, and each is replayed once",
            arguments: Wire.allCases)
        func tenRefused(wire: Wire) async throws {
            try await App.run(.reissue, over: wire) { app in
                try await app.signUp()
                try await app.controls.expireAccessTokens()
                let gate = app.controls.holdRequests("GET /me")
                async let results = app.burst(10)
                // All ten carry the old token before the first one is rejected.
                try await gate.waitUntilHeld(10)
                gate.release()

                #expect(await results.successes == 10)
                #expect(app.counters.refreshesCalled == 1 && app.counters.reuseDetected == 0)
                #expect(app.counters["GET /me"] == 20 && app.counters.unauthorized == 10)
            }
        }

        @Test(
            "C01: a thousand calls make one refresh, and each rejected one is replayed once", arguments: Wire.allCases)
        func thousand(wire: Wire) async throws {
            try await App.run(.reissue, over: wire, connections: 8) { app in
                try await app.signUp()
                try await app.controls.expireAccessTokens()
                let events = app.tokens.events

                let results = await app.burst(1_000)
                let probes = await events.upTo(\.isRefreshed).count(where: \.isProbe)

                #expect(results.successes == 1_000, "\(results.errors.prefix(3))")
                #expect(app.counters.refreshesCalled == 1 && app.counters.reuseDetected == 0)
                #expect(app.counters["GET /me"] == 1_000 + app.counters.unauthorized)
                // Calls that waited for a connection got the new token, except for a probe for each second of the
                // refresh.
                #expect(app.counters.unauthorized <= 8 + probes)
            }
        }

        @Test("C07: a captive portal's page from the token endpoint does not end the session", arguments: Wire.allCases)
        func captivePortalPage(wire: Wire) async throws {
            try await App.run(.reissue, over: wire) { app in
                try await app.signUp()
                let before = await app.storedTokens
                try await app.controls.expireAccessTokens()
                app.controls.inject("POST /auth/reissue", .respond(.html()))

                guard case .refreshFailed(_, let failure, _) = try await app.failure(of: AnyCall.me) else {
                    return #expect(Bool(false), "not a failed refresh")
                }
                #expect(failure.kind == .unreadableResponse)
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
                app.controls.inject("POST /auth/reissue", .respond(.redirect(to: portal, status: 307)))

                guard case .refreshFailed(_, let failure, _) = try await app.failure(of: AnyCall.me) else {
                    return #expect(Bool(false), "not a failed refresh")
                }
                #expect(failure.kind == .unreadableResponse)
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

        @Test("C11: a cancelled waiter returns while the refresh continues", arguments: Wire.allCases)
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
            "C12: the new tokens are stored even if all waiters are cancelled",
            arguments: Wire.allCases)
        func allCancelled(wire: Wire) async throws {
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

                #expect(await app.stored?.stamp.rotation == 1)
                _ = try await app.restarted().client.send(Me())
                #expect(app.counters.refreshesCalled == 1)
            }
        }

        @Test(
            "C13: a refresh under way at sign-out does not sign in again, and its tokens are revoked",
            arguments: Wire.allCases)
        func signOutDuringRefresh(wire: Wire) async throws {
            try await App.run(.reissue, over: wire) { app in
                try await app.signUp()
                let events = app.tokens.events
                let gate = app.controls.holdRequests("POST /auth/reissue", at: .response)
                let refresh = Task { try await app.tokens.refresh() }
                try await gate.waitUntilHeld()

                await app.tokens.signOut()
                gate.release()

                await #expect(throws: SessionError.signedOut) { try await refresh.value }
                // The user's tokens and those that arrived after the sign-out.
                await events.passing(2) { $0 == .revoked }
                #expect(app.tokens.state == .signedOut)
                #expect(await app.stored == nil)
                #expect(app.counters.refreshesSucceeded == 1 && app.counters.revocations == 1)
            }
        }

        @Test("C54: signing out without a network succeeds", arguments: Wire.allCases)
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
            "C44: a refresher that uses the client itself neither recurses nor deadlocks",
            arguments: Wire.allCases)
        func refreshThroughTheClient(wire: Wire) async throws {
            let refresher = ClientRefresher()
            var setup = Setup.reissue
            setup.refresher = .custom { tokens, _ in try await refresher.refresh(tokens) }
            // A deadlock must fail the test instead of hanging it.
            setup.policy.refreshTimeout = .seconds(5)
            try await App.run(setup, over: wire) { app in
                refresher.client.withLockedValue { $0 = app.client }
                defer { refresher.client.withLockedValue { $0 = nil } }
                try await app.signUp()
                try await app.controls.expireAccessTokens()

                #expect(await app.burst(10).errors.map(\.description) == [])
                #expect(app.counters.refreshesCalled == 1)
            }
        }

        @Test("C45: calls that wait for a refresh do not block it", arguments: Wire.allCases)
        func limiter(wire: Wire) async throws {
            try await App.run(.reissue, over: wire, configure: { $0.maximumConcurrentRequests = 4 }) { app in
                try await app.signUp()
                try await app.expireStoredToken()
                let start = try app.restarted { $0.maximumConcurrentRequests = 4 }
                let gate = app.controls.holdRequests("POST /auth/reissue")
                async let results = start.burst(40)
                try await gate.waitUntilHeld()
                gate.release()

                #expect(await results.successes == 40)
                #expect(app.counters.refreshesCalled == 1 && app.counters["GET /me"] == 40)
            }
        }

        @Test("C45: a refresh succeeds while every connection for calls is in use", arguments: Wire.allCases)
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
