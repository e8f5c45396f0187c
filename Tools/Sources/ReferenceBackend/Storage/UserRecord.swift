import Foundation
import GRDB

/// A guest or an account.
struct UserRecord: Sendable {
    var id: String
    var name: String
    var isGuest: Bool
    var email: String?
    var passwordHash: String?
    var imageKey: String?
    var createdAt: Timestamp

    func json(baseURL: String) -> JSONValue {
        [
            "id": .string(id), "name": .string(name), "isGuest": .bool(isGuest),
            "profileUrl": JSONValue(imageKey.map { "\(baseURL)/images/\($0)" }),
            "profileImageKey": JSONValue(imageKey),
        ]
    }
}

extension UserRecord: FetchableRecord {
    init(row: Row) {
        id = row["id"]
        name = row["name"]
        isGuest = row["isGuest"]
        email = row["email"]
        passwordHash = row["passwordHash"]
        imageKey = row["imageKey"]
        createdAt = Timestamp(milliseconds: row["createdAt"])
    }
}

extension Store {
    func insert(_ user: UserRecord, image: ImageRecord? = nil) async throws {
        try await queue.write { database in
            if let image { try image.insert(into: database) }
            try database.execute(
                sql: """
                    INSERT INTO user (id, name, isGuest, email, passwordHash, imageKey, createdAt)
                    VALUES (?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    user.id, user.name, user.isGuest, user.email, user.passwordHash, user.imageKey,
                    user.createdAt.milliseconds,
                ])
        }
    }

    func user(id: String) async throws -> UserRecord? {
        try await queue.read { try UserRecord.fetchOne($0, sql: "SELECT * FROM user WHERE id = ?", arguments: [id]) }
    }

    func user(email: String) async throws -> UserRecord? {
        try await queue.read {
            try UserRecord.fetchOne($0, sql: "SELECT * FROM user WHERE email = ?", arguments: [email])
        }
    }

    /// Converts a guest into an account with the same id. Returns `false` if the user is not a guest.
    func upgradeGuest(id: String, email: String, passwordHash: String, name: String?) async throws -> Bool {
        try await queue.write { database in
            try database.execute(
                sql: """
                    UPDATE user SET isGuest = 0, email = ?, passwordHash = ?, name = coalesce(?, name)
                    WHERE id = ? AND isGuest = 1
                    """,
                arguments: [email, passwordHash, name, id])
            return database.changesCount == 1
        }
    }
}

/// An uploaded picture.
struct ImageRecord: Sendable {
    var key: String
    var contentType: String
    var bytes: [UInt8]

    fileprivate func insert(into database: Database) throws {
        try database.execute(
            sql: "INSERT INTO image (key, contentType, bytes) VALUES (?, ?, ?)",
            arguments: [key, contentType, Data(bytes)])
    }
}

extension Store {
    func image(key: String) async throws -> ImageRecord? {
        try await queue.read { database in
            let row = try Row.fetchOne(database, sql: "SELECT * FROM image WHERE key = ?", arguments: [key])
            return row.map { row in
                let bytes: Data = row["bytes"]
                return ImageRecord(key: key, contentType: row["contentType"], bytes: Array(bytes))
            }
        }
    }
}
