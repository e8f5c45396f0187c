internal import Foundation
public import Martlet
public import Observation

/// The articles, newest first, and the signed-in user.
@MainActor @Observable public final class ArticlesModel {
    /// The articles as of the last load.
    public private(set) var articles: [Article] = []
    /// The signed-in user.
    public private(set) var user: User?
    /// Whether the articles have been loaded.
    public private(set) var isLoaded = false
    /// The localized error of the last load or deletion.
    public private(set) var errorText: String?

    private let client: any APIClient
    /// The number of the latest load, so that an older response does not replace a newer one.
    private var latestLoad = 0
    /// The number of published and deleted articles, to detect a page that was requested before such a change.
    private var changes = 0

    /// Creates a model that loads articles with a client.
    public init(_ client: any APIClient) {
        self.client = client
    }

    /// A model with articles, for previews. It sends nothing.
    public static func preview(titles: [String]) -> ArticlesModel {
        let model = ArticlesModel(PreviewClient())
        model.articles = titles.map { title in
            Article(id: title, title: title, body: "", createdAt: Date(timeIntervalSinceNow: -3600))
        }
        model.user = User(id: "1", name: "Ada")
        model.isLoaded = true
        return model
    }

    /// Loads the articles and the user. Call it when the list appears and on pull to refresh.
    public func load() async {
        latestLoad += 1
        let number = latestLoad
        do throws(NetworkError) {
            guard let items = try await page(forLoad: number) else { return }
            articles = items
            isLoaded = true
            errorText = nil
            if user == nil { user = try await client.send(Profile()) }
        } catch {
            // A newer load reports its own result.
            if number == latestLoad { errorText = error.textForScreen }
        }
    }

    /// Publishes an article.
    /// - Returns: Whether it was published, or the error.
    public func create(_ draft: Article.Draft) async -> Publication {
        do throws(NetworkError) {
            let article: Article = try await client.send(ArticleEndpoint.create(draft))
            changes += 1
            // A page that was loaded in the meantime may contain it already.
            articles.removeAll { $0.id == article.id }
            articles.insert(article, at: 0)
            return .published
        } catch {
            return .failed(error.textForScreen)
        }
    }

    /// Deletes an article. The server permits this to its author only.
    public func delete(_ article: Article) async {
        do throws(NetworkError) {
            try await client.send(ArticleEndpoint.delete(id: article.id))
            changes += 1
            articles.removeAll { $0.id == article.id }
        } catch {
            errorText = error.textForScreen
        }
    }

    /// Clears the error text. Call it when the user has dismissed the alert.
    public func dismissError() {
        errorText = nil
    }

    /// Loads the first page, again if articles were published or deleted in the meantime. Returns `nil` if a newer load
    /// has started.
    private func page(forLoad number: Int) async throws(NetworkError) -> [Article]? {
        while true {
            let before = changes
            let page: ArticlePage = try await client.send(ArticleEndpoint.newest)
            guard number == latestLoad else { return nil }
            if before == changes { return page.items }
        }
    }
}

/// The result of publishing an article.
public enum Publication: Sendable, Hashable {
    /// The article was published and is first in the list.
    case published
    /// The article was not published. The text is localized, or `nil` if another screen shows the error.
    case failed(String?)
}

extension NetworkError {
    /// The error text for this screen, or `nil` if the end of the session has its own screen.
    fileprivate var textForScreen: String? {
        switch self {
        case .cancelled, .sessionExpired, .sessionChanged, .signInRequired: nil
        default: localizedDescription
        }
    }
}

/// Fails each call as cancelled, so that the models keep their content.
private struct PreviewClient: APIClient {
    func response<Value: Decodable & Sendable>(
        for endpoint: any Endpoint, as type: Value.Type, monitor: TransferMonitor?
    ) async throws(NetworkError) -> NetworkResponse<Value> {
        throw .cancelled(CallDescription(method: endpoint.method.rawValue, url: "", attempts: 0))
    }

    func data(for endpoint: any Endpoint, monitor: TransferMonitor?) async throws(NetworkError) -> NetworkResponse<Data>
    {
        throw .cancelled(CallDescription(method: endpoint.method.rawValue, url: "", attempts: 0))
    }
}
