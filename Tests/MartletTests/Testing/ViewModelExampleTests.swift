import Martlet
import MartletTesting
import Testing

private struct Article: Codable, Sendable, Equatable {
    var id: Int
    var title: String
}

private enum ArticleEndpoint: APIEndpoint {
    case all
    var path: String { "/articles" }
}

@MainActor private final class ArticlesModel {
    private(set) var titles: [String] = []
    private(set) var message: String?
    private(set) var isLoading = false
    private let client: any APIClient

    init(client: any APIClient) {
        self.client = client
    }

    func load() async {
        isLoading = true
        defer { isLoading = false }
        do {
            let articles: [Article] = try await client.send(ArticleEndpoint.all)
            titles = articles.map(\.title)
        } catch .offline {
            message = "You are offline."
        } catch {
            message = error.description
        }
    }
}

@Suite("A view model's test") struct ViewModelExampleTests {
    @MainActor @Test("is short with a mock client") func showsArticles() async {
        let client = MockAPIClient()
        client.when(ArticleEndpoint.all).answer([Article(id: 1, title: "On the wing")]).fail(with: NetworkError.offline)
        let model = ArticlesModel(client: client)
        await model.load()
        #expect(model.titles == ["On the wing"])
        await model.load()
        #expect(model.message == "You are offline.")
        #expect(client.calls.map(\.description) == ["GET /articles", "GET /articles"])
    }

    @MainActor @Test("sees what is there while a call is under way") func loading() async {
        let client = MockAPIClient()
        let gate = Gate()
        client.when(ArticleEndpoint.all).hold(at: gate).answer([Article]())
        let model = ArticlesModel(client: client)
        let loading = Task { await model.load() }
        await gate.waitForArrivals()
        #expect(model.isLoading)
        gate.open()
        await loading.value
        #expect(!model.isLoading)
    }

    @MainActor @Test("says what went wrong where an answer is missing") func missing() async {
        let client = MockAPIClient()
        client.when(Call<Empty>.get("/me")).answer(Empty())
        let model = ArticlesModel(client: client)
        await model.load()
        #expect(
            model.message
                == "GET /articles: the transport failed: nobody has said what the answer to GET /articles is. There are answers to: GET /me."
        )
        #expect(client.unexpectedCalls.map(\.description) == ["GET /articles"])
    }

    @Test("renews an expired token over a stub") func renews() async throws {
        struct User: Codable, Sendable { var name: String }
        struct Profile: APIRequest {
            typealias Response = User
            let path = "/me"
        }
        let transport = StubTransport()
        transport.when(Profile()).answer(.json(User(name: "Ada")))
        let refresh = transport.when(.post, "/auth/refresh").answer(.tokens(.fresh(2)))
        let client = NetworkClient(tokens: await .signedIn(with: .expired(), transport: transport))
        #expect(try await client.send(Profile()).name == "Ada")
        #expect(refresh.requests.count == 1)
        #expect(transport.requests(to: "/me").first?.bearer == "access-2")
    }
}
