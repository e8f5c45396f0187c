import Foundation
import HTTPTypes
import MartletGuests
import MartletTesting
import Testing

@testable import Martlet

@Suite("Conformance: guest upgrades", .timeLimit(.minutes(10))) struct GuestUpgradeConformanceTests {
    @Test(
        "C49: an upgrade discards the guest's refresh under way and sends the guest's id") func upgrade() async throws
    {
        let (app, gate) = try await guestWithRefreshUnderWay()
        let events = app.tokens.events
        let ids = Locked<[String?]>([])
        app.backend.beforeCall { request in
            guard request.path == "/auth/upgrade" else { return nil }
            #expect(request.bearer == "access-1")
            return .json(#"{"accessToken":"user","refreshToken":"user-refresh"}"#)
        }
        let _: NoContent = try await GuestAuthService(app.client).upgrade { id in
            ids.withLock { $0.append(id) }
            return Get("/auth/upgrade", .required)
        } account: { _ in
            SessionAccount(userID: "ada")
        }
        #expect(ids.withLock { $0 } == ["guest-7"])
        gate.open()
        #expect(
            await events.first { if case .refreshDiscarded = $0 { true } else { false } } != nil)
        #expect(await events.first { $0 == .revoked } != nil)
        #expect(app.backend.revoked.contains { $0.contains("refresh-2") })
        #expect(try await app.tokens.validTokens().accessToken == "user")
        guard case .signedIn(let session) = app.tokens.state else { return #expect(Bool(false), "signed out") }
        #expect(session.account == SessionAccount(userID: "ada"))
    }

    @Test("C49: a guest's call in flight is not replayed under the upgraded account") func fenced() async throws {
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
        let _: NoContent = try await GuestAuthService(app.client).upgrade { _ in Get("/auth/upgrade") }
        gate.open()
        guard case .sessionChanged = await call.value.error else {
            Issue.record("a guest's call was sent with a user's token")
            return
        }
        #expect(app.backend.calls(to: "/me") == 1)
    }

    @Test("C49: a rejected upgrade leaves the guest signed in") func refused() async throws {
        let app = try await App.signedInAsGuest()
        let before = app.tokens.state
        app.backend.beforeCall { $0.path == "/auth/upgrade" ? .json(#"{"message":"taken"}"#, status: 409) : nil }
        let failure = await #expect(throws: NetworkError.self) {
            let _: NoContent = try await GuestAuthService(app.client).upgrade { _ in Get("/auth/upgrade") }
        }
        #expect(failure?.response?.status == 409)
        #expect(app.tokens.state == before)
        #expect(await app.call().isSuccess)
    }

    @Test("an upgrade is sent for guests only, and never with another user's token") func onlyGuests() async throws {
        let app = try await App.signedIn()
        await #expect(throws: NetworkError.self) {
            let _: NoContent = try await GuestAuthService(app.client).upgrade { _ in Get("/auth/upgrade") }
        }
        #expect(app.transport.requests.isEmpty)

        // A user signs in during the refresh of the guest's token that the upgrade waits for.
        let other = try await App.signedInAsGuest()
        let gate = Gate()
        other.backend.beforeRefresh { _ in
            await gate.pass()
            return nil
        }
        other.time.advance(by: .seconds(7200))
        let upgrade = Task { () -> NetworkError? in
            do throws(NetworkError) {
                let _: NoContent = try await GuestAuthService(other.client).upgrade { _ in Get("/auth/upgrade") }
                return nil
            } catch {
                return error
            }
        }
        await gate.waitForArrivals()
        try await other.tokens.signIn(with: other.backend.issue())
        gate.open()
        guard case .sessionChanged = await upgrade.value else {
            Issue.record("the upgrade was sent for a guest who is no longer signed in")
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
}
