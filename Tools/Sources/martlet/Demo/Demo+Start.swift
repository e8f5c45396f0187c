internal import Foundation
internal import Martlet
internal import ReferenceBackend

extension Demo {
    mutating func guestSignsIn() async throws {
        report.step("Ada signs in as a guest, with a picture")
        let start = recorder.elapsed
        let guest = try await GuestAuthService(app.client).register(name: "Ada", picture: .file(at: props.image))
        report.check(
            app.tokens.state.isSignedIn && controls.counters.guestRegistrations == 1,
            "Signed in with one upload, in \((recorder.elapsed - start).forPeople).",
            else: "signed in, 1 registration; the server has \(controls.counters.guestRegistrations)")

        let mode = try FileManager.default.attributesOfItem(atPath: props.sessionFile)[.posixPermissions] as? Int
        report.check(
            mode == 0o600, "Her session is in a file that only she can read (mode \(String(mode ?? 0, radix: 8))).",
            else: "mode 600")

        let original = try Data(contentsOf: URL(filePath: props.image))
        let copy = try await app.client.data(for: Picture(path: guest.profileURL ?? "/nowhere")).value
        report.check(
            copy == original, "The picture came back byte for byte: \(copy.count.grouped) bytes.",
            else: "the \(original.count.grouped) bytes that were sent")
    }

    mutating func articlesAreWritten() async throws {
        report.step("She writes articles and reads them")
        let titles = ["On swifts", "On swallows", "On martlets, which never land"]
        for title in titles {
            try await app.client.send(ArticleEndpoint.create(Article.Draft(title: title, body: "…")))
        }
        let page: ArticlePage = try await app.client.send(ArticleEndpoint.all)
        report.check(
            page.items.map(\.title) == titles.reversed(),
            "\(page.items.count) articles written, and listed newest first.", else: "\(titles.count) articles")
    }

    mutating func tokenIsRenewedEarly() async throws {
        report.step("A token that lives two seconds is renewed before it expires")
        controls.update {
            $0.accessTokenLifetime = .seconds(2)
            // Whole seconds would make it anything between two seconds and three.
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
        let isRenewed = await recorder.sees(since: start) { if case .refreshSucceeded = $0 { true } else { false } }
        let counters = controls.counters
        report.check(
            isRenewed && counters.refreshesCalled == 1,
            "\(counters.refreshesCalled) refresh, \((recorder.elapsed - start).forPeople) into the token's life;"
                + " calls used the old one until the new one was there.",
            else: "1 refresh")
        report.check(
            counters.unauthorized == 0,
            "\(counters["GET /me"]) calls were made meanwhile, and \(counters.unauthorized) of them refused.",
            else: "0 refused")
    }
}
