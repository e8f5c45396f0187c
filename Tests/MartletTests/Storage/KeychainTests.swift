import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("The Keychain") struct KeychainTests {
    private let record = StoredSession(id: SessionID(), bundle: .fresh(1))

    @Test("gets one generic password an account, on this device alone, from the first unlocking on") func item()
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

    @Test("keeps no more than one item, however often it is written, by however many") func updates() async throws {
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

    @Test("adds again what somebody deletes between adding and updating, and gives up in the end") func race()
        async throws
    {
        try await KeychainApp.with { app in
            app.keychain.change { $0.answers = [("add", .duplicateItem)] }
            try await app.storage().save(Data("1".utf8), for: "a")
            #expect(app.keychain.state.calls == ["update", "add", "update", "add"])
            app.keychain.change { state in
                state.answers = (0..<20).flatMap { _ in [("add", .duplicateItem), ("update", .itemNotFound)] }
            }
            await #expect(throws: StorageFailure.self) { try await app.store().write(record) }
        }
    }

    @Test(
        "says why it cannot be used",
        arguments: [
            (-25_308, StorageFailure.Kind.locked, "unlocked"), (-128, .locked, "confirm"),
            (-25_293, .locked, "recognised"), (-34_018, .unreachable, "Keychain Sharing"),
            (-26_275, .corrupt, "decoded"), (-25_291, .unreachable, "no Keychain"), (-50, .unreachable, "-50"),
            (-4, .unreachable, "-4"),
        ])
    func failures(status: Int32, kind: StorageFailure.Kind, word: String) async throws {
        try await KeychainApp.with { app in
            let storage = app.storage()
            let uses: [(String, @Sendable (KeychainStorage) async throws -> Void)] = [
                ("copy", { storage in _ = try await storage.read("k") }),
                ("update", { storage in try await storage.save(Data("s3cret".utf8), for: "k") }),
                ("delete", { storage in try await storage.delete("k") }),
                ("copy", { storage in _ = try await storage.keys() }),
            ]
            for (call, use) in uses {
                app.keychain.change { $0.answers = [(call, KeychainStatus(rawValue: status))] }
                let failure = await #expect(throws: StorageFailure.self) { try await use(storage) }
                #expect(failure?.kind == kind)
                #expect(failure?.description.contains(word) == true)
                #expect(failure?.description.contains("com.example.app") == true)
                #expect(failure?.description.contains("s3cret") == false)
            }
        }
    }

    @Test("deletes nothing, and says so, while it cannot be told what there is") func lockedDelete() async throws {
        try await KeychainApp.with { app in
            try await app.store().write(record)
            app.keychain.change { state in
                state.device = .notYetUnlocked
                state.hidesProtected = true
            }
            let store = app.store()
            await #expect(throws: StorageFailure.self) { try await store.delete() }
            await #expect(throws: StorageFailure.self) { try await store.storage.keys() }
            #expect(app.keychain.state.items.count == 1)
        }
    }

    @Test("leaves nothing behind where it made sure that nothing is there, even beside another who does") func probe()
        async throws
    {
        try await KeychainApp.with { app in
            #expect(await app.store().read() == .empty)
            #expect(app.keychain.state.items.isEmpty)
            // What a process left that was ended in the middle of it.
            var left = FakeKeychain.Item(
                isLogin: false, accessGroup: "TEAM.com.example.app", service: "com.example.app.probe", account: "probe",
                data: Data(), accessible: .afterFirstUnlockThisDeviceOnly)
            app.keychain.change { $0.items = [left] }
            #expect(await app.store().read() == .empty)
            #expect(app.keychain.state.items.isEmpty)
            left.account = "probe"
            app.keychain.change { state in
                state.items = [left]
                state.answers = [("update", .itemNotFound)]
            }
            #expect(await app.store().read() == .empty)
        }
    }

    @Test(
        "a session that only an unlocked device may read is unavailable while it is locked", arguments: [true, false])
    func whenUnlocked(isHidden: Bool) async throws {
        try await KeychainApp.with { app in
            var app = app
            app.settings.accessibility = .whenUnlockedThisDeviceOnly
            try await app.store().write(record)
            app.keychain.change { state in
                state.device = .locked
                state.hidesProtected = isHidden
            }
            guard case .unavailable(let failure) = await app.store().read() else {
                Issue.record("nobody could have read that")
                return
            }
            #expect(failure.kind == .locked)
            app.unlock()
            #expect(await app.store().read() == .found(record))
        }
    }

    @Test("is shared by the members of an access group, and closed to others") func accessGroup() async throws {
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
                Issue.record("the group is not this process's")
                return
            }
            #expect(failure.description.contains("access group"))
        }
    }

    @Test("on a Mac: a process that is not signed uses the login keychain, and can tell") func loginFallback()
        async throws
    {
        let keychain = FakeKeychain()
        keychain.change { $0.groups = [] }
        try await KeychainApp.with(keychain) { app in
            var app = app
            app.hasLogin = true
            let store = app.store()
            #expect(await store.read() == .empty)
            #expect(store.storage.usesLoginKeychain)
            try await store.write(record)
            try await store.write(record)
            #expect(await app.store().read() == .found(record))
            #expect(keychain.state.items.map(\.isLogin) == [true])
            try await store.delete()
            #expect(keychain.state.items.isEmpty)
        }
    }

    @Test("on a Mac: there is no other way where that was not wanted, or an access group is asked for")
    func noFallback() async throws {
        let keychain = FakeKeychain()
        keychain.change { $0.groups = [] }
        try await KeychainApp.with(keychain) { app in
            var app = app
            for (hasLogin, mac, group) in [
                (true, .dataProtection, nil), (false, .dataProtectionOrLogin, nil),
                (false, .login, nil), (true, .dataProtectionOrLogin, "group.com.example"),
            ] as [(Bool, MacKeychain, String?)] {
                app.hasLogin = hasLogin
                app.settings.macKeychain = mac
                app.settings.accessGroup = group
                let store = app.store()
                await #expect(throws: StorageFailure.self) { try await store.write(record) }
                #expect(!store.storage.usesLoginKeychain)
            }
            #expect(keychain.state.items.isEmpty)
        }
    }

    @Test("on a Mac: the login keychain can be asked for") func login() async throws {
        try await KeychainApp.with { app in
            var app = app
            app.hasLogin = true
            app.settings.macKeychain = .login
            app.settings.authentication = .userPresence("Open your account")
            try await app.store().write(record)
            #expect(await app.store().read() == .found(record))
            #expect(app.keychain.state.items.map(\.isLogin) == [true])
            #expect(app.keychain.state.prompts.isEmpty)
        }
    }

    @Test("asks the person once, until the store is locked") func authentication() async throws {
        try await KeychainApp.with { app in
            var app = app
            app.settings.authentication = .userPresence("Open your account")
            let store = app.store()
            try await store.write(record)
            #expect(await store.read() == .found(record))
            try await store.write(record)
            #expect(await store.read() == .found(record))
            #expect(app.keychain.state.prompts == ["Open your account"])
            store.storage.lock()
            #expect(await store.read() == .found(record))
            #expect(app.keychain.state.prompts.count == 2)
            #expect(app.keychain.state.items.map(\.requirement) == [.userPresence])
        }
    }

    @Test(
        "is unavailable, not empty, to who does not confirm",
        arguments: [FakeKeychain.Person.declines, .isNotRecognised])
    func declined(person: FakeKeychain.Person) async throws {
        try await KeychainApp.with { app in
            var app = app
            app.settings.authentication = .currentBiometry("Open your account")
            let store = app.store()
            try await store.write(record)
            app.keychain.change { $0.person = person }
            guard case .unavailable(let failure) = await store.read() else {
                Issue.record("the person did not confirm")
                return
            }
            #expect(failure.kind == .locked)
            app.keychain.change { $0.person = .confirms }
            #expect(await store.read() == .found(record))
        }
    }

    @Test("keeps other secrets by key, and none of them is mistaken for another") func secrets() async throws {
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

    @Test("a session that is written under another default group does not get a second item") func defaultGroup()
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

    @Test("nobody is asked for no reason: not when the device is unlocked, nor for what an earlier installation left")
    func uninvited() async throws {
        try await KeychainApp.with { app in
            var app = app
            app.settings.authentication = .userPresence("Open your account")
            app.settings.reinstallPolicy = .forget(folder: app.folder)
            #expect(app.store().changes() == nil)
            try await app.store().write(record)
            try app.reinstall()
            #expect(await app.store().read() == .empty)
            #expect(app.keychain.state.prompts.isEmpty)
        }
    }

    @Test("a device that is unlocked between the two looks has what it has") func unlockedInBetween() async throws {
        try await KeychainApp.with { app in
            try await app.store().write(record)
            app.keychain.change { $0.answers = [("copy", .itemNotFound)] }
            #expect(await app.store().read() == .found(record))
        }
    }

    @Test("an item of an older version that only an unlocked device shows is not taken for missing") func olderHidden()
        async throws
    {
        try await KeychainApp.with { app in
            var old = app
            old.settings.accessibility = .whenUnlocked
            try await old.store().write(record)
            app.keychain.change { state in
                state.device = .locked
                state.hidesProtected = true
            }
            guard case .unavailable = await app.store().read() else {
                Issue.record("it is there, and hidden")
                return
            }
            let store = app.store()
            let failure = await #expect(throws: StorageFailure.self) { try await store.write(record) }
            #expect(failure?.kind == .locked)
            app.unlock()
            #expect(await app.store().read() == .found(record))
        }
    }

    // MARK: - Reinstalling

    @Test("keeps a session over a new installation unless it is told otherwise") func keeps() async throws {
        try await KeychainApp.with { app in
            try await app.store().write(record)
            try app.reinstall()
            #expect(await app.store().read() == .found(record))
        }
    }

    @Test("an item from before the policy was chosen is kept, and gets the number of the installation") func unmarked()
        async throws
    {
        try await KeychainApp.with { app in
            var app = app
            try await app.store().write(record)
            app.settings.reinstallPolicy = .forget(folder: app.folder)
            #expect(await app.store().read() == .found(record))
            try await app.store().write(record)
            try app.reinstall()
            #expect(await app.store().read() == .empty)
        }
    }

    @Test("two processes that start at once agree on the number of the installation") func markers() async throws {
        try await TemporaryFolder.with { folder in
            let numbers = await withTaskGroup(of: Data?.self) { group in
                for _ in 0..<50 { group.addTask { InstallMarker(folder: folder.path + "/new").make() } }
                return await group.reduce(into: Set<Data?>()) { $0.insert($1) }
            }
            #expect(numbers.count == 1 && !numbers.contains(nil))
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/new")
            #expect(names == ["installation"])
        }
    }

    @Test("a session is stored even where the installation can have no number") func unmarkable() async throws {
        try await KeychainApp.with { app in
            var app = app
            app.settings.reinstallPolicy = .forget(folder: "/proc/martlet")
            let storage = app.storage()
            try await storage.save(Data("1".utf8), for: "a")
            #expect(try await storage.read("a") == Data("1".utf8))
        }
    }
}
