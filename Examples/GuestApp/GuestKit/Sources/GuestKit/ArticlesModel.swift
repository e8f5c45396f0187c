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
    /// What went wrong with loading or deleting, in the person's language.
    public private(set) var errorText: String?

    private let client: any APIClient
    /// Goes up with each load, so that an older answer does not take the place of a newer one.
    private var newest = 0
    /// Goes up with each article that was published or deleted, so that a page from before it is known.
    private var changes = 0

    /// The articles that a client gets.
    public init(_ client: any APIClient) {
        self.client = client
    }

    /// Loads the articles and whoever is signed in: when the list appears, and when it is pulled down.
    public func load() async {
        newest += 1
        let number = newest
        do throws(NetworkError) {
            guard let items = try await page(forLoad: number) else { return }
            articles = items
            isLoaded = true
            errorText = nil
            if user == nil { user = try await client.send(Profile()) }
        } catch {
            // The load that overtook this one tells how it went.
            if number == newest { errorText = error.textForScreen }
        }
    }

    /// Publishes an article.
    /// - Returns: What came of it.
    public func create(_ draft: Article.Draft) async -> Publication {
        do throws(NetworkError) {
            let article: Article = try await client.send(ArticleEndpoint.create(draft))
            changes += 1
            // A page that was loaded meanwhile may have it already.
            articles.removeAll { $0.id == article.id }
            articles.insert(article, at: 0)
            return .published
        } catch {
            return .failed(error.textForScreen)
        }
    }

    /// Takes an article away; only its author may.
    public func delete(_ article: Article) async {
        do throws(NetworkError) {
            try await client.send(ArticleEndpoint.delete(id: article.id))
            changes += 1
            articles.removeAll { $0.id == article.id }
        } catch {
            errorText = error.textForScreen
        }
    }

    /// The text about the last failure has been read.
    public func dismissError() {
        errorText = nil
    }

    /// The articles that the server has, what was published or deleted meanwhile included; `nil` once a newer load is under
    /// way.
    private func page(forLoad number: Int) async throws(NetworkError) -> [Article]? {
        while true {
            let before = changes
            let page: ArticlePage = try await client.send(ArticleEndpoint.newest)
            guard number == newest else { return nil }
            if before == changes { return page.items }
        }
    }
}

/// What came of publishing an article.
public enum Publication: Sendable, Hashable {
    /// It stands first in the list.
    case published
    /// It is not there, for a reason in the person's language; `nil` where another screen tells it.
    case failed(String?)
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
