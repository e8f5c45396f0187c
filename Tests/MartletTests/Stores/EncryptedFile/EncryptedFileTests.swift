#if Encryption
    import Foundation
    import MartletTesting
    import MartletTestSupport
    import Testing

    @testable import Martlet

    @Suite("The encrypted token file", .noBlockingCalls, .timeLimit(.minutes(10))) struct EncryptedFileTests {
        @Test("the file shows no token, is readable by its owner only, and changes with every write")
        func nothingShows() async throws {
            try await TemporaryFolder.with { folder in
                let store: some TokenStore = .encryptedFile(path: folder.path + "/session", key: .number(1))
                let session = StoredSession(
                    id: SessionID(), tokens: .fresh(), account: SessionAccount(userID: "ada"))
                var files: Set<Data> = []
                for _ in 0..<20 {
                    try await store.write(session)
                    files.insert(try Data(contentsOf: URL(filePath: folder.path + "/session")))
                }
                #expect(files.count == 20)
                #expect(Set(files.map { $0.prefix(48) }).count == 1, "the salt is kept")
                #expect(Set(files.map { $0[48..<60] }).count == 20, "the nonce changes")
                let secrets = ["access-0", "refresh-0", "ada", session.id.rawValue, "version"]
                for file in files {
                    for secret in secrets { #expect(file.range(of: Data(secret.utf8)) == nil, "\(secret)") }
                }
                var status = stat()
                stat(folder.path + "/session", &status)
                #expect(status.st_mode & 0o777 == 0o600)
            }
        }

        @Test("the error tells a wrong key or passphrase from a damaged file")
        func wrongKey() async throws {
            try await TemporaryFolder.with { folder in
                let path = folder.path + "/session"
                let session = StoredSession(id: SessionID(), tokens: .fresh())
                try await AnyTokenStore.encryptedFile(path: path, key: .number(1)).write(session)
                #expect(await words(path, .number(2)).contains("sealed with another key or passphrase"))
                #expect(await words(path, .words("secret")).contains("not with the passphrase"))
                try await AnyTokenStore.encryptedFile(path: path, key: .words("secret")).write(session)
                #expect(await words(path, .words("Secret")).contains("sealed with another key or passphrase"))
                #expect(await words(path, .number(1)).contains("sealed with a passphrase"))
                #expect(await AnyTokenStore.encryptedFile(path: path, key: .words("secret")).read() == .found(session))
            }
        }

        @Test("a file of a newer version is kept, and a plain file is not taken for an encrypted one")
        func otherFiles() async throws {
            try await TemporaryFolder.with { folder in
                let path = folder.path + "/session"
                let session = StoredSession(id: SessionID(), tokens: .fresh())
                let store = AnyTokenStore.encryptedFile(path: path, key: .number(1))
                try await store.write(session)
                try overwrite(path, try Data(contentsOf: URL(filePath: path)).withHeader { $0[8] = 2 })
                #expect(await failure(path, .number(1))?.kind == .tooNew)

                try await FileTokenStore(path: path).write(session)
                let plain = await failure(path, .number(1))
                #expect(plain?.kind == .corrupt && plain?.description.contains("not encrypted") == true)
                if case .found(let found) = await FileTokenStore(path: path).read() { try await store.write(found) }
                #expect(await store.read() == .found(session))
                guard case .unavailable = await FileTokenStore(path: path).read() else {
                    Issue.record("the file is still readable as plain text")
                    return
                }
            }
        }

        @Test("the salt is kept across processes, so that the key need not be derived again")
        func salt() async throws {
            try await TemporaryFolder.with { folder in
                let path = folder.path + "/session"
                let session = StoredSession(id: SessionID(), tokens: .fresh())
                var salts: Set<Data> = []
                for _ in 0..<3 {
                    try await AnyTokenStore.encryptedFile(path: path, key: .words("secret")).write(session)
                    salts.insert(try Data(contentsOf: URL(filePath: path))[16..<32])
                }
                #expect(salts.count == 1)
                let other = folder.path + "/other"
                try await AnyTokenStore.encryptedFile(path: other, key: .words("secret")).write(session)
                #expect(!salts.contains(try Data(contentsOf: URL(filePath: other))[16..<32]))
            }
        }

        @Test("a file with permissions for other users is rejected") func unsafePermissions() async throws {
            try await TemporaryFolder.with { folder in
                let path = folder.path + "/session"
                let session = StoredSession(id: SessionID(), tokens: .fresh())
                try await AnyTokenStore.encryptedFile(path: path, key: .number(1)).write(session)
                chmod(path, 0o644)
                #expect(await failure(path, .number(1))?.kind == .unsafePermissions)
            }
        }

        @Test("200 concurrent updates in many stores are all applied") func updates() async throws {
            try await TemporaryFolder.with { folder in
                let path = folder.path + "/session"
                func store(_ number: Int) -> AnyTokenStore {
                    AnyTokenStore.encryptedFile(path: path, key: number.isMultiple(of: 2) ? shared : .words("secret"))
                }
                let shared = EncryptionKey.words("secret")
                try await store(0).write(StoredSession(id: SessionID(), tokens: .fresh()))
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<10 {
                        let store = store(number)
                        group.addTask {
                            for _ in 0..<20 {
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
                guard case .found(let record) = await store(0).read() else {
                    Issue.record("the record was deleted")
                    return
                }
                #expect(record.rotation == 200)
                #expect(
                    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == [
                        "session", "session.lock",
                    ])
            }
        }

        #if os(macOS) || os(Linux)
            @Test("two processes with the same passphrase share the file") func processes() async throws {
                try await TemporaryFolder.with { folder in
                    let path = folder.path + "/session"
                    async let other = #expect(processExitsWith: .success) { [path = path as String] in
                        try await EncryptedFileTests.rotate(path, times: 50)
                    }
                    try await Self.rotate(path, times: 50)
                    _ = await other
                    guard
                        case .found(let record) = await AnyTokenStore.encryptedFile(path: path, key: .words("s")).read()
                    else {
                        Issue.record("the record was deleted")
                        return
                    }
                    #expect(record.rotation == 100)
                }
            }

            private static func rotate(_ path: String, times: Int) async throws {
                let store = AnyTokenStore.encryptedFile(path: path, key: .words("s"))
                for _ in 0..<times {
                    try await store.update { reading in
                        switch reading {
                        case .found(var record):
                            record.rotation += 1
                            return .write(record)
                        case .empty, .ended:
                            return .write(StoredSession(id: SessionID(), rotation: 1, tokens: .fresh()))
                        case .unavailable: return .keep
                        }
                    }
                }
            }
        #endif

        @Test("changes are reported, and there is a lock for refreshes") func changes() async throws {
            try await TemporaryFolder.with { folder in
                let store = AnyTokenStore.encryptedFile(path: folder.path + "/session", key: .number(1))
                var changes = try #require(store.changes()).makeAsyncIterator()
                #expect(await store.read().isEmpty)
                let other = AnyTokenStore.encryptedFile(path: folder.path + "/session", key: .number(1))
                try await other.write(StoredSession(id: SessionID(), tokens: .fresh()))
                #expect(await changes.next() != nil)
                let held = try await store.refreshLock?.acquire(lease: .seconds(45))
                #expect(await held?.isStillHeld() == true)
                held?.release()
            }
        }

        @Test("the file can be deleted without its key") func deletion() async throws {
            try await TemporaryFolder.with { folder in
                let path = folder.path + "/session"
                try await AnyTokenStore.encryptedFile(path: path, key: .number(1))
                    .write(StoredSession(id: SessionID(), tokens: .fresh()))
                try await AnyTokenStore.encryptedFile(path: path, key: .file(path: folder.path + "/none")).delete()
                #expect(!FileManager.default.fileExists(atPath: path))
            }
        }

        private func failure(_ path: String, _ key: EncryptionKey) async -> StorageError? {
            guard case .unavailable(let failure) = await AnyTokenStore.encryptedFile(path: path, key: key).read() else {
                return nil
            }
            return failure
        }

        private func words(_ path: String, _ key: EncryptionKey) async -> String {
            let failure = await failure(path, key)
            #expect(failure?.kind == .corrupt)
            return failure?.description ?? ""
        }

        private func overwrite(_ path: String, _ bytes: Data) throws {
            try bytes.write(to: URL(filePath: path))
            chmod(path, 0o600)
        }
    }
#endif
