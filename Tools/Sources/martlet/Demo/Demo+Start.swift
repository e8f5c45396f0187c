internal import Foundation
internal import Martlet
internal import MartletGuests
internal import ReferenceBackend

extension Demo {
    mutating func signInGuest() async throws {
        report.step("Ada signs in as a guest, with a picture")
        let start = recorder.elapsed
        let guest = try await GuestAuthService(app.client).register(name: "Ada", picture: .file(at: setup.image))
        report.check(
            app.tokens.state.isSignedIn && controls.counters.guestRegistrations == 1,
            "Registered and signed in with one upload, in \((recorder.elapsed - start).readable).",
            else: "signed in, 1 registration; the server counted \(controls.counters.guestRegistrations)")

        let mode = try FileManager.default.attributesOfItem(atPath: setup.sessionFile)[.posixPermissions] as? Int
        report.check(
            mode == 0o600,
            "The session file is readable by its owner only (mode \(String(mode ?? 0, radix: 8))).",
            else: "mode 600")

        let original = try Data(contentsOf: URL(filePath: setup.image))
        let copy = try await app.client.data(for: Picture(path: .absolute(guest.profileURL ?? ""))).value
        report.check(
            copy == original, "The downloaded picture equals the uploaded one: \(copy.count.grouped) bytes.",
            else: "the \(original.count.grouped) uploaded bytes")
    }

    mutating func writeArticles() async throws {
        report.step("The guest writes articles and lists them")
        let titles = ["On swifts", "On swallows", "On martlets, which never land"]
        for title in titles {
            try await app.client.send(ArticleEndpoint.create(Article.Draft(title: title, body: "…")))
        }
        let page: ArticlePage = try await app.client.send(ArticleEndpoint.all)
        report.check(
            page.items.map(\.title) == titles.reversed(),
            "\(page.items.count) articles are listed, newest first.", else: "\(titles.count) articles")
    }

    mutating func refreshEarly() async throws {
        report.step("A token that lives two seconds is refreshed before it expires")
        controls.update {
            $0.accessTokenLifetime = .seconds(2)
            // An `exp` in whole seconds would let the token live between two and three seconds.
            $0.jwtExpiryInMilliseconds = true
        }
        try await app.tokens.refresh()
        controls.update {
            $0.accessTokenLifetime = .seconds(900)
            $0.jwtExpiryInMilliseconds = false
        }
        controls.resetCounters()
        let start = recorder.elapsed
        while controls.counters.refreshesCalled == 0, recorder.elapsed - start < .seconds(3) {
            _ = try await app.client.send(Profile())
            try await Task.sleep(for: .milliseconds(50))
        }
        let isRenewed = await recorder.waitForEvent(since: start) {
            if case .refreshSucceeded = $0 { true } else { false }
        }
        let counters = controls.counters
        report.check(
            isRenewed && counters.refreshesCalled == 1,
            "\(counters.refreshesCalled) refresh, \((recorder.elapsed - start).readable) into the token's life."
                + " Calls used the old token until the new one arrived.",
            else: "1 refresh")
        report.check(
            counters.unauthorized == 0,
            "\(counters["GET /me"]) calls were made in that time; the server rejected \(counters.unauthorized) of them.",
            else: "0 rejected")
    }
}
