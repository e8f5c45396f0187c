import Foundation
import MartletTestSupport
import MartletTesting
import Testing

@testable import Martlet
@testable import MartletStorage

@Suite("Every secure storage", .noBlockingCalls, .timeLimit(.minutes(10))) struct SecureStorageTests {
    @Test("the last saved value is read under each key until it is deleted", arguments: StorageKind.allCases)
    func contract(kind: StorageKind) async throws {
        try await TemporaryFolder.with { folder in
            let storage = kind.make(in: folder.path + "/values")
            #expect(try await storage.keys() == [])
            #expect(try await storage.read("pin") == nil)
            try await storage.delete("pin")
            for (number, key) in Self.keys.enumerated() { try await storage.save(Data("\(number)".utf8), for: key) }
            #expect(try await storage.keys() == Self.keys.sorted())
            for (number, key) in Self.keys.enumerated() {
                #expect(try await storage.read(key) == Data("\(number)".utf8), "\(key)")
            }
            try await storage.save(Data(), for: "pin")
            #expect(try await kind.reopen(storage, in: folder.path + "/values").read("pin") == Data())
            for key in Self.keys {
                try await storage.delete(key)
                #expect(try await storage.read(key) == nil)
            }
            #expect(try await storage.keys() == [])
        }
    }

    @Test(
        "a value of one megabyte is stored", arguments: StorageKind.allCases) func megabyte(kind: StorageKind)
        async throws
    {
        try await TemporaryFolder.with { folder in
            let storage = kind.make(in: folder.path + "/values")
            var random = SeededGenerator(seed: 1)
            let value = random.bytes(1 << 20)
            try await storage.save(value, for: "large")
            #expect(try await storage.read("large") == value)
        }
    }

    @Test("a value too large to be read back is rejected") func tooLarge() async throws {
        try await TemporaryFolder.with { folder in
            let storage = FileStorage(folder: folder.path)
            try await storage.save(Data([1]), for: "pin")
            await #expect(throws: StorageError.self) { try await storage.save(Data(count: 2 << 20), for: "pin") }
            #expect(try await storage.read("pin") == Data([1]))
        }
    }

    private static let keys = [
        "pin", "Pin", "", "%", "%70in", "../../etc/passwd", "a/b", "a.value", ".", "..", "ключ", "🐦",
        String(repeating: "x", count: 200), String(repeating: "x", count: 201), String(repeating: "X", count: 400),
    ]
}

@Suite("The file storage", .noBlockingCalls, .timeLimit(.minutes(10))) struct FileStorageTests {
    @Test("only the owner can access the files, and all are inside the folder") func permissions() async throws {
        try await TemporaryFolder.with { folder in
            let storage: some SecureStorage = .files(in: folder.path + "/deep/values")
            for key in ["pin", "../up"] { try await storage.save(Data("4711".utf8), for: key) }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["deep"])
            #expect(mode(of: folder.path + "/deep/values") == 0o700)
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/deep/values").sorted()
            #expect(names == ["%2e%2e%2fup.value", "pin.value"])
            for name in names { #expect(mode(of: folder.path + "/deep/values/" + name) == 0o600) }
        }
    }

    @Test("a file with permissions for other users is rejected", arguments: [0o640, 0o604] as [mode_t])
    func unsafePermissions(mode: mode_t) async throws {
        try await TemporaryFolder.with { folder in
            let storage = FileStorage(folder: folder.path)
            try await storage.save(Data("4711".utf8), for: "pin")
            chmod(folder.path + "/pin.value", mode)
            let failure = await #expect(throws: StorageError.self) { try await storage.read("pin") }
            #expect(failure?.kind == .unsafePermissions)
        }
    }

    @Test("a value that is too large is rejected, and the old one is kept") func tooLarge() async throws {
        try await TemporaryFolder.with { folder in
            let storage = FileStorage(folder: folder.path)
            try await storage.save(Data("4711".utf8), for: "pin")
            await #expect(throws: StorageError.self) {
                try await storage.save(Data(count: 1 << 20 + 1), for: "pin")
            }
            #expect(try await storage.read("pin") == Data("4711".utf8))
        }
    }

    @Test("a storage that cannot be written or listed is an error") func unwritable() async throws {
        let failure = await #expect(throws: StorageError.self) {
            try await FileStorage(folder: "/proc/martlet").save(Data(), for: "pin")
        }
        #expect(failure?.kind == .unreachable)
        let loop = try await TemporaryFolder.with { folder in
            symlink("loop", folder.path + "/loop")
            return await #expect(throws: StorageError.self) {
                try await FileStorage(folder: folder.path + "/loop").keys()
            }
        }
        #expect(loop?.kind == .unreachable)
    }

    @Test("old temporary files of killed writers are removed, and recent ones are kept")
    func leftovers() async throws {
        try await TemporaryFolder.with { folder in
            let storage = FileStorage(folder: folder.path)
            let old = [".gone.value.1.2.tmp", "sub/.gone.value.1.2.tmp"]
            let young = [".pin.value.3.4.tmp", "note.txt", ".hidden.tmp"]
            mkdir(folder.path + "/sub", 0o700)
            for name in old + young {
                let url = URL(filePath: folder.path + "/" + name)
                try Data("secret".utf8).write(to: url)
                if old.contains(name) {
                    try FileManager.default.setAttributes(
                        [.modificationDate: Date(timeIntervalSinceNow: -120)], ofItemAtPath: url.path)
                }
            }
            try await storage.save(Data("4711".utf8), for: "pin")
            for name in old { #expect(!FileManager.default.fileExists(atPath: folder.path + "/" + name), "\(name)") }
            for name in young { #expect(FileManager.default.fileExists(atPath: folder.path + "/" + name), "\(name)") }
            #expect(try await storage.keys() == ["pin"])
        }
    }

    @Test("concurrent saves and reads never see a torn value") func concurrency() async throws {
        try await TemporaryFolder.with { folder in
            let whole = Set((0..<8).map { Data(repeating: UInt8($0), count: 10_000) })
            try await withThrowingTaskGroup(of: Void.self) { group in
                for value in whole {
                    group.addTask {
                        let storage = FileStorage(folder: folder.path)
                        for _ in 0..<10 {
                            try await storage.save(value, for: "shared")
                            let found = try #require(try await storage.read("shared"))
                            #expect(whole.contains(found))
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["shared.value"])
        }
    }

    private func mode(of path: String) -> mode_t {
        var status = stat()
        stat(path, &status)
        return status.st_mode & 0o777
    }
}

/// The storages that run the same tests.
enum StorageKind: CaseIterable, Sendable {
    case inMemory, files, keychain, platform
    #if Encryption
        case encryptedFiles
    #endif

    func make(in folder: String) -> any SecureStorage {
        switch self {
        case .inMemory: InMemoryStorage()
        case .files: FileStorage(folder: folder)
        case .keychain: KeychainApp(keychain: FakeKeychain(), folder: folder).storage()
        case .platform: PlatformStorage.withoutKeyring(in: folder)
        #if Encryption
            case .encryptedFiles:
                AnySecureStorage.encryptedFiles(in: folder, key: .file(path: folder + ".key", createIfMissing: true))
        #endif
        }
    }

    func reopen(_ storage: any SecureStorage, in folder: String) -> any SecureStorage {
        [.inMemory, .keychain].contains(self) ? storage : make(in: folder)
    }
}
