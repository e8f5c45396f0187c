import Foundation
import Martlet
import MartletTesting
import Testing

@Suite("Every token store") struct TokenStoreTests {
    @Test("has what was written last, until it is deleted", arguments: StoreKind.allCases)
    func contract(kind: StoreKind) async throws {
        try await TemporaryFolder.with { folder in
            let store = kind.make(in: folder.path)
            #expect(await store.read() == .empty)
            try await store.delete()
            var record = StoredSession(
                id: SessionID(), bundle: .fresh(1), freshUntil: Date(timeIntervalSince1970: 1_790_000_000.25),
                lifetime: .seconds(3600), account: SessionAccount(userID: "7", isGuest: true),
                journal: RefreshJournal(startedAt: Date(timeIntervalSince1970: 1_790_000_000), fingerprint: "f"))
            try await store.write(record)
            #expect(await store.read() == .found(record))
            record.rotation = 1
            record.bundle = .fresh(2)
            record.journal = nil
            try await store.write(record)
            #expect(await store.read() == .found(record))
            #expect(await kind.reopen(store, in: folder.path).read() == .found(record))
            try await store.delete()
            #expect(await store.read() == .empty)
        }
    }
}

@Suite("The token file") struct FileTokenStoreTests {
    @Test("is its user's alone, and so is the folder that it makes") func permissions() async throws {
        try await TemporaryFolder.with { folder in
            let store = FileTokenStore(path: folder.path + "/deep/er/session.json")
            try await store.write(StoredSession(id: SessionID(), bundle: .fresh()))
            #expect(mode(of: folder.path + "/deep/er/session.json") == 0o600)
            #expect(mode(of: folder.path + "/deep/er") == 0o700)
            #expect(mode(of: folder.path + "/deep") == 0o700)
            #expect(names(in: folder.path + "/deep/er") == ["session.json", "session.json.lock"])
        }
    }

    @Test("is not trusted when others could read it", arguments: [0o640, 0o604, 0o666] as [mode_t])
    func unsafePermissions(mode: mode_t) async throws {
        try await TemporaryFolder.with { folder in
            let store = FileTokenStore(path: folder.path + "/session.json")
            try await store.write(StoredSession(id: SessionID(), bundle: .fresh()))
            chmod(store.path, mode)
            guard case .unavailable(let failure) = await store.read() else {
                Issue.record("others could have read it")
                return
            }
            #expect(failure.kind == .unsafePermissions)
            #expect(failure.description.contains("chmod 600"))
        }
    }

    @Test(
        "is left as it is where it cannot be understood",
        arguments: [
            ("", StorageFailure.Kind.corrupt), ("{", .corrupt), (#"{"version":1}"#, .corrupt),
            (#"{"version":99,"session":{}}"#, .tooNew), (String(repeating: "x", count: 2 << 20), .corrupt),
        ])
    func unreadable(content: String, kind: StorageFailure.Kind) async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/session.json"
            try Data(content.utf8).write(to: URL(filePath: path))
            chmod(path, 0o600)
            guard case .unavailable(let failure) = await FileTokenStore(path: path).read() else {
                Issue.record("that is no session")
                return
            }
            #expect(failure.kind == kind)
            #expect(try Data(contentsOf: URL(filePath: path)) == Data(content.utf8))
        }
    }

    @Test("is not followed through a link, and is no folder") func notAFile() async throws {
        try await TemporaryFolder.with { folder in
            let real = FileTokenStore(path: folder.path + "/real.json")
            try await real.write(StoredSession(id: SessionID(), bundle: .fresh()))
            symlink(folder.path + "/real.json", folder.path + "/link.json")
            mkdir(folder.path + "/folder.json", 0o700)
            for name in ["link.json", "folder.json"] {
                guard case .unavailable = await FileTokenStore(path: folder.path + "/" + name).read() else {
                    Issue.record("\(name) is no token file")
                    continue
                }
            }
        }
    }

