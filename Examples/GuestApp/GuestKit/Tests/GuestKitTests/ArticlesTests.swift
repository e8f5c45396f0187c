import GuestKit
import Martlet
import MartletTesting
import MartletUI
import Testing

@MainActor @Suite("Articles model", .timeLimit(.minutes(10))) struct ArticlesTests {
    @Test("loads the articles and the user") func load() async {
        let articles = model { _ in nil }
        #expect(!articles.isLoaded)
        await articles.load()
        #expect(articles.articles.map(\.title) == ["Wrens"])
        #expect(articles.user == User(id: "7", name: "Ada"))
        #expect(articles.isLoaded)
        #expect(articles.errorText == nil)
    }

    @Test("a new article is first, and can be deleted") func create() async throws {
        let articles = model { _ in nil }
        await articles.load()
        #expect(await articles.create(Article.Draft(title: "Swifts", body: "They never land.")) == .published)
        #expect(articles.articles.map(\.title) == ["Swifts", "Wrens"])
        await articles.delete(try #require(articles.articles.first))
        #expect(articles.articles.map(\.title) == ["Wrens"])
    }

    @Test("a failed load has an error text and keeps the articles") func failure() async {
        let articles = model { $0.number > 2 ? .status(503) : nil }
        await articles.load()
        await articles.load()
        #expect(articles.articles.map(\.title) == ["Wrens"])
        #expect(articles.errorText == "The server is having problems. Try again later.")
        articles.dismissError()
        #expect(articles.errorText == nil)
    }

    @Test("a failed publication is reported to the editor, not to the list") func notPublished() async {
        let articles = model { $0.method == .post ? .status(503) : nil }
        await articles.load()
        let publication = await articles.create(Article.Draft(title: "Swifts"))
        #expect(publication == .failed("The server is having problems. Try again later."))
        #expect(articles.errorText == nil)
    }

    @Test("a failed load does not affect the publication of an article") func failedLoad() async {
        let articles = model { $0.method == .get ? .status(503) : nil }
        await articles.load()
        #expect(articles.errorText != nil)
        #expect(await articles.create(Article.Draft(title: "Swifts")) == .published)
        #expect(articles.errorText != nil)
    }

    @Test("the end of the session is not reported as an error of the list") func ended() async {
        let articles = model { _ in .status(401) }
        await articles.load()
        #expect(articles.errorText == nil)
        #expect(!articles.isLoaded)
        #expect(await articles.create(Article.Draft(title: "Swifts")) == .failed(nil))
    }

    @Test("an older response does not replace a newer one") func overtaken() async {
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

    @Test("the error of an older load is ignored") func overtakenFailure() async {
        let gate = Gate()
        let articles = model { request in
            guard request.path.hasPrefix("/articles"), request.number == 1 else { return nil }
            await gate.pass()
            return .status(503)
        }
        let older = Task { await articles.load() }
        await gate.waitForArrivals()
        await articles.load()
        gate.open()
        await older.value
        #expect(articles.errorText == nil)
    }

    @Test("a page requested before a publication is loaded again")
    func publishedMeanwhile() async {
        let gate = Gate()
        let articles = model { request in
            guard request.path.hasPrefix("/articles"), request.method == .get else { return nil }
            guard request.number > 1 else {
                await gate.pass()
                return .json(#"{"data":{"items":[]}}"#)
            }
            return .json(#"{"data":{"items":[\#(Self.article("Swifts")),\#(Self.article("Wrens"))]}}"#)
        }
        let loading = Task { await articles.load() }
        await gate.waitForArrivals()
        #expect(await articles.create(Article.Draft(title: "Swifts")) == .published)
        gate.open()
        await loading.value
        #expect(articles.articles.map(\.title) == ["Swifts", "Wrens"])
    }

    @Test("a published article that a page contains already is listed once") func once() async {
        let gate = Gate()
        let articles = model { request in
            switch request.method {
            case .post:
                await gate.pass()
                return nil
            case .get where request.path.hasPrefix("/articles"):
                return .json(#"{"data":{"items":[\#(Self.article("Swifts"))]}}"#)
            default: return nil
            }
        }
        let publishing = Task { await articles.create(Article.Draft(title: "Swifts")) }
        await gate.waitForArrivals()
        await articles.load()
        gate.open()
        #expect(await publishing.value == .published)
        #expect(articles.articles.map(\.title) == ["Swifts"])
    }

    @Test("a page requested before a deletion does not restore the article") func deletedMeanwhile() async throws {
        let gate = Gate()
        let articles = model { request in
            guard request.path.hasPrefix("/articles"), request.method == .get else { return nil }
            switch request.number {
            case 1: return .json(#"{"data":{"items":[\#(Self.article("Swifts"))]}}"#)
            case 3:
                await gate.pass()
                return .json(#"{"data":{"items":[\#(Self.article("Swifts"))]}}"#)
            default: return .json(#"{"data":{"items":[]}}"#)
            }
        }
        await articles.load()
        let swifts = try #require(articles.articles.first)
        let loading = Task { await articles.load() }
        await gate.waitForArrivals()
        await articles.delete(swifts)
        gate.open()
        await loading.value
        #expect(articles.articles.isEmpty)
    }

    @Test("a draft without a title is not complete") func drafts() {
        #expect(!Article.Draft().isComplete)
        #expect(!Article.Draft(title: " \n", body: "text").isComplete)
        #expect(Article.Draft(title: "Swifts").isComplete)
    }

    private func model(
        response: @escaping @Sendable (StubTransport.Request) async throws -> StubTransport.Response?
    ) -> ArticlesModel {
        let transport = StubTransport { request in
            if let response = try await response(request) { return response }
            return switch (request.method, request.path) {
            case (.get, "/me"): .json(#"{"data":{"id":"7","name":"Ada","profileImageKey":null}}"#)
            case (.get, "/articles?size=100"): .json(#"{"data":{"items":[\#(Self.article("Wrens"))]}}"#)
            case (.post, "/articles"): .json(#"{"data":\#(Self.article("Swifts"))}"#, status: 201)
            case (.delete, "/articles/Swifts"): .status(204)
            default: .status(404)
            }
        }
        let tokens = TokenManager(
            baseURL: "https://api.example.com",
            store: .inMemory(.fresh()),
            refresher: .json(path: "/auth/refresh"), transport: transport)
        var config = NetworkConfig()
        config.envelope = ResponseEnvelope()
        config.retry = .never
        return ArticlesModel(NetworkClient(tokens: tokens, config: config))
    }
    private nonisolated static func article(_ title: String) -> String {
        #"{"id":"\#(title)","title":"\#(title)","body":"","createdAt":"2026-01-02T03:04:05.678Z"}"#
    }
}
