#if !os(macOS)
    import Foundation
    import Security
    import Testing

    @testable import Martlet
    @testable import MartletStorage

    @Suite("Protection of Keychain items", .serialized, .timeLimit(.minutes(10)))
    struct ProtectionTests {
        private let fixture = KeychainFixture()

        @Test(
            "An item has the class of protection that it is written with",
            arguments: [
                KeychainAccessibility.afterFirstUnlock, .afterFirstUnlockThisDeviceOnly, .whenUnlocked,
                .whenUnlockedThisDeviceOnly,
            ])
        func classes(accessibility: KeychainAccessibility) async throws {
            defer { fixture.clear() }
            try await fixture.storage { $0.accessibility = accessibility }.save(Data([1]), for: "one")
            #expect(found(of: "one") == name(accessibility))
        }

        @Test("An item with another class is found, and gets the configured one when it is read")
        func adjustment() async throws {
            defer { fixture.clear() }
            try await fixture.storage { $0.accessibility = .whenUnlocked }.save(Data([1]), for: "one")
            #expect(try await fixture.storage().read("one") == Data([1]))
            #expect(found(of: "one") == name(.afterFirstUnlockThisDeviceOnly))
        }

        @Test("An item that demands the user is written and listed without a prompt, or needs a passcode")
        func accessControl() async throws {
            defer { fixture.clear() }
            let storage = fixture.storage { $0.authentication = .userPresence("Run the tests") }
            do throws(StorageError) {
                try await storage.save(Data([1]), for: "one")
            } catch {
                // A simulator without a passcode.
                #expect(error.kind == .locked)
                return
            }
            #expect(fixture.systemAttributes(of: "one")?[kSecAttrAccessControl as String] != nil)
            #expect(try await storage.keys() == ["one"])
        }

        @Test("The item of a session is written without a prompt, and has a class instead of access control")
        func session() async throws {
            defer { fixture.clear() }
            let storage = fixture.storage { $0.authentication = .userPresence("Run the tests") }.forSessions()
            for byte in UInt8(1)...2 {
                try await storage.save(Data([byte]), ofSession: "A", for: "session")
                #expect(found(of: "session") == name(.afterFirstUnlockThisDeviceOnly))
            }
        }

        @Test("An item in a shared access group is found with and without its name")
        func accessGroup() async throws {
            defer { fixture.clear() }
            try await fixture.storage().save(Data([1]), for: "one")
            let attributes = try #require(fixture.systemAttributes(of: "one"))
            // The first group of the entitlements, with the prefix of the team.
            let group = try #require(attributes[kSecAttrAccessGroup as String] as? String)
            #expect(group.hasSuffix("com.example.martlet.AppleTestsHost"))
            #expect(try await fixture.storage { $0.accessGroup = group }.read("one") == Data([1]))
            let shared = group.replacing("AppleTestsHost", with: "AppleTests.shared")
            #expect(try await fixture.storage { $0.accessGroup = shared }.read("one") == nil)
            try await fixture.storage { $0.accessGroup = shared }.save(Data([2]), for: "two")
            #expect(try await fixture.storage().read("two") == Data([2]))
        }

        @Test("An item that iCloud Keychain synchronizes is not found, and Martlet writes none")
        func synchronizable() async throws {
            defer { fixture.clear() }
            let status = fixture.add(Data([1]), account: "theirs", [kSecAttrSynchronizable as String: true])
            #expect(status == errSecSuccess)
            #expect(try await fixture.storage().read("theirs") == nil)
            try await fixture.storage().save(Data([2]), for: "ours")
            let isSynchronizable = fixture.systemAttributes(of: "ours")?[kSecAttrSynchronizable as String] as? Bool
            #expect(isSynchronizable != true)
        }

        @Test("A mark of the installation lets the items of an earlier installation go")
        func reinstallation() async throws {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(fixture.service).path
            defer {
                fixture.clear()
                try? FileManager.default.removeItem(atPath: folder)
            }
            let storage = fixture.storage { $0.reinstallMarkerFolder = folder }
            try await storage.save(Data([1]), for: "one")
            #expect(try await storage.read("one") == Data([1]))
            try FileManager.default.removeItem(atPath: folder)
            #expect(try await storage.read("one") == nil)
        }

        /// The class of an item by the name that the system has for it.
        private func found(of account: String) -> String? {
            fixture.systemAttributes(of: account)?[kSecAttrAccessible as String] as? String
        }

        private func name(_ accessibility: KeychainAccessibility) -> String {
            switch accessibility {
            case .afterFirstUnlock:
                kSecAttrAccessibleAfterFirstUnlock as String
            case .afterFirstUnlockThisDeviceOnly:
                kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly as String
            case .whenUnlocked:
                kSecAttrAccessibleWhenUnlocked as String
            case .whenUnlockedThisDeviceOnly:
                kSecAttrAccessibleWhenUnlockedThisDeviceOnly as String
            case .whenPasscodeSetThisDeviceOnly:
                kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly as String
            }
        }
    }
#endif
