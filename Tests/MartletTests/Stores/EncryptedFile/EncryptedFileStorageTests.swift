#if Encryption
    import Foundation
    import MartletTesting
    import MartletTestSupport
    import Testing

    @testable import Martlet

    @Suite("The encrypted storage", .noBlockingCalls, .timeLimit(.minutes(10))) struct EncryptedFileStorageTests {
        @Test("the files show no values, and a file cannot stand in for another") func swapped() async throws {
            try await TemporaryFolder.with { folder in
                let storage: some SecureStorage = .encryptedFiles(in: folder.path, key: .number(1))
                try await storage.save(Data("the user's".utf8), for: "role")
                try await storage.save(Data("the admin's".utf8), for: "admin")
                let (role, admin) = (folder.path + "/role.sealed", folder.path + "/admin.sealed")
                #expect(try Data(contentsOf: URL(filePath: role)).range(of: Data("user".utf8)) == nil)
                try FileManager.default.removeItem(atPath: role)
                try FileManager.default.copyItem(atPath: admin, toPath: role)
                let failure = await #expect(throws: StorageError.self) { try await storage.read("role") }
                #expect(failure?.kind == .corrupt)
                #expect(try await storage.read("admin") == Data("the admin's".utf8))

                try await AnyTokenStore.encryptedFile(path: role, key: .number(1))
                    .write(StoredSession(id: SessionID(), tokens: .fresh()))
                await #expect(throws: StorageError.self) { try await storage.read("role") }
                let session = await AnyTokenStore.encryptedFile(path: admin, key: .number(1)).read()
                guard case .unavailable = session else {
                    Issue.record("a value was read as a session")
                    return
                }
            }
        }

        @Test("all files share one salt, across processes") func salt() async throws {
            try await TemporaryFolder.with { folder in
                for key in ["a", "b", "c"] {
                    let storage = AnySecureStorage.encryptedFiles(in: folder.path, key: .words("secret"))
                    try await storage.save(Data(key.utf8), for: key)
                }
                let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
                let salts = try names.map { try Data(contentsOf: URL(filePath: folder.path + "/" + $0))[16..<32] }
                #expect(salts.count == 3 && Set(salts).count == 1)
            }
        }
    }
#endif
