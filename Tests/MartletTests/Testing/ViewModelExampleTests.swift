import Martlet
import MartletTesting
import Testing

private struct Article: Codable, Sendable, Equatable {
    var id: Int
    var title: String
}

private enum ArticleEndpoint: APIEndpoint {
    case all
    var path: RequestPath { "/articles" }
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

@Suite("Testing a view model", .timeLimit(.minutes(10))) struct ViewModelExampleTests {
    @MainActor @Test("a mock client makes the test short") func showsArticles() async {
        let client = MockAPIClient()
        client.when(ArticleEndpoint.all).respond([Article(id: 1, title: "On the wing")]).fail(
            with: NetworkError.offline)
        let model = ArticlesModel(client: client)
        await model.load()
        #expect(model.titles == ["On the wing"])
        await model.load()
        #expect(model.message == "You are offline.")
        #expect(client.calls.map(\.description) == ["GET /articles", "GET /articles"])
    }

    @MainActor @Test("a test sees the state while a call is under way") func loading() async {
        let client = MockAPIClient()
        let gate = Gate()
        client.when(ArticleEndpoint.all).hold(at: gate).respond([Article]())
        let model = ArticlesModel(client: client)
        let loading = Task { await model.load() }
        await gate.waitForArrivals()
        #expect(model.isLoading)
        gate.open()
        await loading.value
        #expect(!model.isLoading)
    }

    @MainActor @Test("a missing response is reported by name") func missing() async {
        let client = MockAPIClient()
        client.when(Call<NoContent>.get("/me")).respond(NoContent())
        let model = ArticlesModel(client: client)
        await model.load()
        #expect(
            model.message
                == "GET /articles: the transport failed: no response is set up for GET /articles. "
                + "Responses are set up for: GET /me. Add one with when(…).respond(…)."
        )
        #expect(client.unexpectedCalls.map(\.description) == ["GET /articles"])
    }

    @Test("an expired token is refreshed over a stub") func renews() async throws {
        struct User: Codable, Sendable { var name: String }
        struct Profile: APIRequest {
            typealias Response = User
            let path: RequestPath = "/me"
        }
        let transport = StubTransport()
        transport.when(Profile()).respond(.json(User(name: "Ada")))
        let refresh = transport.when(.post, "/auth/refresh").respond(.tokens(.fresh(2)))
        let client = NetworkClient(tokens: await .signedIn(with: .expired(), transport: transport))
        #expect(try await client.send(Profile()).name == "Ada")
        #expect(refresh.requests.count == 1)
        #expect(transport.requests(to: "/me").first?.bearer == "access-2")
    }
}
