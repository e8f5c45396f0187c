import Foundation
import GRDB

/// A stored refresh token. The database contains its hash, never its text.
struct RefreshTokenRecord: Sendable {
    var familyID: String
    var userID: String
    var expiresAt: Timestamp
    /// The time at which it was used for a refresh; `nil` if it can still be used.
    var spentAt: Timestamp?
    var successor: Data?
    var isFamilyRevoked: Bool
}

extension RefreshTokenRecord: FetchableRecord {
    init(row: Row) {
        familyID = row["familyID"]
        userID = row["userID"]
        expiresAt = Timestamp(milliseconds: row["expiresAt"])
        spentAt = (row["spentAt"] as Int64?).map { Timestamp(milliseconds: $0) }
        successor = row["successor"]
        isFamilyRevoked = row["revokedAt"] != nil
    }
}

/// A refresh token to insert.
struct NewRefreshToken: Sendable {
    var hash: Data
    var expiresAt: Timestamp

    fileprivate func insert(into database: Database, familyID: String) throws {
        try database.execute(
            sql: "INSERT INTO refreshToken (hash, familyID, expiresAt) VALUES (?, ?, ?)",
            arguments: [hash, familyID, expiresAt.milliseconds])
    }
}

extension Store {
    /// Creates a session: a family of refresh tokens with its first token.
    func insertFamily(id: String, userID: String, first: NewRefreshToken) async throws {
        try await queue.write { database in
            try database.execute(sql: "INSERT INTO family (id, userID) VALUES (?, ?)", arguments: [id, userID])
            try first.insert(into: database, familyID: id)
        }
    }

    func refreshToken(hash: Data) async throws -> RefreshTokenRecord? {
        try await queue.read { database in
            try RefreshTokenRecord.fetchOne(
                database,
                sql: """
                    SELECT refreshToken.*, family.userID, family.revokedAt
                    FROM refreshToken JOIN family ON family.id = refreshToken.familyID
                    WHERE hash = ?
                    """,
                arguments: [hash])
        }
    }

    /// Marks a token as used and inserts its successor in one transaction. Returns `false` if another request did so
    /// first or the family has been revoked.
    func rotate(_ hash: Data, familyID: String, to next: NewRefreshToken, sealed: Data, at now: Timestamp) async throws
        -> Bool
    {
        try await queue.write { database in
            try database.execute(
                sql: """
                    UPDATE refreshToken SET spentAt = :now, successor = :sealed
                    WHERE hash = :hash AND spentAt IS NULL
                        AND EXISTS (SELECT 1 FROM family WHERE id = :family AND revokedAt IS NULL)
                    """,
                arguments: ["now": now.milliseconds, "sealed": sealed, "hash": hash, "family": familyID])
            guard database.changesCount == 1 else { return false }
            try next.insert(into: database, familyID: familyID)
            return true
        }
    }

    /// Revokes families. Returns the ids of those whose state changed.
    func revokeFamilies(_ scope: RevocationScope, refusingAccess: Bool, at now: Timestamp) async throws -> [String] {
        try await queue.write { database in
            let (condition, argument) = scope.condition
            var arguments: StatementArguments = ["now": now.milliseconds, "refuses": refusingAccess]
            if let argument { arguments = arguments &+ ["scope": argument] }
            return try String.fetchAll(
                database,
                sql: """
                    UPDATE family SET revokedAt = coalesce(revokedAt, :now), refusesAccess = max(refusesAccess, :refuses)
                    WHERE \(condition) AND (revokedAt IS NULL OR refusesAccess < :refuses)
                    RETURNING id
                    """,
                arguments: arguments)
        }
    }

    func familiesRefusingAccess() throws -> Set<String> {
        try queue.read { try String.fetchSet($0, sql: "SELECT id FROM family WHERE refusesAccess = 1") }
    }
}

/// The families that a revocation ends.
enum RevocationScope: Sendable {
    case family(String)
    case user(String)
    case allUsers

    fileprivate var condition: (sql: String, argument: String?) {
        switch self {
        case .family(let id): ("id = :scope", id)
        case .user(let id): ("userID = :scope", id)
        case .allUsers: ("1", nil)
        }
    }
}
