internal import Foundation
internal import Martlet
internal import MartletTesting

/// A store under test: its writer is killed while it writes.
enum StoreUnderTest: Int, CaseIterable, Sendable {
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
        case .plain: AnyTokenStore.file(path: path(in: folder))
        case .encrypted:
            AnyTokenStore.encryptedFile(
                path: path(in: folder), key: .file(path: folder + "/key", createIfMissing: true))
        }
    }

    /// A record whose whole content derives from the rotation, so that a mix of two records is detected.
    static func record(_ rotation: Int) -> StoredSession {
        func secret(_ name: String) -> Secret { Secret(String(repeating: "\(name)-\(rotation).", count: 400)) }
        return StoredSession(
            storing: Tokens(accessToken: secret("access"), refreshToken: secret("refresh")),
            id: SessionID(rawValue: "killed"), rotation: rotation, at: Date())
    }

    /// Writes record after record and reports each stored one, until this process is killed.
    func write(in folder: String, inPlace: Bool) async throws {
        let store: any TokenStore = inPlace ? InPlaceStore(path: path(in: folder)) : store(in: folder)
        while true {
            let before = try await store.update { reading in
                switch reading {
                case .found(let record): .write(Self.record(record.stamp.rotation + 1))
                case .empty, .ended: .write(Self.record(1))
                case .unavailable: .keep
                }
            }
            switch before {
            case .found(let record): Report(store: self, rotation: record.stamp.rotation + 1).send()
            case .empty, .ended: Report(store: self, rotation: 1).send()
            case .unavailable(let failure): throw failure
            }
        }
    }

    /// A line of a writer's output: "this record is stored".
    struct Report {
        let store: StoreUnderTest
        let rotation: Int

        init(store: StoreUnderTest, rotation: Int) {
            self.store = store
            self.rotation = rotation
        }

        init?(line: some StringProtocol) {
            let parts = line.split(separator: " ").map { Int($0) }
            guard parts.count == 2, let number = parts[0], let rotation = parts[1],
                let store = StoreUnderTest(rawValue: number)
            else { return nil }
            self.init(store: store, rotation: rotation)
        }

        /// Writes the line with one call, so that it arrives whole. Exits if the reader has closed the pipe.
        func send() {
            let line = Array("\(store.rawValue) \(rotation)\n".utf8)
            if Foundation.write(STDOUT_FILENO, line, line.count) != line.count { _exit(0) }
        }
    }
}

/// A deliberately unsafe store that overwrites its record in place, in two halves. It pauses between them, so that on
/// any machine some kills hit a write.
private struct InPlaceStore: TokenStore {
    let path: String

    func read() async -> StoreReading {
        guard let bytes = FileManager.default.contents(atPath: path) else { return .empty }
        do {
            return .found(try StoredSession(encoded: bytes))
        } catch {
            return .unavailable(error)
        }
    }

    func write(_ session: StoredSession) async throws {
        let bytes = try session.encoded()
        try bytes.prefix(bytes.count / 2).write(to: URL(filePath: path))
        chmod(path, 0o600)
        try await Task.sleep(for: .milliseconds(1))
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        try file.seekToEnd()
        try file.write(contentsOf: bytes.dropFirst(bytes.count / 2))
        try file.close()
    }

    func delete() async throws {
        try FileManager.default.removeItem(atPath: path)
    }
}
