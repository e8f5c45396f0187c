import GRDB

extension Store {
    /// The ES256 key that access tokens are signed with. The first call creates it.
    func signingKeyPEM(makingIfAbsent makeKey: () -> String) throws -> String {
        try queue.write { database in
            if let key = try String.fetchOne(database, sql: "SELECT value FROM meta WHERE name = 'signingKey'") {
                return key
            }
            let key = makeKey()
            try database.execute(sql: "INSERT INTO meta (name, value) VALUES ('signingKey', ?)", arguments: [key])
            return key
        }
    }

    /// The current epoch. Access tokens of earlier epochs count as expired.
    func epoch() throws -> Int {
        try queue.read { database in
            try Int.fetchOne(database, sql: "SELECT value FROM meta WHERE name = 'epoch'") ?? 0
        }
    }

    func setEpoch(_ epoch: Int) async throws {
        try await queue.write { database in
            try database.execute(
                sql: "INSERT INTO meta (name, value) VALUES ('epoch', :epoch) ON CONFLICT DO UPDATE SET value = :epoch",
                arguments: ["epoch": epoch])
        }
    }
}
