#if Encryption
    import Foundation
    import MartletTesting
    import MartletTestSupport
    import Testing

    @testable import Martlet

    @testable import MartletStorage

    @Suite("The key of encrypted files", .noBlockingCalls, .timeLimit(.minutes(10))) struct EncryptionKeyTests {
        private static let bytes = Data((0..<32).map { UInt8(truncatingIfNeeded: $0 * 37 + 200) })

        @Test(
            "a key file holds 32 bytes, raw or as text",
            arguments: [
                bytes, Data(bytes.base64EncodedString().utf8), Data((bytes.base64EncodedString() + "\r\n").utf8),
                Data(bytes.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").dropLast().utf8),
                Data((hexadecimal(bytes) + "\n").utf8), Data(hexadecimal(bytes).uppercased().utf8),
            ])
        func formats(content: Data) throws {
            #expect(KeyText.key(in: content) == Self.bytes)
        }

        @Test(
            "any other content is not a key",
            arguments: [
                Data(), bytes.dropLast(), bytes + [0], Data(String(repeating: "a", count: 32).utf8),
                Data(hexadecimal(bytes).dropLast().utf8), Data(String(repeating: "g", count: 64).utf8),
                Data((String(repeating: "a", count: 31) + "\n").utf8), Data("correct horse battery staple".utf8),
            ])
        func notKeys(content: Data) async throws {
            #expect(KeyText.key(in: content) == nil)
            try await TemporaryFolder.with { folder in
                try write(content, to: folder.path + "/key")
                let failure = await failure(of: .file(path: folder.path + "/key"), in: folder)
                #expect(failure?.kind == .unreachable)
                #expect(failure?.description.contains("\(folder.path)/key") == true)
                #expect(failure?.description.contains("is not a key") == true)
            }
        }

        @Test("a key file readable by others, or behind a link, is rejected") func unsafeFile() async throws {
            try await TemporaryFolder.with { folder in
                try write(Self.bytes, to: folder.path + "/key", mode: 0o640)
                let key = EncryptionKey.file(path: folder.path + "/key")
                #expect(await failure(of: key, in: folder)?.kind == .unsafePermissions)
                chmod(folder.path + "/key", 0o600)
                #expect(await failure(of: key, in: folder) == nil, "the file is read again after a failure")
                symlink("key", folder.path + "/link")
                #expect(await failure(of: .file(path: folder.path + "/link"), in: folder) != nil)
            }
        }

        @Test("a missing key fails reads and writes with advice") func missing() async throws {
            try await TemporaryFolder.with { folder in
                let failure = await failure(of: .file(path: folder.path + "/key"), in: folder)
                #expect(failure?.kind == .unreachable)
                #expect(failure?.description.contains("head -c 32 /dev/urandom") == true)
                #expect(failure?.advice.contains("Try again") == false, "waiting helps nothing")
                let store = AnyTokenStore.encryptedFile(
                    path: folder.path + "/kept", key: .file(path: folder.path + "/key"))
                #expect(await store.read() == .empty, "a missing record needs no key")
            }
        }

        @Test("a missing key is created once when first needed, and never to open existing files") func made()
            async throws
        {
            try await TemporaryFolder.with { folder in
                let path = folder.path + "/deep/key"
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<20 {
                        group.addTask {
                            let key = EncryptionKey.file(path: path, createIfMissing: true)
                            let storage = AnySecureStorage.encryptedFiles(in: folder.path + "/values", key: key)
                            try await storage.save(Data("\(number)".utf8), for: "\(number)")
                        }
                    }
                    try await group.waitForAll()
                }
                let storage = AnySecureStorage.encryptedFiles(in: folder.path + "/values", key: .file(path: path))
                for number in 0..<20 { #expect(try await storage.read("\(number)") == Data("\(number)".utf8)) }
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/deep") == ["key"])
                var status = stat()
                stat(path, &status)
                #expect(status.st_mode & 0o777 == 0o600)

                try FileManager.default.removeItem(atPath: path)
                let later = AnySecureStorage.encryptedFiles(
                    in: folder.path + "/values", key: .file(path: path, createIfMissing: true))
                await #expect(throws: StorageError.self) { try await later.read("1") }
                await #expect(throws: StorageError.self) { try await later.save(Data(), for: "2") }
                #expect(!FileManager.default.fileExists(atPath: path))
            }
        }

        @Test("while another store of the key has a sealed file, a missing key is not created") func sharedKey()
            async throws
        {
            try await TemporaryFolder.with { folder in
                let path = folder.path + "/key"
                func key() -> EncryptionKey { .file(path: path, createIfMissing: true) }
                func stores(_ key: EncryptionKey) -> (tokens: AnyTokenStore, values: AnySecureStorage) {
                    (
                        .encryptedFile(path: folder.path + "/session", key: key),
                        .encryptedFiles(in: folder.path + "/values", key: key)
                    )
                }
                try await stores(key()).values.save(Data("1234".utf8), for: "pin")
                rename(path, path + ".unmounted")
                await #expect(throws: StorageError.self) {
                    try await stores(key()).tokens.write(StoredSession(id: SessionID(), tokens: .fresh()))
                }
                // A file with wrong permissions is a sealed file, too.
                chmod(folder.path + "/values/pin.sealed", 0o644)
                await #expect(throws: StorageError.self) {
                    try await stores(key()).values.save(Data("5678".utf8), for: "puk")
                }
                #expect(!FileManager.default.fileExists(atPath: path))
                chmod(folder.path + "/values/pin.sealed", 0o600)
                rename(path + ".unmounted", path)
                #expect(try await stores(key()).values.read("pin") == Data("1234".utf8))
            }
        }

        @Test("another program's file in the folder does not keep the key from being created") func foreignFile()
            async throws
        {
            try await TemporaryFolder.with { folder in
                mkdir(folder.path + "/values", 0o700)
                try write(Data("mine".utf8), to: folder.path + "/values/notes.sealed")
                let storage = AnySecureStorage.encryptedFiles(
                    in: folder.path + "/values", key: .file(path: folder.path + "/key", createIfMissing: true))
                try await storage.save(Data("1234".utf8), for: "pin")
                #expect(try await storage.read("pin") == Data("1234".utf8))
            }
        }

        @Test("after the key was lost, a sign-out and a sign-in make a new one in the same process") func lostKey()
            async throws
        {
            try await TemporaryFolder.with { folder in
                let (path, key) = (folder.path + "/session", folder.path + "/key")
                func store() -> AnyTokenStore {
                    .encryptedFile(path: path, key: .file(path: key, createIfMissing: true))
                }
                let app = App(store: store())
                try await app.tokens.signIn(with: app.backend.issue())
                try FileManager.default.removeItem(atPath: key)
                let later = App(app.backend, store: store())
                guard case .unavailable = await later.tokens.restore() else {
                    Issue.record("the record can be read")
                    return
                }
                await later.tokens.signOut()
                let session = try await later.tokens.signIn(with: later.backend.issue())
                #expect(session.isSaved)
                #expect(await App(app.backend, store: store()).tokens.restore() == .signedIn(session))
            }
        }

        @Test("a sign-out deletes the record of a key that is behind a link") func linkedKey() async throws {
            try await TemporaryFolder.with { folder in
                let (path, key) = (folder.path + "/session", folder.path + "/key")
                func store() -> AnyTokenStore {
                    .encryptedFile(path: path, key: .file(path: key, createIfMissing: true))
                }
                let app = App(store: store())
                try await app.tokens.signIn(with: app.backend.issue())
                rename(key, key + ".moved")
                symlink(key + ".moved", key)
                let later = App(app.backend, store: store())
                guard case .unavailable(let failure) = await later.tokens.restore() else {
                    Issue.record("the record can be read")
                    return
                }
                #expect(failure.kind == .unreachable)
                await later.tokens.signOut()
                #expect(!FileManager.default.fileExists(atPath: path))
            }
        }

        @Test("a systemd credential may belong to root and be readable through an ACL", arguments: [0o400, 0o440])
        func credential(mode: mode_t) async throws {
            try await TemporaryFolder.with { folder in
                try write(Self.bytes, to: folder.path + "/example.key", mode: mode)
                let key = credential("example.key", folder.path)
                #expect(await failure(of: key, in: folder) == nil)
                chmod(folder.path + "/example.key", 0o444)
                #expect(
                    await failure(of: credential("example.key", folder.path), in: folder)?.kind == .unsafePermissions)
            }
        }

        @Test("the error for a missing credential names what the unit lacks") func noCredential() async throws {
            try await TemporaryFolder.with { folder in
                let unset = await failure(of: credential("example.key", nil), in: folder)
                #expect(unset?.kind == .unreachable)
                #expect(unset?.description.contains("CREDENTIALS_DIRECTORY is not set") == true)
                let missing = await failure(of: credential("example.key", folder.path), in: folder)
                #expect(missing?.kind == .unreachable)
                #expect(missing?.description.contains("LoadCredential=example.key") == true)
                for name in ["", ".", "..", "../key", "a/b"] {
                    #expect(await failure(of: credential(name, folder.path), in: folder)?.kind == .unreachable)
                }
            }
        }

        @Test("a key or a passphrase can come from an environment variable, without its trailing line break")
        func environment() async throws {
            try await TemporaryFolder.with { folder in
                func key(_ content: KeyContent, _ value: String?) -> EncryptionKey {
                    EncryptionKey(
                        .environment("EXAMPLE_KEY", content), environment: { value.map { ["EXAMPLE_KEY": $0] } ?? [:] },
                        cost: ScryptCost(logN: 14, r: 8, p: 1))
                }
                #expect(await failure(of: key(.key, Self.bytes.base64EncodedString()), in: folder) == nil)
                #expect(await failure(of: key(.key, nil), in: folder)?.description.contains("EXAMPLE_KEY") == true)
                #expect(await failure(of: key(.passphrase, "\n"), in: folder)?.description.contains("empty") == true)
                let path = folder.path + "/session"
                let session = StoredSession(id: SessionID(), tokens: .fresh())
                try await AnyTokenStore.encryptedFile(path: path, key: key(.passphrase, "secret\n")).write(session)
                #expect(await AnyTokenStore.encryptedFile(path: path, key: .words("secret")).read() == .found(session))
                try write(Data("secret\r\n".utf8), to: folder.path + "/passphrase")
                let file = EncryptionKey.file(path: folder.path + "/passphrase", holdsPassphrase: true)
                #expect(await AnyTokenStore.encryptedFile(path: path, key: file).read() == .found(session))
            }
        }

        @Test("an empty passphrase is rejected") func emptyPassphrase() async throws {
            try await TemporaryFolder.with { folder in
                #expect(await failure(of: .passphrase(""), in: folder)?.kind == .unreachable)
            }
        }

        @Test("a passphrase is derived at the recommended cost") func cost() async throws {
            let coding = SealedCoding(ring: EncryptionKey.passphrase("secret").ring)
            let sealed = try await coding.seal(Data("4711".utf8), as: "session")
            #expect(sealed[9..<13].elementsEqual([2, 17, 8, 1]))
            #expect(try await coding.open(sealed, as: "session", at: "file") == Data("4711".utf8))
        }

        @Test("no representation of a key or a store shows the key") func dumps() async throws {
            try await TemporaryFolder.with { folder in
                let text = Self.bytes.base64EncodedString()
                let keys: [EncryptionKey] = [
                    .words("correct horse"),
                    EncryptionKey(.environment("KEY", .key), environment: { ["KEY": text] }, cost: .standard),
                ]
                for key in keys {
                    let store = AnyTokenStore.encryptedFile(path: folder.path + "/session", key: key)
                    let storage = AnySecureStorage.encryptedFiles(in: folder.path + "/values", key: key)
                    try await store.write(StoredSession(id: SessionID(), tokens: .fresh()))
                    try await storage.save(Data("4711".utf8), for: "pin")
                    var shown = "\(key) \(String(reflecting: key)) \(key.ring) \(String(reflecting: key.ring))"
                    dump(key, to: &shown)
                    dump(key.ring, to: &shown)
                    dump(store, to: &shown)
                    dump(storage, to: &shown)
                    shown += "\(Mirror(reflecting: key).children.count)"
                    for secret in ["correct", "horse", text, "\(Self.bytes[0]), ", "- \(Self.bytes[0])\n"] {
                        #expect(!shown.contains(secret), "\(secret)")
                    }
                }
            }
        }

        private func credential(_ name: String, _ folder: String?) -> EncryptionKey {
            EncryptionKey(
                .systemdCredential(name, .key),
                environment: { folder.map { ["CREDENTIALS_DIRECTORY": $0] } ?? [:] }, cost: .standard)
        }

        /// The error of saving a value with a key.
        private func failure(of key: EncryptionKey, in folder: TemporaryFolder) async -> StorageError? {
            do {
                try await AnySecureStorage.encryptedFiles(in: folder.path + "/\(UUID())", key: key)
                    .save(Data("4711".utf8), for: "pin")
                return nil
            } catch {
                return error
            }
        }

        private func write(_ content: Data, to path: String, mode: mode_t = 0o600) throws {
            try content.write(to: URL(filePath: path))
            chmod(path, mode)
        }

        private static func hexadecimal(_ bytes: Data) -> String {
            bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
    }
#endif
