internal import Foundation
internal import Martlet

/// The stores whose writer is killed.
enum KilledStore: Int, CaseIterable, Sendable {
    case plain
    case encrypted

    var name: String {
        switch self {
        case .plain: "FileTokenStore"
        case .encrypted: "EncryptedFileTokenStore"
        }
    }

    func path(in folder: String) -> String { "\(folder)/session.\(rawValue)" }

    func store(in folder: String) -> any TokenStore {
        switch self {
        case .plain: FileTokenStore(path: path(in: folder))
        case .encrypted:
            EncryptedFileTokenStore(
                path: path(in: folder), key: .file(path: folder + "/key", createIfMissing: true))
        }
    }

    /// Everything in the record follows from its rotation, so that none can be put together from two.
    static func record(_ rotation: Int) -> StoredSession {
        func secret(_ name: String) -> Secret { Secret(String(repeating: "\(name)-\(rotation).", count: 400)) }
        return StoredSession(
            id: SessionID(rawValue: "killed"), rotation: rotation,
            bundle: TokenBundle(accessToken: secret("access"), refreshToken: secret("refresh")))
    }

    /// Writes the next record again and again, and says each time that it is stored, until somebody ends this process.
    func write(in folder: String, inPlace: Bool) async throws {
        let store: any TokenStore = inPlace ? InPlaceStore(path: path(in: folder)) : store(in: folder)
        while true {
            let before = try await store.update { reading in
                switch reading {
                case .found(let record): .write(Self.record(record.rotation + 1))
                case .empty: .write(Self.record(1))
                case .unavailable: .keep
                }
            }
            switch before {
            case .found(let record): Report(store: self, rotation: record.rotation + 1).send()
            case .empty: Report(store: self, rotation: 1).send()
            case .unavailable(let failure): throw failure
            }
        }
    }

    /// What a writer says: that this record is stored.
    struct Report {
        let store: KilledStore
        let rotation: Int

        init(store: KilledStore, rotation: Int) {
            self.store = store
            self.rotation = rotation
        }

        init?(line: some StringProtocol) {
            let parts = line.split(separator: " ").map { Int($0) }
            guard parts.count == 2, let number = parts[0], let rotation = parts[1],
                let store = KilledStore(rawValue: number)
            else { return nil }
            self.init(store: store, rotation: rotation)
        }

        /// Puts it into the pipe in one piece. Once nobody reads there is nothing left to do.
        func send() {
            let line = Array("\(store.rawValue) \(rotation)\n".utf8)
            if Foundation.write(STDOUT_FILENO, line, line.count) != line.count { _exit(0) }
        }
    }
}

/// What a store must not do: it overwrites its record.
private struct InPlaceStore: TokenStore {
    let path: String

    func read() async -> StoreReading {
        guard let bytes = FileManager.default.contents(atPath: path) else { return .empty }
        do {
            return .found(try StoredSessionCodec.decode(bytes))
        } catch {
            return .unavailable(error)
        }
    }

    func write(_ session: StoredSession) async throws {
        try StoredSessionCodec.encode(session).write(to: URL(filePath: path))
        chmod(path, 0o600)
    }

    func delete() async throws {
        try FileManager.default.removeItem(atPath: path)
    }
}
