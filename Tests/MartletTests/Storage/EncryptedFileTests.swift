#if Encryption
    import Foundation
    import MartletTesting
    import Testing

    @testable import Martlet

    @Suite("The encrypted token file") struct EncryptedFileTests {
        @Test("shows nothing of the tokens, is its user's alone, and is another one after each write")
        func nothingShows() async throws {
            try await TemporaryFolder.with { folder in
                let store: some TokenStore = .encryptedFile(path: folder.path + "/session", key: .number(1))
                let session = StoredSession(
                    id: SessionID(), bundle: .fresh(), account: SessionAccount(userID: "ada"))
                var files: Set<Data> = []
                for _ in 0..<20 {
                    try await store.write(session)
                    files.insert(try Data(contentsOf: URL(filePath: folder.path + "/session")))
                }
                #expect(files.count == 20)
                #expect(Set(files.map { $0.prefix(48) }).count == 1, "the salt stays")
                #expect(Set(files.map { $0[48..<60] }).count == 20, "the nonce does not")
                let secrets = ["access-0", "refresh-0", "ada", session.id.rawValue, "version"]
                for file in files {
                    for secret in secrets { #expect(file.range(of: Data(secret.utf8)) == nil, "\(secret)") }
                }
                var status = stat()
                stat(folder.path + "/session", &status)
                #expect(status.st_mode & 0o777 == 0o600)
            }
        }

        @Test("is not read where a single bit was flipped, be it in the header, the nonce, the content or the tag")
        func flippedBits() throws {
            let coding = SealedCoding(ring: EncryptionKey.number(1).ring)
            let sealed = try coding.seal(Data("a session".utf8), as: "session")
            #expect(try coding.open(sealed, as: "session", at: "file") == Data("a session".utf8))
            for bit in 0..<sealed.count * 8 {
                var changed = sealed
                changed[bit / 8] ^= 1 << (bit % 8)
                let failure = #expect(throws: StorageFailure.self) {
                    try coding.open(changed, as: "session", at: "file")
                }
                #expect(failure?.kind == .corrupt, "bit \(bit)")
                #expect(failure?.description.contains("damaged or tampered with") == true, "bit \(bit)")
            }
        }

        @Test("is not read where its end is missing, at whatever length, or where something was added")
        func truncation() throws {
            let coding = SealedCoding(ring: EncryptionKey.number(1).ring)
            let sealed = try coding.seal(Data("a session".utf8), as: "session")
            for bytes in (0..<sealed.count).map({ sealed.prefix($0) }) + [sealed + Data([0])] {
                let failure = #expect(throws: StorageFailure.self) {
                    try coding.open(bytes, as: "session", at: "file")
                }
                #expect(failure?.kind == .corrupt && failure?.description.contains("damaged or tampered with") == true)
            }
        }

        @Test("has the format that it says it has: another implementation of it made these") func vectors() throws {
            for (key, hexadecimal) in Self.vectors {
                let bytes = try #require(Data(hexadecimal: hexadecimal))
                #expect(
                    try SealedCoding(ring: key.ring).open(bytes, as: "value:pin", at: "file") == Data("4711".utf8))
            }
        }

        private static let vectors: [(EncryptionKey, String)] = [
            (
                .number(1),
                "4d4152544c4554000101000000000000000102030405060708090a0b0c0d0e0f04be184644d7413a"
                    + "ec5ab2568666ffe96465666768696a6b6c6d6e6f2e3e5b004246914364aae2aaed53bdae409113a8"
            ),
            (
                .words("secret"),
                "4d4152544c45540001020e0801000000000102030405060708090a0b0c0d0e0fbc3291cd779333dc"
                    + "669af2a34d90dad06465666768696a6b6c6d6e6f095742379254877507787051341721be44c747e8"
            ),
        ]

        @Test("says whether the key is a wrong one, of either kind, or the file is damaged")
        func wrongKey() async throws {
            try await TemporaryFolder.with { folder in
                let path = folder.path + "/session"
                let session = StoredSession(id: SessionID(), bundle: .fresh())
                try await EncryptedFileTokenStore(path: path, key: .number(1)).write(session)
                #expect(await words(path, .number(2)).contains("sealed with another key or passphrase"))
                #expect(await words(path, .words("secret")).contains("not with the passphrase"))
                try await EncryptedFileTokenStore(path: path, key: .words("secret")).write(session)
                #expect(await words(path, .words("Secret")).contains("sealed with another key or passphrase"))
                #expect(await words(path, .number(1)).contains("sealed with a passphrase"))
                #expect(await EncryptedFileTokenStore(path: path, key: .words("secret")).read() == .found(session))
            }
        }

        @Test("of a newer version is left alone, and a plain one is not taken for an encrypted one")
        func otherFiles() async throws {
            try await TemporaryFolder.with { folder in
                let path = folder.path + "/session"
                let session = StoredSession(id: SessionID(), bundle: .fresh())
                let store = EncryptedFileTokenStore(path: path, key: .number(1))
                try await store.write(session)
                try overwrite(path, try Data(contentsOf: URL(filePath: path)).withHeader { $0[8] = 2 })
                #expect(await failure(path, .number(1))?.kind == .tooNew)

                try await FileTokenStore(path: path).write(session)
                let plain = await failure(path, .number(1))
                #expect(plain?.kind == .corrupt && plain?.description.contains("not encrypted") == true)
                if case .found(let found) = await FileTokenStore(path: path).read() { try await store.write(found) }
                #expect(await store.read() == .found(session))
                guard case .unavailable = await FileTokenStore(path: path).read() else {
                    Issue.record("it should be encrypted by now")
                    return
                }
            }
        }

        @Test(
            "cannot make its reader work or remember for ever: only known costs are paid",
            arguments: [
                (31, 8, 1), (19, 8, 1), (17, 255, 1), (17, 8, 255), (17, 8, 0), (0, 8, 1), (13, 8, 1), (255, 8, 1),
            ]
                as [(UInt8, UInt8, UInt8)])
        func hostileCosts(logN: UInt8, r: UInt8, p: UInt8) throws {
            let key = EncryptionKey.words("secret")
            let coding = SealedCoding(ring: key.ring)
            let sealed = try coding.seal(Data("a session".utf8), as: "session").withHeader {
                ($0[10], $0[11], $0[12]) = (logN, r, p)
            }
            let failure = #expect(throws: StorageFailure.self) { try coding.open(sealed, as: "session", at: "file") }
            #expect(failure?.kind == .corrupt)
            #expect(failure?.description.contains("tampered with: it asks for a key") == true)
        }

        @Test(
            "has no other kinds of keys, and no bytes that mean nothing", arguments: [(9, 0), (9, 3), (13, 1), (15, 1)])
        func hostileHeader(index: Int, value: UInt8) throws {
            let coding = SealedCoding(ring: EncryptionKey.number(1).ring)
            let sealed = try coding.seal(Data(), as: "session").withHeader { $0[index] = value }
            #expect(throws: StorageFailure.self) { try coding.open(sealed, as: "session", at: "file") }
        }

        @Test("whose key costs little is read, but what is written next costs what it should") func cheaperKey() throws
        {
            let cheap = EncryptionKey.words("secret", logN: 14)
            let dear = EncryptionKey.words("secret", logN: 15)
            let sealed = try SealedCoding(ring: cheap.ring).seal(Data("a session".utf8), as: "session")
            let coding = SealedCoding(ring: dear.ring)
            #expect(try coding.open(sealed, as: "session", at: "file") == Data("a session".utf8))
            #expect(try coding.seal(Data(), as: "session")[10] == 15)
        }

        @Test("keeps its salt from one process to the next, so that its key is not made anew all the time")
        func salt() async throws {
            try await TemporaryFolder.with { folder in
                let path = folder.path + "/session"
                let session = StoredSession(id: SessionID(), bundle: .fresh())
                var salts: Set<Data> = []
                for _ in 0..<3 {
                    try await EncryptedFileTokenStore(path: path, key: .words("secret")).write(session)
                    salts.insert(try Data(contentsOf: URL(filePath: path))[16..<32])
                }
                #expect(salts.count == 1)
                let other = folder.path + "/other"
                try await EncryptedFileTokenStore(path: other, key: .words("secret")).write(session)
                #expect(!salts.contains(try Data(contentsOf: URL(filePath: other))[16..<32]))
            }
        }

        @Test("is not trusted when others could read it") func unsafePermissions() async throws {
            try await TemporaryFolder.with { folder in
                let path = folder.path + "/session"
                let session = StoredSession(id: SessionID(), bundle: .fresh())
                try await EncryptedFileTokenStore(path: path, key: .number(1)).write(session)
                chmod(path, 0o644)
                #expect(await failure(path, .number(1))?.kind == .unsafePermissions)
            }
        }

        @Test("is changed by one at a time: of 200 updates in many stores none is lost") func updates() async throws {
            try await TemporaryFolder.with { folder in
                let path = folder.path + "/session"
                func store(_ number: Int) -> EncryptedFileTokenStore {
                    EncryptedFileTokenStore(path: path, key: number.isMultiple(of: 2) ? shared : .words("secret"))
                }
                let shared = EncryptionKey.words("secret")
                try await store(0).write(StoredSession(id: SessionID(), bundle: .fresh()))
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
                    Issue.record("the record is gone")
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
            @Test("is shared with another process that has the same passphrase") func processes() async throws {
                try await TemporaryFolder.with { folder in
                    let path = folder.path + "/session"
                    async let other = #expect(processExitsWith: .success) { [path = path as String] in
                        try await EncryptedFileTests.rotate(path, times: 50)
                    }
                    try await Self.rotate(path, times: 50)
                    _ = await other
                    guard case .found(let record) = await EncryptedFileTokenStore(path: path, key: .words("s")).read()
                    else {
                        Issue.record("the record is gone")
                        return
                    }
                    #expect(record.rotation == 100)
                }
            }

            private static func rotate(_ path: String, times: Int) async throws {
                let store = EncryptedFileTokenStore(path: path, key: .words("s"))
                for _ in 0..<times {
                    try await store.update { reading in
                        switch reading {
                        case .found(var record):
                            record.rotation += 1
                            return .write(record)
                        case .empty: return .write(StoredSession(id: SessionID(), rotation: 1, bundle: .fresh()))
                        case .unavailable: return .keep
                        }
                    }
                }
            }
        #endif

        @Test("tells of changes, and has a lock to renew tokens under") func changes() async throws {
            try await TemporaryFolder.with { folder in
                let store = EncryptedFileTokenStore(path: folder.path + "/session", key: .number(1))
                var changes = try #require(store.changes()).makeAsyncIterator()
                let other = EncryptedFileTokenStore(path: folder.path + "/session", key: .number(1))
                try await other.write(StoredSession(id: SessionID(), bundle: .fresh()))
                #expect(await changes.next() != nil)
                let held = try await store.lock?.acquire(lease: .seconds(45))
                #expect(held?.isHeld == true)
                held?.release()
            }
        }

        @Test("can be deleted without its key") func deletion() async throws {
            try await TemporaryFolder.with { folder in
                let path = folder.path + "/session"
                try await EncryptedFileTokenStore(path: path, key: .number(1))
                    .write(StoredSession(id: SessionID(), bundle: .fresh()))
                try await EncryptedFileTokenStore(path: path, key: .file(path: folder.path + "/none")).delete()
                #expect(!FileManager.default.fileExists(atPath: path))
            }
        }

        private func failure(_ path: String, _ key: EncryptionKey) async -> StorageFailure? {
            guard case .unavailable(let failure) = await EncryptedFileTokenStore(path: path, key: key).read() else {
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

    @Suite("The encrypted storage") struct EncryptedFileStorageTests {
        @Test("shows nothing of its values, and no file can be put in another's place") func swapped() async throws {
            try await TemporaryFolder.with { folder in
                let storage: some SecureStorage = .encryptedFiles(in: folder.path, key: .number(1))
                try await storage.save(Data("the user's".utf8), for: "role")
                try await storage.save(Data("the admin's".utf8), for: "admin")
                let (role, admin) = (folder.path + "/role.sealed", folder.path + "/admin.sealed")
                #expect(try Data(contentsOf: URL(filePath: role)).range(of: Data("user".utf8)) == nil)
                try FileManager.default.removeItem(atPath: role)
                try FileManager.default.copyItem(atPath: admin, toPath: role)
                let failure = await #expect(throws: StorageFailure.self) { try await storage.read("role") }
                #expect(failure?.kind == .corrupt)
                #expect(try await storage.read("admin") == Data("the admin's".utf8))

                try await EncryptedFileTokenStore(path: role, key: .number(1))
                    .write(StoredSession(id: SessionID(), bundle: .fresh()))
                await #expect(throws: StorageFailure.self) { try await storage.read("role") }
                let session = await EncryptedFileTokenStore(path: admin, key: .number(1)).read()
                guard case .unavailable = session else {
                    Issue.record("a value is no session")
                    return
                }
            }
        }

        @Test("has one salt for all its files, in whatever process they are saved") func salt() async throws {
            try await TemporaryFolder.with { folder in
                for key in ["a", "b", "c"] {
                    let storage = EncryptedFileStorage(folder: folder.path, key: .words("secret"))
                    try await storage.save(Data(key.utf8), for: key)
                }
                let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
                let salts = try names.map { try Data(contentsOf: URL(filePath: folder.path + "/" + $0))[16..<32] }
                #expect(salts.count == 3 && Set(salts).count == 1)
            }
        }
    }

    extension EncryptionKey {
        /// A key that is known by a number.
        static func number(_ number: UInt8) -> EncryptionKey {
            let text = Data(repeating: number, count: 32).base64EncodedString()
            return EncryptionKey(.environment("KEY", .key), environment: { ["KEY": text] }, cost: .standard)
        }

        /// A passphrase that takes little time.
        static func words(_ passphrase: Secret, logN: UInt8 = 14) -> EncryptionKey {
            EncryptionKey(
                .passphrase(passphrase), environment: { [:] }, cost: ScryptCost(logN: logN, r: 8, p: 1))
        }
    }
#endif

#if Encryption
    extension Data {
        fileprivate init?(hexadecimal: String) {
            var bytes: [UInt8] = []
            var rest = Substring(hexadecimal)
            while !rest.isEmpty {
                guard let byte = UInt8(rest.prefix(2), radix: 16) else { return nil }
                bytes.append(byte)
                rest = rest.dropFirst(2)
            }
            self.init(bytes)
        }

        /// The same file with another header, whose digest is right: what somebody can do who knows the format.
        func withHeader(_ change: (inout Data) -> Void) -> Data {
            var file = self
            change(&file)
            file.replaceSubrange(40..<48, with: SealedFile.digest(of: file.prefix(40)))
            return file
        }
    }
#endif
