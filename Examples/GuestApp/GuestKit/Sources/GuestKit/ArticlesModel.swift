public import Martlet
internal import MartletUI
public import Observation

/// The articles, newest first, and who reads them.
@MainActor @Observable public final class ArticlesModel {
    /// The articles as they were loaded last.
    public private(set) var articles: [Article] = []
    /// Whoever is signed in.
    public private(set) var user: User?
    /// Whether the articles have been loaded at all.
    public private(set) var isLoaded = false
    /// What went wrong, in the person's language.
    public private(set) var errorText: String?

    private let client: any APIClient
    /// Goes up with each load, so that an older answer does not take the place of a newer one.
    private var newest = 0

    /// The articles that a client gets.
    public init(_ client: any APIClient) {
        self.client = client
    }

    /// Loads the articles and whoever is signed in: when the list appears, and when it is pulled down.
    public func load() async {
        newest += 1
        let number = newest
        await attempt { () throws(NetworkError) in
            let page: ArticlePage = try await client.send(ArticleEndpoint.newest)
            guard number == newest else { return }
            articles = page.items
            isLoaded = true
            if user == nil { user = try await client.send(Profile()) }
        }
    }

    /// Publishes an article.
    /// - Returns: Whether it is there now.
    public func create(_ draft: Article.Draft) async -> Bool {
        await attempt { () throws(NetworkError) in
            let article: Article = try await client.send(ArticleEndpoint.create(draft))
            articles.insert(article, at: 0)
        }
    }

    /// Takes an article away; only its author may.
    public func delete(_ article: Article) async {
        await attempt { () throws(NetworkError) in
            try await client.send(ArticleEndpoint.delete(id: article.id))
            articles.removeAll { $0.id == article.id }
        }
    }

    /// The text about the last failure has been read.
    public func dismissError() {
        errorText = nil
    }

    @discardableResult private func attempt(_ work: () async throws(NetworkError) -> Void) async -> Bool {
        do throws(NetworkError) {
            try await work()
            errorText = nil
            return true
        } catch {
            errorText = error.textForScreen
            return false
        }
    }
}

extension NetworkError {
    /// What is worth a word on this screen: what ends the session has a screen of its own.
    fileprivate var textForScreen: String? {
        switch self {
        case .cancelled, .sessionExpired, .sessionChanged, .signInRequired: nil
        default: userMessage
        }
    }
}
