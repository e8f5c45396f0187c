import GRDB

/// An article.
struct ArticleRecord: Sendable {
    var id: String
    var authorID: String
    var title: String
    var body: String
    var createdAt: Timestamp
    var updatedAt: Timestamp

    var json: JSONValue {
        [
            "id": .string(id), "title": .string(title), "body": .string(body),
            "createdAt": .string(createdAt.iso8601), "updatedAt": .string(updatedAt.iso8601),
        ]
    }
}

extension ArticleRecord: FetchableRecord {
    init(row: Row) {
        id = row["id"]
        authorID = row["authorID"]
        title = row["title"]
        body = row["body"]
        createdAt = Timestamp(milliseconds: row["createdAt"])
        updatedAt = Timestamp(milliseconds: row["updatedAt"])
    }
}

/// One page of articles, newest first.
struct ArticlePage: Sendable {
    var items: [ArticleRecord]
    var page: Int
    var size: Int
    var totalItems: Int

    var json: JSONValue {
        [
            "items": .array(items.map(\.json)), "page": .integer(page), "size": .integer(size),
            "totalItems": .integer(totalItems), "totalPages": .integer((totalItems + size - 1) / size),
        ]
    }
}

extension Store {
    func articles(page: Int, size: Int, query: String?) async throws -> ArticlePage {
        let pattern = query.map { "%\($0.escapedForLike)%" } ?? "%"
        return try await queue.read { database in
            let condition = "WHERE title LIKE :pattern ESCAPE '\\' OR body LIKE :pattern ESCAPE '\\'"
            let total = try Int.fetchOne(
                database, sql: "SELECT count(*) FROM article \(condition)", arguments: ["pattern": pattern])
            let items = try ArticleRecord.fetchAll(
                database,
                sql: "SELECT * FROM article \(condition) ORDER BY number DESC LIMIT :size OFFSET :offset",
                arguments: ["pattern": pattern, "size": size, "offset": (page - 1) * size])
            return ArticlePage(items: items, page: page, size: size, totalItems: total ?? 0)
        }
    }

    func article(id: String) async throws -> ArticleRecord? {
        try await queue.read {
            try ArticleRecord.fetchOne($0, sql: "SELECT * FROM article WHERE id = ?", arguments: [id])
        }
    }

    func insert(_ article: ArticleRecord) async throws {
        try await queue.write { database in
            try database.execute(
                sql: """
                    INSERT INTO article (id, authorID, title, body, createdAt, updatedAt) VALUES (?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    article.id, article.authorID, article.title, article.body, article.createdAt.milliseconds,
                    article.updatedAt.milliseconds,
                ])
        }
    }

    func update(_ article: ArticleRecord) async throws {
        try await queue.write { database in
            try database.execute(
                sql: "UPDATE article SET title = ?, body = ?, updatedAt = ? WHERE id = ?",
                arguments: [article.title, article.body, article.updatedAt.milliseconds, article.id])
        }
    }

    func deleteArticle(id: String) async throws {
        try await queue.write { try $0.execute(sql: "DELETE FROM article WHERE id = ?", arguments: [id]) }
    }
}

extension String {
    fileprivate var escapedForLike: String {
        replacing("\\", with: "\\\\").replacing("%", with: "\\%").replacing("_", with: "\\_")
    }
}
