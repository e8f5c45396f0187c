internal import Foundation
internal import Martlet
internal import MartletGuests
internal import ReferenceBackend
internal import Testing

extension EndToEnd {
    @Suite("Dialect 1: responses in an envelope", .timeLimit(.minutes(10)))
    struct Dialect1Tests {
        @Test(
            "Dialect1_guest: a guest signs in with a picture, which comes back byte for byte", arguments: Wire.allCases)
        func guest(wire: Wire) async throws {
            try await Scenario.guestSignsIn(.envelope, over: wire)
        }

        @Test(
            "Dialect1_burst: fifty calls with an expired token make one refresh and all succeed",
            arguments: Wire.allCases)
        func burst(wire: Wire) async throws {
            try await Scenario.burstRefreshesOnce(.envelope, over: wire)
        }

        @Test("Dialect1_restart: the next start is signed in without a login", arguments: Wire.allCases)
        func restart(wire: Wire) async throws {
            try await Scenario.restartStaysSignedIn(.envelope, over: wire)
        }

        @Test("Dialect1_revocation: a session that the server ended expires once", arguments: Wire.allCases)
        func revocation(wire: Wire) async throws {
            try await Scenario.revocationExpiresOnce(.envelope, over: wire)
        }

        @Test("Dialect1_signOut: signing out clears the store and revokes at the server", arguments: Wire.allCases)
        func signOut(wire: Wire) async throws {
            try await Scenario.signOutRevokes(.envelope, over: wire)
        }

        @Test(
            "Dialect1_unwrapping: a value is decoded from its envelope, and raw data keeps it",
            arguments: Wire.allCases)
        func unwrapping(wire: Wire) async throws {
            try await App.run(.envelope, over: wire) { app in
                try await app.signUp()
                let article: Article = try await app.client.send(
                    AnyCall.post("/articles", .json(Article.Draft(title: "Wrens"))))
                #expect(article.title == "Wrens")
                let page: Page<Article> = try await app.client.send(
                    AnyCall.get("/articles", query: ["page": 1, "size": 5]))
                #expect(page.items == [article])
                let raw = try await app.client.data(for: AnyCall.get("/articles/\(article.id)"))
                #expect(String(decoding: raw.value, as: UTF8.self).contains("\"success\":true"))
            }
        }

        @Test("Dialect1_errors: an error has its code, message, fields and request id", arguments: Wire.allCases)
        func errors(wire: Wire) async throws {
            try await App.run(.envelope, over: wire) { app in
                try await app.signUp()
                guard
                    case .api(_, let error) = try await app.failure(
                        of: AnyCall.post("/articles", .json(["body": "no title"])))
                else { return #expect(Bool(false), "not an API error") }
                #expect(error.status == 422)
                #expect(error.code == "VALIDATION_FAILED")
                #expect(error.message == "The request has invalid fields.")
                #expect(error.errors.map(\.field) == ["title"])
                #expect(error.requestID?.isEmpty == false)
            }
        }

        @Test(
            "Dialect1_meta: a guest and a sign-in have the code, the message and the meta of their envelope",
            arguments: Wire.allCases)
        func meta(wire: Wire) async throws {
            try await App.run(.envelope, over: wire) { app in
                let guest = try await GuestAuthService(app.client).registrationResponse(name: "Wren")
                let account = ["email": "wren@example.org", "password": "correct horse"]
                let user = try await app.client.signInResponse(
                    for: AnyCall.post("/auth/register", .json(account)), as: SignedIn.self)
                #expect(guest.value.name == "Wren" && !user.value.user.isGuest)
                for (code, message) in [(guest.code, guest.message), (user.code, user.message)] {
                    #expect(code?.isEmpty == false && message != nil)
                }
                for meta in [guest.meta, user.meta] {
                    #expect(meta?.requestID?.isEmpty == false && meta?.timestamp != nil && meta?.duration != nil)
                }
                #expect(guest.meta?.requestID != user.meta?.requestID)
            }
        }

        @Test("Dialect1_guest_upgrade: a guest becomes a user with the same id", arguments: Wire.allCases)
        func upgrade(wire: Wire) async throws {
            try await App.run(.envelope, over: wire) { app in
                let guest = try await GuestAuthService(app.client).register(name: "Wren")
                var upgrade = AnyCall.post(
                    "/auth/upgrade", .json(["email": "wren@example.org", "password": "correct horse"]))
                upgrade.authentication = .required
                let response: SignedIn = try await app.client.signIn(upgrade) { SessionAccount(userID: $0.user.id) }
                #expect(response.user.id == guest.id && !response.user.isGuest)
                #expect(try await app.client.send(Me()).isGuest == false)
                #expect(await app.stored?.account == SessionAccount(userID: guest.id))
            }
        }
    }
}
