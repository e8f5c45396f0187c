import Foundation
import MartletTestSupport
import MartletTesting
import Testing

@testable import Martlet
@testable import MartletStorage

@Suite("Every token store", .noBlockingCalls, .timeLimit(.minutes(10))) struct TokenStoreTests {
    @Test(
        "the store fulfills the contract", arguments: StoreKind.allCases) func contract(kind: StoreKind) async throws
    {
        try await TemporaryFolder.with { folder in
            let contract = kind.contract(in: folder.path)
            try await contract.verify()
            kind.removeTraces(of: folder.path)
        }
    }
}

@Suite("The token file", .noBlockingCalls, .timeLimit(.minutes(10))) struct FileTokenStoreTests {
    @Test("only the owner can access the file and the folders created for it") func permissions() async throws {
        try await TemporaryFolder.with { folder in
            let store = FileTokenStore(path: folder.path + "/deep/er/session.json")
            try await store.write(StoredSession(id: SessionID(), tokens: .fresh()))
            #expect(mode(of: folder.path + "/deep/er/session.json") == 0o600)
            #expect(mode(of: folder.path + "/deep/er") == 0o700)
            #expect(mode(of: folder.path + "/deep") == 0o700)
            #expect(names(in: folder.path + "/deep/er") == ["session.json", "session.json.lock"])
        }
    }

    @Test("a path that only a shell understands is refused, and creates no folder with that name") func tilde() async {
        let store: AnyTokenStore = .file(path: "~/martlet-test/session.json")
        let record = StoredSession(id: SessionID(), tokens: .fresh())
        guard case .unavailable(let failure) = await store.read() else {
            Issue.record("the path was read")
            return
        }
        #expect(failure.description.contains("begins with ~/"))
        await #expect(throws: StorageError.self) { try await store.write(record) }
        #expect(!FileManager.default.fileExists(atPath: "~"))
    }

    @Test("a file with permissions for other users is rejected", arguments: [0o640, 0o604, 0o666] as [mode_t])
    func unsafePermissions(mode: mode_t) async throws {
        try await TemporaryFolder.with { folder in
            let store = FileTokenStore(path: folder.path + "/session.json")
            try await store.write(StoredSession(id: SessionID(), tokens: .fresh()))
            chmod(store.path, mode)
            guard case .unavailable(let failure) = await store.read() else {
                Issue.record("the unsafe file was read")
                return
            }
            #expect(failure.kind == .unsafePermissions)
            #expect(failure.description.contains("chmod 600"))
        }
    }

    @Test(
        "a file that cannot be decoded is unavailable and stays unchanged",
        arguments: [
            ("", StorageError.Kind.corrupt), ("{", .corrupt), (#"{"version":1}"#, .corrupt), ("MARTLET\0x", .corrupt),
            (#"{"version":99,"session":{}}"#, .tooNew),
            (#"{"version":"2.1","session":{"id":7},"rotation":90}"#, .foreign),
            (String(repeating: "x", count: 2 << 20), .foreign),
        ])
    func unreadable(content: String, kind: StorageError.Kind) async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/session.json"
            try Data(content.utf8).write(to: URL(filePath: path))
            chmod(path, 0o600)
            guard case .unavailable(let failure) = await FileTokenStore(path: path).read() else {
                Issue.record("the invalid file was read as a session")
                return
            }
            #expect(failure.kind == kind)
            #expect(try Data(contentsOf: URL(filePath: path)) == Data(content.utf8))
        }
    }

    @Test("a damaged byte does not make the record another program's") func damagedByte() throws {
        let bytes = try StoredSession(id: SessionID(), tokens: .fresh()).encoded()
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] ^= 0x01
            do throws(StorageError) {
                _ = try StoredSession(encoded: damaged)
            } catch {
                #expect(error.kind != .foreign, "byte \(index)")
            }
        }
    }

    @Test("a path with the character NUL is refused, and the file at the part before it stays as it is")
    func nul() async throws {
        try await TemporaryFolder.with { folder in
            try folder.file("notes", Data("mine".utf8))
            let app = App(store: FileTokenStore(path: folder.path + "/notes\u{0}.json"))
            #expect(try await app.tokens.signIn(with: app.backend.issue()).saveFailure?.kind == .unreachable)
            await app.tokens.signOut()
            #expect(FileManager.default.contents(atPath: folder.path + "/notes") == Data("mine".utf8))
            #expect(folder.names == ["notes"])
        }
    }

    @Test("links and folders are rejected") func notAFile() async throws {
        try await TemporaryFolder.with { folder in
            let real = FileTokenStore(path: folder.path + "/real.json")
            try await real.write(StoredSession(id: SessionID(), tokens: .fresh()))
            symlink(folder.path + "/real.json", folder.path + "/link.json")
            mkdir(folder.path + "/folder.json", 0o700)
            for name in ["link.json", "folder.json"] {
                guard case .unavailable(let failure) = await FileTokenStore(path: folder.path + "/" + name).read()
                else {
                    Issue.record("\(name) was read as a token file")
                    continue
                }
                #expect(failure.kind == .foreign)
            }
            // A sign-in and a sign-out leave the link as it is.
            let app = App(store: FileTokenStore(path: folder.path + "/link.json"))
            #expect(try await app.tokens.signIn(with: app.backend.issue()).saveFailure?.kind == .foreign)
            await app.tokens.signOut()
            #expect(
                try FileManager.default.destinationOfSymbolicLink(atPath: folder.path + "/link.json").hasSuffix(
                    "real.json"))
            guard case .found = await real.read() else {
                Issue.record("the linked file was changed")
                return
            }
        }
    }

    #if !os(Linux) || URLSession || !AsyncHTTPClient
        @Test("a value of UserDefaults that is no session is neither replaced nor deleted") func foreignDefault()
            async throws
        {
            let suite = "martlet.foreign.\(UUID().uuidString)"
            let defaults = try #require(UserDefaults(suiteName: suite))
            defer { defaults.removePersistentDomain(forName: suite) }
            defaults.set(["theme": "dark"], forKey: "session")
            let app = App(store: UserDefaultsTokenStore(key: "session", suiteName: suite))
            #expect(try await app.tokens.signIn(with: app.backend.issue()).saveFailure?.kind == .foreign)
            await app.tokens.signOut()
            #expect(UserDefaults(suiteName: suite)?.dictionary(forKey: "session")?["theme"] as? String == "dark")
        }
    #endif

    @Test("a file that cannot be written is an error that names its path") func unwritable() async throws {
        let store = FileTokenStore(path: "/proc/martlet/session.json")
        let failure = await #expect(throws: StorageError.self) {
            try await store.write(StoredSession(id: SessionID(), tokens: .fresh()))
        }
        #expect(failure?.kind == .unreachable)
        #expect(failure?.description.contains("/proc/martlet/session.json") == true)
    }

    @Test("concurrent writes never leave a torn file") func concurrentWriters() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/session.json"
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<50 {
                    group.addTask {
                        let store = FileTokenStore(path: path)
                        try? await store.write(StoredSession(id: SessionID(), tokens: .fresh(number)))
                        if case .unavailable(let failure) = await store.read() { Issue.record("\(failure)") }
                    }
                }
            }
            #expect(names(in: folder.path) == ["session.json", "session.json.lock"])
        }
    }

    @Test("concurrent updates in separate stores are all applied") func updates() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/session.json"
            try await FileTokenStore(path: path).write(StoredSession(id: SessionID(), tokens: .fresh()))
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
                Issue.record("the record was deleted")
                return
            }
            #expect(record.rotation == 100)
        }
    }

    @Test("a missing file is not created, nor its folder, until a record is written") func nothingThere()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let store = FileTokenStore(path: folder.path + "/none/session.json")
            try await store.delete()
            #expect(try await store.update { _ in .keep } == .empty)
            #expect(names(in: folder.path).isEmpty)
        }
    }

    @Test("deleting the file removes temporary files of killed writers") func leftovers() async throws {
        try await TemporaryFolder.with { folder in
            let store = FileTokenStore(path: folder.path + "/session.json")
            try await store.write(StoredSession(id: SessionID(), tokens: .fresh()))
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

@Suite("Watching the token file", .serialized, .noBlockingCalls, .timeLimit(.minutes(10))) struct FileChangesTests {
    @Test("replacing, deleting and moving the file is reported") func changes() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/deep/session.json"
            let store = FileTokenStore(path: path)
            var changes = try #require(store.changes()).makeAsyncIterator()
            #expect(await store.read().isEmpty)
            let other = FileTokenStore(path: path)
            try await other.write(StoredSession(id: SessionID(), tokens: .fresh()))
            #expect(await changes.next() != nil)
            try await other.delete()
            #expect(await changes.next() != nil)
            try await other.write(StoredSession(id: SessionID(), tokens: .fresh()))
            #expect(await changes.next() != nil)
            try FileManager.default.moveItem(atPath: path, toPath: folder.path + "/elsewhere.json")
            #expect(await changes.next() != nil)
        }
    }

    @Test("a file that cannot be watched is polled, and an event says why") func exhausted() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/session.json"
            let exhausted = StorageError(.unreachable, "no space left on device")
            let store = FileTokenStore(
                path: path, watcher: { (_, _, _, _) throws(StorageError) -> FolderWatch in throw exhausted })
            let app = App(store: store)
            let events = app.tokens.events
            try await app.tokens.signIn(with: app.backend.issue())
            #expect(await events.first { $0 == .storeWatchFailed(exhausted) } != nil)
            let other = App(app.backend, store: FileTokenStore(path: path))
            try await other.tokens.refresh()
            let stamp = try #require(other.tokens.freshCredential(for: other.tokens.currentOwner)?.stamp)
            await store.queue.run { store.watchedFile?.poll() }
            #expect(await events.first { $0 == .adopted(stamp) } != nil)
        }
    }

    @Test("a record that came and went between two polls of an unwatched file is reported")
    func betweenLooks() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/session.json"
            // The clock of the file system may stand still between two steps of a test.
            try FileManager.default.setAttributes([.modificationDate: Date.distantPast], ofItemAtPath: folder.path)
            let store = FileTokenStore(
                path: path,
                watcher: { (_, _, _, _) throws(StorageError) -> FolderWatch in
                    throw StorageError(.unreachable, "no space left on device")
                })
            var changes = try #require(store.changes()).makeAsyncIterator()
            #expect(await store.read().isEmpty)
            let other = FileTokenStore(path: path)
            try await other.write(StoredSession(id: SessionID(), tokens: .fresh()))
            try await other.delete()
            await store.queue.run { store.watchedFile?.poll() }
            #expect(await changes.next() != nil)
        }
    }

    @Test("a store whose folder was removed or moved follows the record in the next folder", arguments: [true, false])
    func nextFolder(isRemoved: Bool) async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/app/session.json"
            let store = FileTokenStore(path: path)
            var changes = try #require(store.changes()).makeAsyncIterator()
            let other = FileTokenStore(path: path)
            try await other.write(StoredSession(id: SessionID(), tokens: .fresh(1)))
            await store.watchedFile?.watchBegun()
            if isRemoved {
                try FileManager.default.removeItem(atPath: folder.path + "/app")
            } else {
                try FileManager.default.moveItem(atPath: folder.path + "/app", toPath: folder.path + "/former")
            }
            while await store.read() != .empty { _ = await changes.next() }
            // Nothing creates the folder again, until a record is written.
            #expect(!folder.names.contains("app"))
            let next = StoredSession(id: SessionID(), tokens: .fresh(2))
            try await other.write(next)
            await store.queue.run { store.watchedFile?.poll() }
            while await store.read() != .found(next) { _ = await changes.next() }
            try await other.delete()
            while await store.read() != .empty { _ = await changes.next() }
        }
    }

    @Test("a change before the watch began is reported, even if another reader of the store has begun it")
    func watchBegunByAnother() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/session.json"
            let isExhausted = Locked(true)
            let store = FileTokenStore(
                path: path,
                watcher: { (folder, names, report, reportEnd) throws(StorageError) -> FolderWatch in
                    if isExhausted.withLock({ $0 }) { throw StorageError(.unreachable, "too many open files") }
                    return try FolderWatch(folder, reportChangesOf: names, to: report, reportEnd: reportEnd)
                })
            var changes = try #require(store.changes()).makeAsyncIterator()
            #expect(await store.read().isEmpty)
            try await FileTokenStore(path: path).write(StoredSession(id: SessionID(), tokens: .fresh()))
            isExhausted.withLock { $0 = false }
            _ = await store.read()
            #expect(await changes.next() != nil)
        }
    }

    @Test("a store that cannot be watched says so once, and again after a watch that began") func failures()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let isExhausted = Locked(true)
            let exhausted = StorageError(.unreachable, "no space left on device")
            let store = FileTokenStore(
                path: folder.path + "/session.json",
                watcher: { (folder, names, report, reportEnd) throws(StorageError) -> FolderWatch in
                    if isExhausted.withLock({ $0 }) { throw exhausted }
                    return try FolderWatch(folder, reportChangesOf: names, to: report, reportEnd: reportEnd)
                })
            let seen = Locked<[StorageError]>([])
            let first = store.changes()
            _ = await store.read()
            store.watchedFile?.onFailure { failure in seen.withLock { $0.append(failure) } }
            let seenByOther = Locked(0)
            store.watchedFile?.onFailure { _ in seenByOther.withLock { $0 += 1 } }
            _ = await store.read()
            #expect(seen.withLock { $0 } == [exhausted])
            isExhausted.withLock { $0 = false }
            _ = await store.read()
            isExhausted.withLock { $0 = true }
            let second = store.changes()
            _ = await store.read()
            #expect(seen.withLock { $0 } == [exhausted, exhausted])
            #expect(seenByOther.withLock { $0 } == 2)
            withExtendedLifetime((first, second)) {}
        }
    }

    @Test("a watch ends with its listener, so that the system's limit is not reached") func ends()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let store = FileTokenStore(path: folder.path + "/session.json")
            let other = FileTokenStore(path: folder.path + "/session.json")
            // A process on macOS may have 256 open files by default. A released watch is closed a little later.
            for _ in 0..<300 {
                let changes = try #require(store.changes())
                let hasReported = Locked(false)
                let listener = Task {
                    for await _ in changes { break }
                    hasReported.withLock { $0 = true }
                }
                // Each operation tries again to begin a watch that the system did not allow before.
                while !hasReported.withLock({ $0 }) {
                    _ = await store.read()
                    try await other.write(StoredSession(id: SessionID(), tokens: .fresh()))
                }
                await listener.value
            }
        }
    }
}

