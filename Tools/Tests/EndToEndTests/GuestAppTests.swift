internal import Foundation
internal import GuestKit
internal import Martlet
internal import MartletImages
internal import MartletOAuth
internal import MartletUI
internal import ReferenceBackend
internal import Testing

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

extension EndToEnd {
    @MainActor @Suite("Example app", .timeLimit(.minutes(10))) struct GuestAppTests {
        @Test("GuestApp_story: login with a photo, articles, a restart, an expired token, an ended session, a logout")
        func story() async throws {
            try await withBackend { backend, makeApp in
                let app = makeApp()
                let run = Task { await app.session.run() }
                await until { app.session.route == .login }

                app.login.userName = "Ada"
                app.login.selectedImage = .data(try Data(contentsOf: portrait))
                await app.login.registerGuest().value
                #expect(app.login.errorText == nil)
                await until { app.session.session != nil }
                #expect(app.session.route.message == nil)

                let articles = app.makeArticles()
                await articles.load()
                #expect(articles.isLoaded && articles.articles.isEmpty)
                #expect(articles.user?.name == "Ada")
                #expect(articles.user?.profileImageKey == app.login.guest?.profileImageKey)
                #expect(articles.user?.profileImageKey != nil)
                let draft = GuestKit.Article.Draft(title: "Swifts", body: "They never land.")
                #expect(await articles.create(draft) == .published)
                let tooLong = GuestKit.Article.Draft(title: String(repeating: "S", count: 201))
                if case .failed(let text) = await articles.create(tooLong) {
                    #expect(text?.contains("200") == true)
                } else {
                    Issue.record("the server accepted a title of 201 characters")
                }
                run.cancel()
                await run.value

                // The app restarts with an access token that the server rejects.
                try await backend.controls.expireAccessTokens()
                let next = makeApp()
                let nextRun = Task { await next.session.run() }
                await until { next.session.route != .loading }
                #expect(next.session.session?.account.userID == articles.user?.id)
                let again = next.makeArticles()
                await again.load()
                #expect(again.articles.map(\.title) == ["Swifts"])
                #expect(backend.controls.counters.refreshesSucceeded == 1)

                try await backend.controls.revokeSessions(includingAccessTokens: true)
                await again.load()
                #expect(again.errorText == nil)
                await until { next.session.route.message != nil }
                #expect(again.articles.map(\.title) == ["Swifts"])

                next.login.userName = "Grace"
                await next.login.registerGuest().value
                await until { next.session.route.message == nil }
                let others = next.makeArticles()
                await others.load()
                #expect(others.user?.name == "Grace")
                await others.delete(try #require(others.articles.first))
                #expect(others.errorText != nil, "only the author may delete an article")

                await next.session.signOut().value
                #expect(next.session.route == .login)
                nextRun.cancel()
                await nextRun.value
            }
        }

        @Test("a user signs in with the browser beside guests, and the session is refreshed like theirs")
        func browser() async throws {
            try await withBackend { backend, makeApp in
                let app = makeApp()
                let run = Task { await app.session.run() }
                await until { app.session.route == .login }
                let signIn = app.makeBrowserSignIn(at: backend.baseURL, redirect: .loopback())
                // It follows the redirects of the provider, which asks the user nothing.
                signIn.signIn(with: .loopback { url in _ = try await URLSession.shared.data(from: url) })
                await until { app.session.session != nil || signIn.error != nil }
                #expect(signIn.error == nil)
                #expect(app.session.session?.account.userID != nil)

                try await backend.controls.expireAccessTokens()
                let articles = app.makeArticles()
                await articles.load()
                #expect(articles.user?.name == "Ada")
                #expect(articles.user?.id == app.session.session?.account.userID)
                #expect(backend.controls.counters.refreshesSucceeded == 1)
                await app.session.signOut().value
                #expect(app.session.route == .login)
                run.cancel()
                await run.value
            }
        }

        /// Polls until a condition holds that has no event.
        private func until(_ condition: () -> Bool) async {
            while !condition() { await Task.yield() }
        }

        private var portrait: URL {
            URL(fileURLWithPath: #filePath).appendingPathComponent("../../../Fixtures/portrait.jpg").standardizedFileURL
        }

        private nonisolated func withBackend(
            _ test: @MainActor (ReferenceBackend, @MainActor () -> AppModel) async throws -> Void
        ) async throws {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            var configuration = BackendConfiguration.testing(.envelope)
            configuration.openID = OpenIDProvider()
            try await ReferenceBackend.withRunning(configuration) { backend in
                let transport = AsyncHTTPClientTransport()
                let makeApp = { @MainActor in
                    AppModel(
                        server: BaseURL(backend.baseURL),
                        store: .file(path: folder.appendingPathComponent("session.json").path),
                        transport: transport, registration: { Self.registration($0) })
                }
                do {
                    try await test(backend, makeApp)
                } catch {
                    try? await transport.shutdown()
                    throw error
                }
                try await transport.shutdown()
            }
        }

        /// Sends the picture unchanged, because this package has no image codecs on Linux.
        private nonisolated static func registration(_ client: NetworkClient) -> GuestRegistration {
            let guests = GuestAuthService(client)
            let session = client.tokens.map { SessionSource($0) } ?? SessionSource(state: { .signedOut })
            return GuestRegistration(session: session) { name, image, monitor throws(NetworkError) in
                guard case .data(let bytes) = image else { return try await guests.register(name: name) }
                return try await guests.register(
                    name: name, picture: .data(bytes, filename: "ada.jpg", contentType: "image/jpeg"), monitor: monitor)
            }
        }
    }
}
