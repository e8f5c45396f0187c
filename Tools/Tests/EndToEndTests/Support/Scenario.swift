internal import Foundation
internal import Martlet
internal import MartletGuests
internal import ReferenceBackend
internal import Testing

/// The scenarios that every dialect must pass, from the first start of an app to its sign-out.
enum Scenario {
    /// Every byte value, including line breaks and dashes, in more than one chunk.
    static let picture = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 ^ ($0 >> 8)) })

    /// A guest signs in with a picture, and the downloaded picture equals the uploaded one.
    static func guestSignsIn(_ setup: Setup, over wire: Wire) async throws {
        try await App.run(setup, over: wire) { app in
            let guest = try await GuestAuthService(app.client).register(
                name: "Änne \"Wren\"", picture: .data(picture, filename: "me.png", contentType: "image/png"))
            #expect(guest.name == "Änne \"Wren\"")
            let key = try #require(guest.profileImageKey)
            let image = try await app.client.data(for: AnyCall.get("/images/\(key)"))
            #expect(image.value == picture)
            #expect(image.headers[.contentType] == "image/png")
            let me = try await app.client.send(Me())
            #expect(me.id == guest.id && me.isGuest)
            #expect(await app.stored?.account == SessionAccount(userID: guest.id, isGuest: true))
        }
    }

    /// Many calls have an expired token: it is refreshed once, and all calls succeed.
    static func burstRefreshesOnce(_ setup: Setup, over wire: Wire) async throws {
        try await App.run(setup, over: wire) { app in
            try await app.signUp()
            let before = try #require(await app.stored)
            try await app.controls.expireAccessTokens()

            let results = await app.burst(50)

            #expect(results.successes == 50, "\(results.errors)")
            #expect(app.counters.refreshesCalled == 1)
            #expect(app.counters.reuseDetected == 0)
            let after = try #require(await app.stored)
            #expect(after.stamp.rotation == 1 && after.id == before.id)
            #expect(after.tokens.accessToken != before.tokens.accessToken)
            let isKept = after.tokens.refreshToken == before.tokens.refreshToken
            #expect(isKept == (setup.dialect == .legacy419))
            #expect(after.tokens.refreshToken != nil)
        }
    }

    /// The stored tokens work after a restart, before and after they have expired.
    static func restartStaysSignedIn(_ setup: Setup, over wire: Wire) async throws {
        try await App.run(setup, over: wire) { app in
            try await app.signUp()
            let restarted = try app.restarted()
            #expect(await restarted.tokens.restore().isSignedIn)
            _ = try await restarted.client.send(Me())
            #expect(app.counters.refreshesCalled == 0)

            try await app.controls.expireAccessTokens()
            let again = try app.restarted()
            #expect(await again.tokens.restore().isSignedIn)
            _ = try await again.client.send(Me())
            #expect(app.counters.refreshesCalled == 1)
            #expect(app.counters["POST /auth/register"] == 1 && app.counters["POST /auth/login"] == 0)
        }
    }

    /// The server ends the session: the app gets one `.expired` state, and the token endpoint is not called again.
    static func revocationExpiresOnce(_ setup: Setup, over wire: Wire) async throws {
        try await App.run(setup, over: wire) { app in
            try await app.signUp()
            let events = app.tokens.events
            try await app.controls.expireAccessTokens()
            try await app.controls.revokeSessions()

            let results = await app.burst(10) + app.burst(10)

            #expect(results.errors.count == 20)
            #expect(results.errors.allSatisfy { if case .sessionExpired = $0 { true } else { false } })
            #expect(app.counters.refreshesCalled == 1)
            if case .expired = app.tokens.state {} else { Issue.record("\(app.tokens.state)") }
            await app.tokens.signOut()
            #expect(await events.upTo(\.isSignedOut).expiries == 1)
            #expect(await app.stored == nil)
        }
    }

    /// The user signs out: locally at once, and at the server.
    static func signOutRevokes(_ setup: Setup, over wire: Wire) async throws {
        try await App.run(setup, over: wire) { app in
            try await app.signUp()
            let events = app.tokens.events
            let token = try #require(await app.stored?.tokens)

            await app.tokens.signOut()

            #expect(app.tokens.state == .signedOut)
            #expect(await app.stored == nil)
            let seen = await events.upTo { $0 == .revoked || $0.isFailedRevocation }
            #expect(seen.last == .revoked)
            #expect(app.counters.revocations == 1)
            // The server rejects a copy of the revoked token too.
            try await app.tokens.signIn(with: token)
            await #expect(throws: SessionError.self) { try await app.tokens.refresh() }
            if case .expired = app.tokens.state {} else { Issue.record("\(app.tokens.state)") }
            await waitUntil { await app.stored == nil }
            // The mark in the store tells the next start why the session has ended.
            if case .sessionExpired = try await app.restarted().failure(of: AnyCall.me) {} else { Issue.record() }
        }
    }
}

extension SessionEvent {
    var isFailedRevocation: Bool { if case .revocationFailed = self { true } else { false } }
}
