import Foundation
import MartletTestSupport
import MartletTesting
import Testing

@testable import Martlet
@testable import MartletStorage

@Suite("The platform's storage", .noBlockingCalls, .timeLimit(.minutes(10))) struct PlatformStorageTests {
    /// A system whose keyring can be turned off.
    private struct System: Sendable {
        let folder: String
        let keyring = InMemoryStorage()
        let obstacle = Locked<StorageError?>(nil)
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
            obstacle.withLock { $0 = StorageError(.unreachable, "there is no session bus") }
        }

        func mendKeyring() { obstacle.withLock { $0 = nil } }
    }

    private let pin = Data("4711".utf8)

    @Test("an available keyring is chosen") func keyring() async throws {
        try await TemporaryFolder.with { folder in
            let system = System(folder: folder.path)
            let storage = system.start()
            try await storage.save(pin, for: "pin")
            #expect(try await storage.choice() == .secretService(reason: "it is available"))
            #expect(await system.keyring.read("pin") == pin)
            #expect(!FileManager.default.fileExists(atPath: folder.path + "/secrets"))
        }
    }

    @Test("without a keyring, files are chosen with the reason") func files() async throws {
        try await TemporaryFolder.with { folder in
            let system = System(folder: folder.path)
            system.breakKeyring()
            let storage = system.start()
            try await storage.save(pin, for: "pin")
            let choice = try await storage.choice()
            #expect(choice == .files(reason: "secretService: there is no session bus"))
            #expect(await system.keyring.keys() == [])
            #expect(try await storage.read("pin") == pin)
        }
    }

    @Test("the choice is kept when the keyring is unavailable later or becomes available") func stays()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let system = System(folder: folder.path)
            try await system.start().save(pin, for: "pin")
            system.breakKeyring()
            let storage = system.start()
            #expect(try await storage.read("pin") == pin)
            #expect(try await storage.choice()?.reason.contains("chosen before") == true)
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

    @Test("nothing is chosen before the first save") func open() async throws {
        try await TemporaryFolder.with { folder in
            let system = System(folder: folder.path)
            system.breakKeyring()
            #expect(try await system.start().read("pin") == nil)
            try await system.start().delete("pin")
            #expect(try await system.start().keys() == [])
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
            system.mendKeyring()
            #expect(try await system.start().choice() == .secretService(reason: "it is available"))
        }
    }

    @Test(
        "concurrent processes make the same choice, even if the keyring responds to only some") func race() async throws
    {
        try await TemporaryFolder.with { folder in
            let system = System(folder: folder.path)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<50 {
                    group.addTask {
                        let storage = PlatformStorage(
                            candidates: [
                                .init(kind: .secretService, storage: system.keyring) {
                                    number % 2 == 0 ? nil : StorageError(.unreachable, "it does not answer")
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

    @Test("tasks that choose at the same time make the same choice, even if the keyring responds to only one")
    func concurrentTasks() async throws {
        try await TemporaryFolder.with { folder in
            let (asked, late) = (Locked(0), Gate())
            let storage = PlatformStorage(
                candidates: [
                    .init(kind: .secretService, storage: InMemoryStorage()) {
                        let number = asked.withLock { asked in
                            asked += 1
                            return asked
                        }
                        guard number == 1 else { return StorageError(.unreachable, "it does not answer") }
                        await late.pass()
                        return nil
                    },
                    .init(kind: .files, storage: InMemoryStorage()) { nil },
                ], folder: folder.path)
            async let first = storage.choice()
            await late.waitForArrivals()
            let second = try await storage.choice()
            late.open()
            let choices = try await [first, second, storage.choice()]
            #expect(choices.allSatisfy { $0?.isFiles == true })
        }
    }

    @Test(
        "a process that has only read follows a later choice of another process") func chosenElsewhere() async throws
    {
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

    @Test("if the file with the choice is damaged, no other storage is chosen", arguments: ["", "moon\n"])
    func damagedChoice(content: String) async throws {
        try await TemporaryFolder.with { folder in
            let system = System(folder: folder.path)
            try await system.start().save(pin, for: "pin")
            let path = try folder.file("storage", Data(content.utf8))
            chmod(path, 0o600)
            let storage = system.start()
            let failure = await #expect(throws: StorageError.self) { try await storage.read("pin") }
            #expect(failure?.kind == .corrupt)
            await #expect(throws: StorageError.self) { try await storage.save(pin, for: "pin") }
            #expect(await system.keyring.read("pin") == pin)
        }
    }

    @Test("a single candidate is used without a file for the choice") func single() async throws {
        try await TemporaryFolder.with { folder in
            let storage = PlatformStorage(
                candidates: [.init(kind: .files, storage: InMemoryStorage()) { nil }], folder: folder.path)
            try await storage.save(pin, for: "pin")
            #expect(try await storage.choice() == .files(reason: "it is the only one"))
            #expect(try await storage.read("pin") == pin)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        }
    }

    #if os(Linux)
        @Test("a system without a desktop uses files") func server() async throws {
            try await TemporaryFolder.with { folder -> Void in
                await #expect(processExitsWith: .success) { [folder = folder.path as String] in
                    // The environment variables by which GLib finds a bus.
                    for name in ["DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY"] { unsetenv(name) }
                    setenv("XDG_RUNTIME_DIR", folder, 1)
                    setenv("XDG_STATE_HOME", folder, 1)
                    let store: AnyTokenStore = .platformDefault(service: "com.example.app")
                    let record = StoredSession(
                        id: SessionID(), tokens: Tokens(accessToken: "s3cret", refreshToken: nil))
                    #expect(await store.read().isEmpty)
                    try await store.write(record)
                    let choice = try await store.choice()
                    #expect(choice?.isFiles == true && choice?.reason.contains("secretService: ") == true)
                    let again: AnyTokenStore = .platformDefault(service: "com.example.app")
                    #expect(await again.read() == .found(record))
                    let files = FilesAtRest(below: folder)
                    #expect(
                        files.paths(holding: "s3cret") == [folder + "/com.example.app/secrets/session.value"])
                    #expect(files.openToOthers.isEmpty)
                }
            }
        }
    #endif

    @Test("several accounts and the current one are stored separately") func accounts() async throws {
        try await TemporaryFolder.with { folder in
            let storage = InMemoryStorage()
            await storage.save(pin, for: "pin")
            let store = SecureAccountStore(storage: storage, folder: folder.path)
            let records = ["ada", "", "Ada/ünï %"].map {
                (AccountID(rawValue: $0), StoredSession(id: SessionID(), tokens: .fresh()))
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

extension StorageChoice {
    var isFiles: Bool { if case .files = self { true } else { false } }

    var reason: String {
        switch self {
        case .keychain, .loginKeychain: ""
        case .secretService(let reason), .files(let reason): reason
        }
    }
}
