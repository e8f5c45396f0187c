import GRDB

/// The database of a backend.
struct Store: Sendable {
    let queue: DatabaseQueue

    init(_ location: DatabaseLocation) throws {
        switch location {
        case .inMemory: queue = try DatabaseQueue()
        case .file(let path): queue = try DatabaseQueue(path: path)
        }
        try Self.migrator.migrate(queue)
    }

    func close() throws {
        try queue.close()
    }

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("first") { database in
            try database.execute(
                sql: """
                    CREATE TABLE meta (name TEXT PRIMARY KEY, value NOT NULL);
                    CREATE TABLE user (
                        id TEXT PRIMARY KEY, name TEXT NOT NULL, isGuest INTEGER NOT NULL, email TEXT UNIQUE,
                        passwordHash TEXT, imageKey TEXT, createdAt INTEGER NOT NULL
                    );
                    CREATE TABLE image (key TEXT PRIMARY KEY, contentType TEXT NOT NULL, bytes BLOB NOT NULL);
                    CREATE TABLE family (
                        id TEXT PRIMARY KEY, userID TEXT NOT NULL REFERENCES user (id),
                        revokedAt INTEGER, refusesAccess INTEGER NOT NULL DEFAULT 0
                    );
                    CREATE INDEX familyOfUser ON family (userID);
                    CREATE TABLE refreshToken (
                        hash BLOB PRIMARY KEY, familyID TEXT NOT NULL REFERENCES family (id),
                        expiresAt INTEGER NOT NULL, spentAt INTEGER, successor BLOB
                    );
                    CREATE TABLE opaqueToken (
                        hash BLOB PRIMARY KEY, userID TEXT NOT NULL, familyID TEXT NOT NULL,
                        expiresAt INTEGER NOT NULL, epoch INTEGER NOT NULL
                    );
                    CREATE TABLE article (
                        number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
                        authorID TEXT NOT NULL REFERENCES user (id), title TEXT NOT NULL, body TEXT NOT NULL,
                        createdAt INTEGER NOT NULL, updatedAt INTEGER NOT NULL
                    );
                    """)
        }
        return migrator
    }
}
