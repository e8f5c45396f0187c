#if os(Linux)
    import Foundation
    import MartletTesting
    import Testing

    @testable import Martlet

    /// What every test saves, and no failure may tell.
    private let secret = Data("hunter2-hunter2-hunter2".utf8)

    private let storage = SecretServiceStorage(service: "com.example.app", timeout: .seconds(30))

    /// What the tests do in their child processes.
    private enum Keyring {
        /// Calls `body` with a desktop that has a bus and an unlocked keyring.
        static func with(_ folder: String, _ body: (Desktop) async throws -> Void) async throws {
            do {
                let desktop = try Desktop(folder)
                try await desktop.startBus()
                try await desktop.startKeyring()
                try await body(desktop)
                await desktop.stop()
            } catch {
                // An error that leaves the process tells nobody what it was.
                Issue.record(error)
            }
        }

        /// Expects all calls to fail, in the same way and without telling the secret.
        static func expectFailure(
            _ kind: StorageFailure.Kind, mentioning text: String = "", of storage: SecretServiceStorage = storage,
            key: String = "key", sourceLocation: SourceLocation = #_sourceLocation
        ) async {
            let failures = await [
                failure { () async throws(StorageFailure) in _ = try await storage.read(key) },
                failure { () async throws(StorageFailure) in try await storage.save(secret, for: key) },
                failure { () async throws(StorageFailure) in try await storage.delete(key) },
                failure { () async throws(StorageFailure) in _ = try await storage.keys() },
            ]
            for failure in failures {
                #expect(failure?.kind == kind, sourceLocation: sourceLocation)
                let description = failure.map { "\($0) \(String(reflecting: $0))" } ?? ""
                #expect(description.contains(text), sourceLocation: sourceLocation)
                #expect(!description.contains("hunter2"), sourceLocation: sourceLocation)
                #expect(!description.contains(secret.base64EncodedString()), sourceLocation: sourceLocation)
            }
        }

        /// Whether GLib would raise SIGTERM where the bus goes away. It does so on the thread that hears of it, which may
        /// have that signal blocked.
        static func busEndsProcess(_ call: SecretServiceCall) -> Bool? {
            typealias Getter = @convention(c) (LibSecret.Pointer) -> Int32
            let getter = dlopen("libgio-2.0.so.0", RTLD_NOW).flatMap {
                dlsym($0, "g_dbus_connection_get_exit_on_close").map { unsafeBitCast($0, to: Getter.self) }
            }
            let bus = call.cancellable.use { cancellable in
                try? call.library.check { call.library.connectToBus(2, cancellable, $0) }
            }
            guard let getter, let bus = GLibObject(bus ?? nil, call.library) else { return nil }
            return bus.use { getter($0) != 0 }
        }

        private static func failure(_ body: () async throws(StorageFailure) -> Void) async -> StorageFailure? {
            do throws(StorageFailure) {
                try await body()
                return nil
            } catch {
                return error
            }
        }
    }

    @Suite(
        "The desktop's keyring", .enabled(if: Desktop.isInstalled, Desktop.isMissing), .timeLimit(.minutes(2)),
        .serialized)
    struct SecretServiceTests {
        @Test("keeps values: any bytes, up to a megabyte, under any key, in place of what was there")
        func values() async throws {
            try await Desktop.withFolder { folder in
                await #expect(processExitsWith: .success) { [folder = folder as String] in
                    try await Keyring.with(folder) { _ in
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

        @Test("keeps a session as every store does, and none of it in a file") func session() async throws {
            try await Desktop.withFolder { folder in
                await #expect(processExitsWith: .success) { [folder = folder as String] in
                    try await Keyring.with(folder) { _ in
                        setenv("XDG_STATE_HOME", folder + "/state", 1)
                        let contract = TokenStoreContract {
                            SecretServiceTokenStore(service: "com.example.app", timeout: .seconds(30))
                        } put: { bytes in
                            try await storage.save(bytes, for: "session")
                        }
                        try await contract.hold()

                        let store: SecureTokenStore = .platformDefault(service: "com.example.app")
                        #expect(try await store.choice().kind == .secretService)
                        let record = StoredSession(
                            id: SessionID(), bundle: TokenBundle(accessToken: "s3cret-access", refreshToken: "s3cret"))
                        try await store.write(record)
                        #expect(
                            await SecretServiceTokenStore(service: "com.example.app").read() == .found(record),
                            "the session is where its own store looks for it")
                        let again: SecureTokenStore = .platformDefault(service: "com.example.app")
                        #expect(await again.read() == .found(record))
                        #expect(try await again.choice().reason.contains("chosen before"))
                        let files = FilesAtRest(below: folder + "/state")
                        #expect(files.paths(holding: "s3cret").isEmpty)
                        #expect(files.openToOthers.isEmpty)
                    }
                }
            }
        }

        @Test("keeps two apps apart, and two storages of one together") func services() async throws {
            try await Desktop.withFolder { folder in
                await #expect(processExitsWith: .success) { [folder = folder as String] in
                    try await Keyring.with(folder) { _ in
                        let other = SecretServiceStorage(service: "com.example", timeout: .seconds(30))
                        let same = SecretServiceStorage(service: "com.example.app", timeout: .seconds(30))
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

        @Test("serves many at once, and finishes for a task that is cancelled") func many() async throws {
            try await Desktop.withFolder { folder in
                await #expect(processExitsWith: .success) { [folder = folder as String] in
                    try await Keyring.with(folder) { _ in
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

        @Test("has one value where another program has left several") func duplicates() async throws {
            try await Desktop.withFolder { folder in
                await #expect(processExitsWith: .success) { [folder = folder as String] in
                    try await Keyring.with(folder) { _ in
                        func duplicate() async throws {
                            try await storage.save(Data("1".utf8), for: "key")
                            for number in 2...3 {
                                var attributes = storage.attributes("key")
                                attributes["copy"] = "\(number)"
                                try await SecretServiceLink.shared.run(within: .seconds(30)) {
                                    [attributes] call throws(StorageFailure) in
                                    try call.save(Data("\(number)".utf8), attributes, label: "a copy")
                                }
                            }
                        }
                        func count() async throws -> Int {
                            let attributes = storage.attributes("key")
                            return try await SecretServiceLink.shared.run(within: .seconds(30)) {
                                call throws(StorageFailure) in
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

        @Test("is found again by a process that outlives the daemon") func restartedDaemon() async throws {
            try await Desktop.withFolder { folder in
                await #expect(processExitsWith: .success) { [folder = folder as String] in
                    try await Keyring.with(folder) { desktop in
                        try await storage.save(secret, for: "key")
                        for _ in 1...3 {
                            await desktop.stopKeyring()
                            await Keyring.expectFailure(.unreachable, mentioning: "no Secret Service answers")
                            try await desktop.startKeyring()
                            #expect(try await storage.read("key") == secret)
                            await desktop.stopKeyring()
                            try await desktop.startKeyring()
                            try await storage.save(secret, for: "key")
                        }
                    }
                }
            }
        }

        @Test("does not end a process whose bus goes away, and is found on the next one")
        func restartedBus() async throws {
            try await Desktop.withFolder { folder in
                await #expect(processExitsWith: .success) { [folder = folder as String] in
                    try await Keyring.with(folder) { desktop in
                        try await storage.save(secret, for: "key")
                        try await SecretServiceLink.shared.run(within: .seconds(30)) { call throws(StorageFailure) in
                            #expect(Keyring.busEndsProcess(call) == false)
                        }
                        await desktop.stopBus()
                        await Keyring.expectFailure(.unreachable, mentioning: "no session bus")
                        await desktop.stopKeyring()
                        try await desktop.startBus()
                        try await desktop.startKeyring()
                        #expect(try await storage.read("key") == secret)
                    }
                }
            }
        }

        @Test("says that nobody knows while it is locked") func locked() async throws {
            try await Desktop.withFolder { folder in
                await #expect(processExitsWith: .success) { [folder = folder as String] in
                    try await Keyring.with(folder) { desktop in
                        try await storage.save(secret, for: "key")
                        try await desktop.lockKeyring()
                        await Keyring.expectFailure(.locked, mentioning: "unlock it")
                        await Keyring.expectFailure(.locked, mentioning: "unlock it", key: "another")
                        #expect(await storage.availability() == nil)
                        await desktop.stopKeyring()
                        try await desktop.startKeyring(unlocked: false)
                        await Keyring.expectFailure(.locked, mentioning: "unlock it")
                        await Keyring.expectFailure(.locked, mentioning: "unlock it", key: "another")
                        await desktop.stopKeyring()
                        try await desktop.startKeyring()
                        #expect(try await storage.read("key") == secret)
                        #expect(try await storage.keys() == ["key"])
                    }
                }
            }
        }

        @Test("does not take a copy that is open for what is locked") func halfLocked() async throws {
            try await Desktop.withFolder { folder in
                await #expect(processExitsWith: .success) { [folder = folder as String] in
                    try await Keyring.with(folder) { desktop in
                        try await storage.save(secret, for: "key")
                        var copy = storage.attributes("key")
                        copy["copy"] = "1"
                        try await SecretServiceLink.shared.run(within: .seconds(30)) {
                            [copy] call throws(StorageFailure) in
                            var call = call
                            call.keyring = "session"
                            try call.save(Data("copy".utf8), copy, label: "a copy")
                        }
                        try await desktop.lockKeyring()
                        await Keyring.expectFailure(.locked, mentioning: "unlock it")
                    }
                }
            }
        }

        @Test("is missing where there is no bus, no service, no default keyring") func missing() async throws {
            try await Desktop.withFolder { folder in
                await #expect(processExitsWith: .success) { [folder = folder as String] in
                    let desktop = try Desktop(folder)
                    await Keyring.expectFailure(.unreachable, mentioning: "no session bus")
                    #expect(await storage.availability()?.kind == .unreachable)
                    try await desktop.startBus()
                    await Keyring.expectFailure(.unreachable, mentioning: "no Secret Service answers")
                    #expect(await storage.availability()?.kind == .unreachable)
                    try await desktop.startKeyring(unlocked: false)
                    await Keyring.expectFailure(.unreachable, mentioning: "no default keyring")
                    #expect(await storage.availability()?.kind == .unreachable)
                    await desktop.stopKeyring()
                    try await desktop.startKeyring()
                    #expect(await storage.availability() == nil)
                    #expect(try await storage.read("key") == nil)
                    await desktop.stop()
                }
            }
        }

        @Test("is given up when it hangs, by whoever waits, and serves again when it goes on")
        func hanging() async throws {
            try await Desktop.withFolder { folder in
                await #expect(processExitsWith: .success) { [folder = folder as String] in
                    try await Keyring.with(folder) { desktop in
                        try await storage.save(secret, for: "key")
                        let impatient = SecretServiceStorage(service: "com.example.app", timeout: .milliseconds(200))
                        desktop.freezeKeyring()
                        await Keyring.expectFailure(.unreachable, mentioning: "0.2 seconds", of: impatient)
                        await withTaskGroup(of: Void.self) { group in
                            for _ in 0..<20 {
                                group.addTask {
                                    await Keyring.expectFailure(.unreachable, mentioning: "0.2 seconds", of: impatient)
                                }
                            }
                        }
                        #expect(await impatient.availability()?.kind == .unreachable)
                        // Nobody is in the way of what needs no answer.
                        try await SecretServiceLink.shared.run(within: .seconds(10)) { _ in }
                        desktop.thawKeyring()
                        // The daemon never got as far as to saving or deleting anything.
                        #expect(try await storage.read("key") == secret)
                        try await storage.save(Data("new".utf8), for: "key")
                        #expect(try await storage.read("key") == Data("new".utf8))
                    }
                }
            }
        }
    }

    @Suite("The desktop's keyring, where there is none") struct NoSecretServiceTests {
        @Test("says which package to install where the library is missing, or is another one") func library() async {
            let missing = SecretServiceLink { () throws(StorageFailure) in
                try LibSecret(name: "libmartlet-missing.so.0")
            }
            let storage = SecretServiceStorage(service: "com.example.app", timeout: .seconds(30), link: missing)
            await Keyring.expectFailure(.unreachable, mentioning: "libsecret-1-0", of: storage)
            #expect(await storage.availability()?.kind == .unreachable)

            let wrong = SecretServiceLink { () throws(StorageFailure) in try LibSecret(name: "libc.so.6") }
            await Keyring.expectFailure(
                .unreachable, mentioning: "it has no g_free",
                of: SecretServiceStorage(service: "com.example.app", timeout: .seconds(30), link: wrong))
        }

        @Test("holds nobody longer than the timeout, even if a call never comes back, and begins nothing after it")
        func stuck() async {
            let stuck = DispatchSemaphore(value: 0)
            let begun = Locked(0)
            let link = SecretServiceLink { () throws(StorageFailure) in
                begun.withLock { $0 += 1 }
                stuck.wait()
                throw StorageFailure(.unreachable, "it has come back")
            }
            let impatient = SecretServiceStorage(service: "com.example.app", timeout: .milliseconds(50), link: link)
            await Keyring.expectFailure(.unreachable, mentioning: "0.05 seconds", of: impatient)
            stuck.signal()
            stuck.signal()
            let patient = SecretServiceStorage(service: "com.example.app", timeout: .seconds(30), link: link)
            await #expect(throws: StorageFailure(.unreachable, "it has come back")) {
                try await patient.read("key")
            }
            #expect(begun.withLock { $0 } == 2)
        }

        @Test("has any text as a key, one for each text", arguments: ["", "a", "\0", "%", "%00", "%25", "a\0%b", "é🗝️"])
        func keys(text: String) {
            let escaped = SecretServiceText.escape(text)
            #expect(!escaped.unicodeScalars.contains("\0"))
            #expect(SecretServiceText.unescape(escaped) == text)
        }

        @Test("leaves alone what others have written as a key", arguments: ["%", "%0", "%2", "%41", "a%"])
        func foreignKeys(text: String) {
            #expect(SecretServiceText.unescape(text) == nil)
        }
    }
#endif
