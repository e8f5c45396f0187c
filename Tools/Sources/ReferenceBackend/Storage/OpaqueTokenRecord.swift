import Foundation
import GRDB

/// The stored claims of an opaque access token.
struct OpaqueTokenRecord: Sendable {
    var userID: String
    var familyID: String
    var expiresAt: Timestamp
    var epoch: Int
}

extension OpaqueTokenRecord: FetchableRecord {
    init(row: Row) {
        userID = row["userID"]
        familyID = row["familyID"]
        expiresAt = Timestamp(milliseconds: row["expiresAt"])
        epoch = row["epoch"]
    }
}

extension Store {
    func insert(_ token: OpaqueTokenRecord, hash: Data) async throws {
        try await queue.write { database in
            try database.execute(
                sql: """
                    INSERT INTO opaqueToken (hash, userID, familyID, expiresAt, epoch) VALUES (?, ?, ?, ?, ?)
                    """,
                arguments: [hash, token.userID, token.familyID, token.expiresAt.milliseconds, token.epoch])
        }
    }

    func opaqueToken(hash: Data) async throws -> OpaqueTokenRecord? {
        try await queue.read {
            try OpaqueTokenRecord.fetchOne($0, sql: "SELECT * FROM opaqueToken WHERE hash = ?", arguments: [hash])
        }
    }
}
