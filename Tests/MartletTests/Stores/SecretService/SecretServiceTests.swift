#if os(Linux)
    import Foundation
    import MartletTesting
    import Testing

    @testable import Martlet

    @testable import MartletStorage

    private let secret = KeyringFixture.secret
    private let storage = KeyringFixture.storage

    @Suite(
        "The desktop's keyring", .enabled(if: Desktop.isInstalled, Desktop.isMissing), .timeLimit(.minutes(10)),
        .serialized)
    struct SecretServiceTests {
        @Test("values of any bytes up to a megabyte are stored and replaced under any key")
        func values() async throws {
            try await Desktop.withFolder { folder in
                await #expect(processExitsWith: .success) { [folder = folder as String] in
                    try await KeyringFixture.with(folder) { _ in
                        #expect(await storage.availability() == nil)
                        #expect(try await storage.read("key") == nil)
                        #expect(try await storage.keys().isEmpty)
                        var generator = SeededGenerator(seed: 1)
                        let values = [
                            secret, Data(), Data([0]), Data(0...255), Data("é\n".utf8), generator.bytes(1 << 20),
                        ]
                        for value in values {
                            try await storage.save(value, for: "key")
                            #expect(try await storage.read("key") == value)
                        }
                        #expect(try await storage.keys() == ["key"])
                        try await storage.delete("key")
                        #expect(try await storage.read("key") == nil)
                        try await storage.delete("key")

                        let keys = ["", " ", "a", "a\0b", "a%00b", "%", "%%25", "é", "日本 🗝️", "a/b:c\"\\\n", "key"]
                        for key in keys { try await storage.save(Data(key.utf8), for: key) }
                        #expect(try await storage.keys() == keys.sorted())
                        for key in keys { #expect(try await storage.read(key) == Data(key.utf8)) }
                        for key in keys { try await storage.delete(key) }
                        #expect(try await storage.keys().isEmpty)
                    }
                }
            }
        }

        @Test("a session fulfills the store contract, and none of it is in a file") func session() async throws {
            try await Desktop.withFolder { folder in
                await #expect(processExitsWith: .success) { [folder = folder as String] in
                    try await KeyringFixture.with(folder) { _ in
                        setenv("XDG_STATE_HOME", folder + "/state", 1)
                        let contract = TokenStoreContract {
                            AnyTokenStore.secretService(service: "com.example.app", timeout: .seconds(3_600))
                        } replacingBytes: { bytes in
                            try await storage.save(bytes, for: "session")
                        }
                        try await contract.verify()

                        let store: AnyTokenStore = .platformDefault(service: "com.example.app")
                        #expect(try await store.choice() == .secretService(reason: "it is available"))
                        let record = StoredSession(
                            id: SessionID(), tokens: Tokens(accessToken: "s3cret-access", refreshToken: "s3cret"))
                        try await store.write(record)
                        #expect(
                            await AnyTokenStore.secretService(service: "com.example.app").read() == .found(record),
                            "the session is stored where the keyring store reads it")
                        let again: AnyTokenStore = .platformDefault(service: "com.example.app")
                        #expect(await again.read() == .found(record))
                        #expect(try await again.choice()?.reason.contains("chosen before") == true)
                        let files = FilesAtRest(below: folder + "/state")
                        #expect(files.paths(holding: "s3cret").isEmpty)
                        #expect(files.openToOthers.isEmpty)
                    }
                }
            }
        }

        @Test(
            "services are stored separately, and storages of one service share their values") func services()
            async throws
        {
            try await Desktop.withFolder { folder in
                await #expect(processExitsWith: .success) { [folder = folder as String] in
                    try await KeyringFixture.with(folder) { _ in
                        let other = SecretServiceStorage(service: "com.example", timeout: .seconds(3_600))
                        let same = SecretServiceStorage(service: "com.example.app", timeout: .seconds(3_600))
                        try await storage.save(secret, for: "key")
                        #expect(try await other.read("key") == nil)
                        try await other.save(Data("other".utf8), for: "key")
                        #expect(try await same.read("key") == secret)
                        try await same.delete("key")
                        #expect(try await storage.read("key") == nil)
                        #expect(try await other.read("key") == Data("other".utf8))
                        #expect(try await other.keys() == ["key"])
                    }
                }
            }
        }

        @Test("200 concurrent saves succeed, and a cancelled task's save completes") func many() async throws {
            try await Desktop.withFolder { folder in
                await #expect(processExitsWith: .success) { [folder = folder as String] in
                    try await KeyringFixture.with(folder) { _ in
                        try await withThrowingTaskGroup(of: Void.self) { group in
                            for number in 0..<200 {
                                let key = "key \(number % 20)"
                                group.addTask {
                                    try await storage.save(Data(key.utf8), for: key)
                                    #expect(try await storage.read(key) == Data(key.utf8))
                                }
                            }
                            try await group.waitForAll()
                        }
                        #expect(try await storage.keys().count == 20)
                        let cancelled = Task {
                            withUnsafeCurrentTask { $0?.cancel() }
                            try await storage.save(secret, for: "key 0")
                            return try await storage.read("key 0")
                        }
                        #expect(try await cancelled.value == secret)
                    }
                }
            }
        }

        @Test("if another program left several items, the newest value counts") func duplicates() async throws {
            try await Desktop.withFolder { folder in
                await #expect(processExitsWith: .success) { [folder = folder as String] in
                    try await KeyringFixture.with(folder) { _ in
                        func duplicate() async throws {
                            try await storage.save(Data("1".utf8), for: "key")
                            for number in 2...3 {
                                var attributes = storage.attributes("key")
                                attributes["copy"] = "\(number)"
                                try await SecretServiceLink.shared.run(within: .seconds(30)) {
                                    [attributes] call throws(StorageError) in
                                    try call.save(Data("\(number)".utf8), attributes, label: "a copy")
                                }
                            }
                        }
                        func count() async throws -> Int {
                            let attributes = storage.attributes("key")
                            return try await SecretServiceLink.shared.run(within: .seconds(30)) {
                                call throws(StorageError) in
                                try call.values(of: "key", attributes).count
                            }
                        }
                        try await duplicate()
                        #expect(try await count() == 3)
                        #expect(try await storage.read("key") == Data("3".utf8))
                        #expect(try await storage.keys() == ["key"])
                        try await storage.save(secret, for: "key")
                        #expect(try await count() == 1)
                        #expect(try await storage.read("key") == secret)
                        try await duplicate()
                        try await storage.delete("key")
                        #expect(try await count() == 0)
                    }
                }
            }
        }
    }
#endif
