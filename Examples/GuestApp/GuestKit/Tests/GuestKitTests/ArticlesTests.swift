import GuestKit
import Martlet
import MartletTesting
import MartletUI
import Testing

@MainActor @Suite("The articles") struct ArticlesTests {
    @Test("are loaded with whoever reads them") func load() async {
        let articles = model { _ in nil }
        #expect(!articles.isLoaded)
        await articles.load()
        #expect(articles.articles.map(\.title) == ["Wrens"])
        #expect(articles.user == User(id: "7", name: "Ada"))
        #expect(articles.isLoaded)
        #expect(articles.errorText == nil)
    }

    @Test("a new one stands first, and goes again") func create() async throws {
        let articles = model { _ in nil }
        await articles.load()
        #expect(await articles.create(Article.Draft(title: "Swifts", body: "They never land.")))
        #expect(articles.articles.map(\.title) == ["Swifts", "Wrens"])
        await articles.delete(try #require(articles.articles.first))
        #expect(articles.articles.map(\.title) == ["Wrens"])
    }

    @Test("what fails is told, and what was there stays") func failure() async {
        let articles = model { $0.number > 2 ? .status(503) : nil }
        await articles.load()
        await articles.load()
        #expect(articles.articles.map(\.title) == ["Wrens"])
        #expect(articles.errorText == "The server is having trouble. Try again later.")
        articles.dismissError()
        #expect(articles.errorText == nil)
        #expect(await !articles.create(Article.Draft(title: "Swifts")))
        #expect(articles.errorText != nil)
    }

    @Test("a session that ends is no failure of the list: there is a screen for it") func ended() async {
        let articles = model { _ in .status(401) }
        await articles.load()
        #expect(articles.errorText == nil)
        #expect(!articles.isLoaded)
    }

    @Test("an older answer does not take the place of a newer one") func overtaken() async {
        let gate = Gate()
        let articles = model { request in
            guard request.path.hasPrefix("/articles"), request.number == 1 else { return nil }
            await gate.pass()
            return .json(#"{"data":{"items":[]}}"#)
        }
        let older = Task { await articles.load() }
        await gate.waitForArrivals()
        await articles.load()
        gate.open()
        await older.value
        #expect(articles.articles.map(\.title) == ["Wrens"])
    }

    @Test("a draft without a title is not complete") func drafts() {
        #expect(!Article.Draft().isComplete)
        #expect(!Article.Draft(title: " \n", body: "text").isComplete)
        #expect(Article.Draft(title: "Swifts").isComplete)
    }

    private func model(
        answer: @escaping @Sendable (StubTransport.Request) async throws -> StubTransport.Answer?
    ) -> ArticlesModel {
        let transport = StubTransport { request in
            if let answer = try await answer(request) { return answer }
            func article(_ title: String) -> String {
                #"{"id":"\#(title)","title":"\#(title)","body":"","createdAt":"2026-01-02T03:04:05.678Z"}"#
            }
            return switch (request.method, request.path) {
            case (.get, "/me"): .json(#"{"data":{"id":"7","name":"Ada","profileImageKey":null}}"#)
            case (.get, "/articles?size=100"): .json(#"{"data":{"items":[\#(article("Wrens"))]}}"#)
            case (.post, "/articles"): .json(#"{"data":\#(article("Swifts"))}"#, status: 201)
            case (.delete, "/articles/Swifts"): .status(204)
            default: .status(404)
            }
        }
        let tokens = TokenManager(
            baseURL: "https://api.example.com",
            store: InMemoryTokenStore(StoredSession(id: SessionID(), bundle: .fresh())),
            refresher: .json(path: "/auth/refresh"), transport: transport)
        var config = NetworkConfig()
        config.envelope = .standard
        config.retry = .never
        return ArticlesModel(NetworkClient(tokens: tokens, config: config))
    }
}