/// The token stores that run the same tests.
enum StoreKind: CaseIterable, Sendable {
    case inMemory, file, secure, keychain, platform
    #if !os(Linux) || URLSession || !AsyncHTTPClient
        case userDefaults
    #endif
    #if Encryption
        case encryptedFile
    #endif

    func contract(in folder: String) -> TokenStoreContract {
        switch self {
        case .inMemory:
            let store = InMemoryTokenStore()
            return TokenStoreContract { store }
        case .file:
            let path = folder + "/session.json"
            return TokenStoreContract {
                FileTokenStore(path: path)
            } replacingBytes: { bytes in
                try await BlockingQueue.run { _ = try PrivateFile(path: path).replace(with: bytes, if: { true }) }
            }
        case .secure:
            let storage = InMemoryStorage()
            return TokenStoreContract {
                SecureTokenStore(storage: storage, key: "a key/of mine", folder: folder)
            } replacingBytes: { bytes in
                await storage.save(bytes, for: "a key/of mine")
            }
        case .keychain:
            let app = KeychainApp(keychain: FakeKeychain(), folder: folder)
            return TokenStoreContract {
                app.store()
            } replacingBytes: { bytes in
                try await app.storage().save(bytes, for: "session")
            }
        case .platform:
            let open: @Sendable () -> PlatformStorage = { .withoutKeyring(in: folder) }
            return TokenStoreContract {
                SecureTokenStore(storage: open(), key: "session", folder: folder)
            } replacingBytes: { bytes in
                try await open().save(bytes, for: "session")
            }
        #if !os(Linux) || URLSession || !AsyncHTTPClient
            case .userDefaults:
                let suite = Self.suite(of: folder)
                return TokenStoreContract {
                    UserDefaultsTokenStore(suiteName: suite)
                } replacingBytes: { bytes in
                    UserDefaults(suiteName: suite)?.set(bytes, forKey: "martlet.session")
                }
        #endif
        #if Encryption
            case .encryptedFile:
                return TokenStoreContract {
                    AnyTokenStore.encryptedFile(
                        path: folder + "/session.sealed", key: .file(path: folder + "/key", createIfMissing: true))
                }
        #endif
        }
    }

    func removeTraces(of folder: String) {
        #if !os(Linux) || URLSession || !AsyncHTTPClient
            let suite = Self.suite(of: folder)
            UserDefaults(suiteName: suite)?.removePersistentDomain(forName: suite)
        #endif
    }

    private static func suite(of folder: String) -> String { "martlet." + folder.split(separator: "/").joined() }
}

extension PlatformStorage {
    /// A platform storage on a system without a keyring.
    static func withoutKeyring(in folder: String) -> PlatformStorage {
        PlatformStorage(
            candidates: [
                Candidate(
                    kind: .secretService, storage: InMemoryStorage(),
                    obstacle: { StorageError(.unreachable, "there is no session bus") }),
                Candidate(kind: .files, storage: FileStorage(folder: folder + "/secrets"), obstacle: { nil }),
            ], folder: folder)
    }
}
