import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("The platform's own place for secrets") struct PlatformStorageTests {
    /// A system whose keyring can be switched off.
    private struct System: Sendable {
        let folder: String
        let keyring = InMemoryStorage()
        let obstacle = Locked<StorageFailure?>(nil)
        let asked = Locked(0)

        func start() -> PlatformStorage {
            PlatformStorage(
                candidates: [
                    .init(kind: .secretService, storage: keyring) {
                        asked.withLock { $0 += 1 }
                        return obstacle.withLock { $0 }
                    },
                    .init(kind: .files, storage: FileStorage(folder: folder + "/secrets")) { nil },
                ], folder: folder)
        }

        func breakKeyring() {
            obstacle.withLock { $0 = StorageFailure(.unreachable, "there is no session bus") }
        }

        func mendKeyring() { obstacle.withLock { $0 = nil } }
    }

    private let pin = Data("4711".utf8)

    @Test("is the keyring where one answers, and says so") func keyring() async throws {
        try await TemporaryFolder.with { folder in
            let system = System(folder: folder.path)
            let storage = system.start()
            try await storage.save(pin, for: "pin")
            #expect(try await storage.choice() == StorageChoice(kind: .secretService, reason: "it answers"))
            #expect(await system.keyring.read("pin") == pin)
            #expect(!FileManager.default.fileExists(atPath: folder.path + "/secrets"))
        }
    }

    @Test("is files where none does, and says why") func files() async throws {
        try await TemporaryFolder.with { folder in
            let system = System(folder: folder.path)
            system.breakKeyring()
            let storage = system.start()
            try await storage.save(pin, for: "pin")
            let choice = try await storage.choice()
            #expect(choice.kind == .files)
            #expect(choice.description == "files (secretService: there is no session bus)")
            #expect(await system.keyring.keys() == [])
            #expect(try await storage.read("pin") == pin)
        }
    }

    @Test("stays what it was: a keyring that does not answer one morning has not lost the session") func stays()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let system = System(folder: folder.path)
            try await system.start().save(pin, for: "pin")
            system.breakKeyring()
            let storage = system.start()
            #expect(try await storage.read("pin") == pin)
            #expect(try await storage.choice().reason.contains("chosen before"))
            #expect(system.asked.withLock { $0 } == 1)
        }
        try await TemporaryFolder.with { folder in
            let system = System(folder: folder.path)
            system.breakKeyring()
            try await system.start().save(pin, for: "pin")
            system.mendKeyring()
            #expect(try await system.start().read("pin") == pin)
        }
    }

    @Test("is open as long as nothing was saved") func open() async throws {
        try await TemporaryFolder.with { folder in
            let system = System(folder: folder.path)
            system.breakKeyring()
            #expect(try await system.start().read("pin") == nil)
            try await system.start().delete("pin")
            #expect(try await system.start().keys() == [])
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
            system.mendKeyring()
            #expect(try await system.start().choice().kind == .secretService)
        }
    }

    @Test("is the same for processes that choose at once, with different answers") func race() async throws {
        try await TemporaryFolder.with { folder in
            let system = System(folder: folder.path)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<50 {
                    group.addTask {
                        let storage = PlatformStorage(
                            candidates: [
                                .init(kind: .secretService, storage: system.keyring) {
                                    number % 2 == 0 ? nil : StorageFailure(.unreachable, "it does not answer")
                                },
                                .init(kind: .files, storage: FileStorage(folder: folder.path + "/secrets")) { nil },
                            ], folder: folder.path)
                        try await storage.save(Data("\(number)".utf8), for: "\(number)")
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await system.start().keys().count == 50)
        }
    }

    @Test("is what another process has chosen meanwhile, for who had only looked") func chosenElsewhere() async throws {
        try await TemporaryFolder.with { folder in
            let system = System(folder: folder.path)
            let early = system.start()
            #expect(try await early.read("pin") == nil)
            system.breakKeyring()
            try await system.start().save(pin, for: "pin")
            #expect(try await early.read("pin") == pin)
            try await early.delete("pin")
            #expect(try await system.start().read("pin") == nil)
        }
    }

    @Test("is unknown, and not another one, where the note of it cannot be read", arguments: ["", "moon\n"])
    func damagedNote(note: String) async throws {
        try await TemporaryFolder.with { folder in
            let system = System(folder: folder.path)
            try await system.start().save(pin, for: "pin")
            let path = try folder.file("storage", Data(note.utf8))
            chmod(path, 0o600)
            let storage = system.start()
            let failure = await #expect(throws: StorageFailure.self) { try await storage.read("pin") }
            #expect(failure?.kind == .corrupt)
            await #expect(throws: StorageFailure.self) { try await storage.save(pin, for: "pin") }
            #expect(await system.keyring.read("pin") == pin)
        }
    }

    @Test("needs no note where there is but one") func single() async throws {
        try await TemporaryFolder.with { folder in
            let storage = PlatformStorage(
                candidates: [.init(kind: .keychain, storage: InMemoryStorage()) { nil }], folder: folder.path)
            try await storage.save(pin, for: "pin")
            #expect(try await storage.choice().kind == .keychain)
            #expect(try await storage.read("pin") == pin)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        }
    }

    #if os(Linux)
        @Test("is a file on a system without a desktop") func server() async throws {
            try await TemporaryFolder.with { folder -> Void in
                await #expect(processExitsWith: .success) { [folder = folder.path as String] in
                    // What GLib would find a bus by.
                    for name in ["DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY"] { unsetenv(name) }
                    setenv("XDG_RUNTIME_DIR", folder, 1)
                    setenv("XDG_STATE_HOME", folder, 1)
                    let store: SecureTokenStore = .platformDefault(service: "com.example.app")
                    let record = StoredSession(
                        id: SessionID(), bundle: TokenBundle(accessToken: "s3cret", refreshToken: nil))
                    #expect(await store.read() == .empty)
                    try await store.write(record)
                    let choice = try await store.choice()
                    #expect(choice.kind == .files && choice.reason.contains("secretService: "))
                    let again: SecureTokenStore = .platformDefault(service: "com.example.app")
                    #expect(await again.read() == .found(record))
                    let files = FilesAtRest(below: folder)
                    #expect(
                        files.paths(holding: "s3cret") == [folder + "/com.example.app/secrets/session.value"])
                    #expect(files.openToOthers.isEmpty)
                }
            }
        }
    #endif

    @Test("keeps several accounts apart, and the current one") func accounts() async throws {
        try await TemporaryFolder.with { folder in
            let storage = InMemoryStorage()
            await storage.save(pin, for: "pin")
            let store = SecureAccountStore(storage: storage, folder: folder.path)
            let records = ["ada", "", "Ada/ünï %"].map {
                (AccountID(rawValue: $0), StoredSession(id: SessionID(), bundle: .fresh()))
            }
            for (account, record) in records { try await store.store(for: account).write(record) }
            for (account, record) in records { #expect(await store.store(for: account).read() == .found(record)) }
            #expect(try await store.accounts() == ["", "Ada/ünï %", "ada"])
            #expect(try await store.current() == nil)
            for (account, _) in records {
                try await store.setCurrent(account)
                #expect(try await store.current() == account)
            }
            try await store.setCurrent(nil)
            #expect(try await store.current() == nil)
            try await store.store(for: "ada").delete()
            #expect(try await store.accounts() == ["", "Ada/ünï %"])
        }
    }
}
