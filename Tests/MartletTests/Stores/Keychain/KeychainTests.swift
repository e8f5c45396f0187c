import Foundation
import MartletTestSupport
import MartletTesting
import Testing

@testable import Martlet
@testable import MartletStorage

@Suite("The Keychain", .noBlockingCalls, .timeLimit(.minutes(10))) struct KeychainTests {
    private let record = StoredSession(id: SessionID(), tokens: .fresh(1))

    @Test("each account has one generic password on this device, readable after the first unlock") func item()
        async throws
    {
        try await KeychainApp.with { app in
            try await app.store().write(record)
            try await app.store(account: "ada").write(record)
            let items = app.keychain.state.items
            #expect(items.map(\.account) == ["session", "ada"])
            #expect(items.allSatisfy { $0.service == "com.example.app" && !$0.isLogin && $0.requirement == nil })
            #expect(items.allSatisfy { $0.accessible == .afterFirstUnlockThisDeviceOnly })
            #expect(items.allSatisfy { $0.accessGroup == "TEAM.com.example.app" })
        }
    }

    @Test("concurrent writes leave one item") func updates() async throws {
        try await KeychainApp.with { app in
            let stores = [app.store(), app.store()]
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<100 {
                    group.addTask { [record] in
                        var record = record
                        record.rotation = number
                        try await stores[number % 2].write(record)
                    }
                }
                try await group.waitForAll()
            }
            #expect(app.keychain.state.items.count == 1)
            try await stores[0].delete()
            #expect(app.keychain.state.items.isEmpty)
        }
    }

    @Test(
        "a write retries if the item is deleted between adding and updating, and fails after several attempts")
    func race()
        async throws
    {
        try await KeychainApp.with { app in
            app.keychain.change { $0.responses = [("add", .duplicateItem)] }
            try await app.storage().save(Data("1".utf8), for: "a")
            #expect(app.keychain.state.calls == ["update", "add", "update", "add"])
            app.keychain.change { state in
                state.responses = (0..<20).flatMap { _ in [("add", .duplicateItem), ("update", .itemNotFound)] }
            }
            await #expect(throws: StorageError.self) { try await app.store().write(record) }
        }
    }

    @Test(
        "each status code has its own error",
        arguments: [
            (-25_308, StorageError.Kind.locked, "unlock it"), (-128, .locked, "dismissed"),
            (-25_293, .locked, "failed to authenticate"), (-34_018, .unreachable, "Keychain Sharing"),
            (-26_275, .corrupt, "damaged"), (-25_291, .unreachable, "no Keychain"), (-50, .unreachable, "-50"),
            (-4, .unreachable, "-4"),
        ])
    func failures(status: Int32, kind: StorageError.Kind, word: String) async throws {
        try await KeychainApp.with { app in
            let storage = app.storage()
            let uses: [(String, @Sendable (KeychainStorage) async throws -> Void)] = [
                ("copy", { storage in _ = try await storage.read("k") }),
                ("update", { storage in try await storage.save(Data("s3cret".utf8), for: "k") }),
                ("delete", { storage in try await storage.delete("k") }),
                ("copy", { storage in _ = try await storage.keys() }),
            ]
            for (call, use) in uses {
                app.keychain.change { $0.responses = [(call, KeychainStatus(rawValue: status))] }
                let failure = await #expect(throws: StorageError.self) { try await use(storage) }
                #expect(failure?.kind == kind)
                #expect(failure?.description.contains(word) == true)
                #expect(failure?.description.contains("com.example.app") == true)
                #expect(failure?.description.contains("s3cret") == false)
            }
        }
    }

    @Test("the probe for an empty Keychain leaves nothing behind, even beside another probe") func probe()
        async throws
    {
        try await KeychainApp.with { app in
            #expect(await app.store().read().isEmpty)
            #expect(app.keychain.state.items.isEmpty)
            // The item of a process that was terminated during its probe.
            var left = FakeKeychain.Item(
                isLogin: false, accessGroup: "TEAM.com.example.app", service: "com.example.app.probe", account: "probe",
                data: Data(), accessible: .afterFirstUnlockThisDeviceOnly)
            app.keychain.change { $0.items = [left] }
            #expect(await app.store().read().isEmpty)
            #expect(app.keychain.state.items.isEmpty)
            left.account = "probe"
            app.keychain.change { state in
                state.items = [left]
                state.responses = [("update", .itemNotFound)]
            }
            #expect(await app.store().read().isEmpty)
        }
    }

    @Test("an item is shared within its access group only") func accessGroup() async throws {
        let keychain = FakeKeychain()
        keychain.change { $0.groups = ["TEAM.com.example.app", "group.com.example"] }
        try await KeychainApp.with(keychain) { app in
            var app = app
            app.settings.accessGroup = "group.com.example"
            try await app.store().write(record)
            keychain.change { $0.groups = ["TEAM.com.example.widget", "group.com.example"] }
            #expect(await app.store().read() == .found(record))
            keychain.change { $0.groups = ["TEAM.com.example.widget"] }
            guard case .unavailable(let failure) = await app.store().read() else {
                Issue.record("a process outside the group read the item")
                return
            }
            #expect(failure.description.contains("access group"))
        }
    }

    @Test("values are stored separately under their keys") func secrets() async throws {
        try await KeychainApp.with { app in
            let storage = app.storage()
            try await storage.save(Data("1".utf8), for: "a")
            try await storage.save(Data("2".utf8), for: "b")
            try await app.store().write(record)
            #expect(try await storage.keys() == ["a", "b", "session"])
            #expect(try await storage.read("a") == Data("1".utf8))
            #expect(try await storage.read("c") == nil)
        }
    }

    @Test("a new default access group does not create a second item") func defaultGroup()
        async throws
    {
        try await KeychainApp.with { app in
            try await app.store().write(record)
            app.keychain.change { $0.groups = ["TEAM.shared", "TEAM.com.example.app"] }
            var renewed = record
            renewed.rotation = 1
            try await app.store().write(renewed)
            #expect(app.keychain.state.items.count == 1)
            #expect(await app.store().read() == .found(renewed))
        }
    }
}
