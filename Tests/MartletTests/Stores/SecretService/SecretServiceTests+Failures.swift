#if os(Linux)
    import Foundation
    import MartletTesting
    import Testing

    @testable import Martlet

    @testable import MartletStorage

    private let secret = KeyringFixture.secret
    private let storage = KeyringFixture.storage

    // MARK: - Failures

    extension SecretServiceTests {
        @Test("a restarted daemon is found again") func restartedDaemon() async throws {
            try await Desktop.withFolder { folder in
                await #expect(processExitsWith: .success) { [folder = folder as String] in
                    try await KeyringFixture.with(folder) { desktop in
                        try await storage.save(secret, for: "key")
                        for _ in 1...3 {
                            await desktop.stopKeyring()
                            await KeyringFixture.expectFailure(.unreachable, mentioning: "no Secret Service runs")
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

        @Test("a bus that goes away does not end the process, and the next bus is found")
        func restartedBus() async throws {
            try await Desktop.withFolder { folder in
                await #expect(processExitsWith: .success) { [folder = folder as String] in
                    try await KeyringFixture.with(folder) { desktop in
                        try await storage.save(secret, for: "key")
                        try await SecretServiceLink.shared.run(within: .seconds(30)) { call throws(StorageError) in
                            #expect(KeyringFixture.busEndsProcess(call) == false)
                        }
                        await desktop.stopBus()
                        await KeyringFixture.expectFailure(.unreachable, mentioning: "no session bus")
                        await desktop.stopKeyring()
                        try await desktop.startBus()
                        try await desktop.startKeyring()
                        #expect(try await storage.read("key") == secret)
                    }
                }
            }
        }

        @Test("a locked keyring is reported as locked") func locked() async throws {
            try await Desktop.withFolder { folder in
                await #expect(processExitsWith: .success) { [folder = folder as String] in
                    try await KeyringFixture.with(folder) { desktop in
                        try await storage.save(secret, for: "key")
                        try await desktop.lockKeyring()
                        await KeyringFixture.expectFailure(.locked, mentioning: "unlock it")
                        await KeyringFixture.expectFailure(.locked, mentioning: "unlock it", key: "another")
                        #expect(await storage.availability() == nil)
                        await desktop.stopKeyring()
                        try await desktop.startKeyring(unlocked: false)
                        await KeyringFixture.expectFailure(.locked, mentioning: "unlock it")
                        await KeyringFixture.expectFailure(.locked, mentioning: "unlock it", key: "another")
                        await desktop.stopKeyring()
                        try await desktop.startKeyring()
                        #expect(try await storage.read("key") == secret)
                        #expect(try await storage.keys() == ["key"])
                    }
                }
            }
        }

        @Test("an unlocked copy does not hide that the item is locked") func halfLocked() async throws {
            try await Desktop.withFolder { folder in
                await #expect(processExitsWith: .success) { [folder = folder as String] in
                    try await KeyringFixture.with(folder) { desktop in
                        try await storage.save(secret, for: "key")
                        var copy = storage.attributes("key")
                        copy["copy"] = "1"
                        try await SecretServiceLink.shared.run(within: .seconds(30)) {
                            [copy] call throws(StorageError) in
                            var call = call
                            call.keyring = "session"
                            try call.save(Data("copy".utf8), copy, label: "a copy")
                        }
                        try await desktop.lockKeyring()
                        await KeyringFixture.expectFailure(.locked, mentioning: "unlock it")
                    }
                }
            }
        }

        @Test("without a bus, a service or a default keyring, the keyring is unreachable") func missing() async throws {
            try await Desktop.withFolder { folder in
                await #expect(processExitsWith: .success) { [folder = folder as String] in
                    let desktop = try Desktop(folder)
                    await KeyringFixture.expectFailure(.unreachable, mentioning: "no session bus")
                    #expect(await storage.availability()?.kind == .unreachable)
                    try await desktop.startBus()
                    await KeyringFixture.expectFailure(.unreachable, mentioning: "no Secret Service runs")
                    #expect(await storage.availability()?.kind == .unreachable)
                    try await desktop.startKeyring(unlocked: false)
                    await KeyringFixture.expectFailure(.unreachable, mentioning: "no default keyring")
                    #expect(await storage.availability()?.kind == .unreachable)
                    await desktop.stopKeyring()
                    try await desktop.startKeyring()
                    #expect(await storage.availability() == nil)
                    #expect(try await storage.read("key") == nil)
                    await desktop.stop()
                }
            }
        }

        @Test("a stuck keyring times out for each caller, and works again once it continues")
        func hanging() async throws {
            try await Desktop.withFolder { folder in
                await #expect(processExitsWith: .success) { [folder = folder as String] in
                    try await KeyringFixture.with(folder) { desktop in
                        try await storage.save(secret, for: "key")
                        let impatient = SecretServiceStorage(service: "com.example.app", timeout: .milliseconds(200))
                        desktop.freezeKeyring()
                        await KeyringFixture.expectFailure(.unreachable, mentioning: "0.2 seconds", of: impatient)
                        await withTaskGroup(of: Void.self) { group in
                            for _ in 0..<20 {
                                group.addTask {
                                    await KeyringFixture.expectFailure(
                                        .unreachable, mentioning: "0.2 seconds", of: impatient)
                                }
                            }
                        }
                        #expect(await impatient.availability()?.kind == .unreachable)
                        // A job that needs no response from the daemon is not blocked.
                        try await SecretServiceLink.shared.run(within: .seconds(10)) { _ in }
                        desktop.thawKeyring()
                        // The daemon never processed the requests to save or delete.
                        #expect(try await storage.read("key") == secret)
                        try await storage.save(Data("new".utf8), for: "key")
                        #expect(try await storage.read("key") == Data("new".utf8))
                    }
                }
            }
        }
    }
#endif
