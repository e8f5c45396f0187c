import HTTPTypes

extension BackendCore {
    func addArticleRoutes(to table: inout RouteTable) {
        table.add("GET", "/articles", listArticles)
        table.add("POST", "/articles", createArticle)
        table.add("GET", "/articles/{id}", showArticle)
        table.add("PUT", "/articles/{id}") { try await changeArticle($0, needsAllFields: true) }
        table.add("PATCH", "/articles/{id}") { try await changeArticle($0, needsAllFields: false) }
        table.add("DELETE", "/articles/{id}", deleteArticle)
    }

    private func listArticles(_ scope: RequestScope) async throws -> Reply {
        _ = try await authenticate(scope)
        let page = scope.query.integer("page") ?? 1
        let size = scope.query.integer("size") ?? 20
        guard (1...1_000_000).contains(page), (1...100).contains(size) else {
            throw APIError.malformed("page must be at least 1 and size between 1 and 100.")
        }
        let articles = try await store.articles(page: page, size: size, query: scope.query["query"])
        return rules.success(articles.json, status: 200, scope: scope)
    }

    private func createArticle(_ scope: RequestScope) async throws -> Reply {
        let (user, _) = try await authenticate(scope)
        let form = try ArticleForm(try await scope.json(), needsAllFields: true)
        let now = state.now
        var article = ArticleRecord(
            id: RandomBytes.identifier(), authorID: user.id, title: form.title ?? "", body: form.body ?? "",
            createdAt: now, updatedAt: now)
        let id = scope.idempotencyKey.map { state.article(article.id, createdBy: user.id, withKey: $0) } ?? article.id
        if id == article.id {
            try await store.insert(article)
        } else if let earlier = try await store.article(id: id) {
            article = earlier
        } else {
            throw APIError.conflict(
                "A request with this Idempotency-Key is still under way, or its article was deleted.")
        }
        return rules.success(article.json, status: 201, scope: scope).with(.location, "/articles/\(article.id)")
    }

    private func showArticle(_ scope: RequestScope) async throws -> Reply {
        _ = try await authenticate(scope)
        guard let article = try await store.article(id: try scope.parameter("id")) else { throw APIError.notFound }
        return rules.success(article.json, status: 200, scope: scope)
    }

    private func changeArticle(_ scope: RequestScope, needsAllFields: Bool) async throws -> Reply {
        var article = try await ownArticle(scope)
        let form = try ArticleForm(try await scope.json(), needsAllFields: needsAllFields)
        article.title = form.title ?? article.title
        article.body = form.body ?? article.body
        article.updatedAt = state.now
        try await store.update(article)
        return rules.success(article.json, status: 200, scope: scope)
    }

    private func deleteArticle(_ scope: RequestScope) async throws -> Reply {
        let article = try await ownArticle(scope)
        try await store.deleteArticle(id: article.id)
        return rules.success(.null, status: 204, scope: scope)
    }

    private func ownArticle(_ scope: RequestScope) async throws -> ArticleRecord {
        let (user, _) = try await authenticate(scope)
        guard let article = try await store.article(id: try scope.parameter("id")) else { throw APIError.notFound }
        guard article.authorID == user.id else { throw APIError.forbidden }
        return article
    }
}

extension RequestScope {
    /// The key that repeated requests share (draft-ietf-httpapi-idempotency-key-header).
    fileprivate var idempotencyKey: String? { HTTPField.Name("Idempotency-Key").flatMap { headers[$0] } }
}

/// The validated body for creating or changing an article.
private struct ArticleForm {
    let title: String?
    let body: String?

    private static let longestTitle = 200

    init(_ json: JSONValue, needsAllFields: Bool) throws {
        title = json["title"]?.stringValue
        body = json["body"]?.stringValue
        var problems: [APIError.Field] = []
        if title.map({ !(1...Self.longestTitle).contains($0.count) }) ?? needsAllFields {
            let message = "A title must have between 1 and \(Self.longestTitle) characters."
            problems.append(APIError.Field(name: "title", message: message))
        }
        if body == nil, needsAllFields {
            problems.append(APIError.Field(name: "body", message: "An article must have a body."))
        }
        if !problems.isEmpty { throw APIError.invalid(problems) }
    }
}