    @Test("that cannot be written is an error, and the old record stays") func unwritable() async throws {
        let store = FileTokenStore(path: "/proc/martlet/session.json")
        let failure = await #expect(throws: StorageFailure.self) {
            try await store.write(StoredSession(id: SessionID(), bundle: .fresh()))
        }
        #expect(failure?.kind == .unreachable)
        #expect(failure?.description.contains("/proc/martlet/session.json") == true)
    }

    @Test("is never torn, however many write") func concurrentWriters() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/session.json"
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<50 {
                    group.addTask {
                        let store = FileTokenStore(path: path)
                        try? await store.write(StoredSession(id: SessionID(), bundle: .fresh(number)))
                        if case .unavailable(let failure) = await store.read() { Issue.record("\(failure)") }
                    }
                }
            }
            #expect(names(in: folder.path) == ["session.json", "session.json.lock"])
        }
    }

    @Test("is changed by one at a time, in whatever process") func updates() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/session.json"
            try await FileTokenStore(path: path).write(StoredSession(id: SessionID(), bundle: .fresh()))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<10 {
                    group.addTask {
                        let store = FileTokenStore(path: path)
                        for _ in 0..<10 {
                            try await store.update { reading in
                                guard case .found(var record) = reading else { return .keep }
                                record.rotation += 1
                                return .write(record)
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            guard case .found(let record) = await FileTokenStore(path: path).read() else {
                Issue.record("the record is gone")
                return
            }
            #expect(record.rotation == 100)
        }
    }

    @Test("that is not there is left alone, folder and all, unless there is something to write") func nothingThere()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let store = FileTokenStore(path: folder.path + "/none/session.json")
            try await store.delete()
            #expect(try await store.update { _ in .keep } == .empty)
            #expect(names(in: folder.path).isEmpty)
        }
    }

    @Test("takes what a killed writer left behind with it when it goes") func leftovers() async throws {
        try await TemporaryFolder.with { folder in
            let store = FileTokenStore(path: folder.path + "/session.json")
            try await store.write(StoredSession(id: SessionID(), bundle: .fresh()))
            try Data("secret".utf8).write(to: URL(filePath: folder.path + "/.session.json.123.456.tmp"))
            try await store.delete()
            #expect(names(in: folder.path) == ["session.json.lock"])
        }
    }

    private func mode(of path: String) -> mode_t {
        var status = stat()
        stat(path, &status)
        return status.st_mode & 0o777
    }

    private func names(in folder: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder).sorted()) ?? []
    }
}

@Suite("Watching the token file", .serialized) struct FileChangesTests {
    @Test("says when another process has replaced or deleted it") func changes() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/deep/session.json"
            var changes = try #require(FileTokenStore(path: path).changes()).makeAsyncIterator()
            let other = FileTokenStore(path: path)
            try await other.write(StoredSession(id: SessionID(), bundle: .fresh()))
            #expect(await changes.next() != nil)
            try await other.delete()
            #expect(await changes.next() != nil)
            try await other.write(StoredSession(id: SessionID(), bundle: .fresh()))
            #expect(await changes.next() != nil)
            try FileManager.default.moveItem(atPath: path, toPath: folder.path + "/elsewhere.json")
            #expect(await changes.next() != nil)
        }
    }

    @Test("ends with the listener: more listeners than the system allows can come one after another") func ends()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let store = FileTokenStore(path: folder.path + "/session.json")
            // A user may have 128 watches by default, and one that has been given up is closed by and by.
            for _ in 0..<200 {
                while store.changes() == nil { await Task.yield() }
            }
        }
    }
}

enum StoreKind: CaseIterable, Sendable {
    case inMemory
    case file
    #if Encryption
        case encryptedFile
    #endif

    func make(in folder: String) -> any TokenStore {
        switch self {
        case .inMemory: InMemoryTokenStore()
        case .file: FileTokenStore(path: folder + "/session.json")
        #if Encryption
            case .encryptedFile:
                EncryptedFileTokenStore(
                    path: folder + "/session.sealed", key: .file(path: folder + "/key", createIfMissing: true))
        #endif
        }
    }

    func reopen(_ store: any TokenStore, in folder: String) -> any TokenStore {
        self == .inMemory ? store : make(in: folder)
    }
}
