import Foundation
import MartletTesting
import Testing

@testable import Martlet
@testable import MartletAdoption
@testable import MartletStorage

@Suite("Adopting another library's Keychain item", .timeLimit(.minutes(10))) struct KeychainAdoptionTests {
    private let item = KeychainItem(service: "com.other.library", account: "credentials")
    private let old = Tokens(accessToken: "old-access", refreshToken: "old-refresh")

    private func keychain() -> FakeKeychain {
        let keychain = FakeKeychain()
        keychain.change { state in
            state.items = [
                FakeKeychain.Item(
                    isLogin: false, accessGroup: "TEAM.com.example.app", service: "com.other.library",
                    account: "credentials", data: Data("old-access old-refresh".utf8), accessible: .whenUnlocked)
            ]
        }
        return keychain
    }

    private struct Strange: Error {}

    @Sendable private static func decode(_ data: Data) throws -> Tokens {
        let parts = String(decoding: data, as: UTF8.self).split(separator: " ").map(String.init)
        return Tokens(accessToken: Secret(parts[0]), refreshToken: Secret(parts[1]))
    }

    @Test("an item is adopted once, and a later sign-out is final") func once() async throws {
        try await KeychainApp.with(keychain()) { app in
            #expect(try await app.store().adopt(item, Self.decode))
            guard case .found(let session) = await app.store().read() else {
                Issue.record("nothing was adopted")
                return
            }
            #expect(session.tokens == old)
            #expect(try await app.store().adopt(item, Self.decode) == false)
            try await app.store().delete()
            #expect(try await app.store().adopt(item, Self.decode) == false)
            #expect(await app.store().read().isEmpty)
            #expect(app.keychain.state.items.contains { $0.service == "com.other.library" })
        }
    }

    @Test(
        "a backup that has the item also has the record of its adoption, whatever protects the session",
        arguments: [false, true])
    func recordInBackups(confirmsUser: Bool) async throws {
        try await KeychainApp.with(keychain()) { app in
            var app = app
            if confirmsUser { app.settings.authentication = .userPresence("Sign in") }
            #expect(try await app.store().adopt(item, Self.decode))
            let record = try #require(app.keychain.state.items.first { $0.service.hasSuffix(".adopted") })
            #expect(record.accessible == .afterFirstUnlock && record.requirement == nil)
            let session = try #require(app.keychain.state.items.first { $0.account == "session" })
            #expect(session.accessible != .afterFirstUnlock)
            #expect(try await app.store().adopt(item, Self.decode) == false)
        }
    }

    /// The names of a user of Amplify, and the name under which it has stored the key of the device.
    struct DeviceName {
        var inputUsername: String?
        var stored: String
        var isDamaged = false
    }

    @Test(
        "Amplify's second item has the key of the device that Cognito remembers",
        arguments: [
            DeviceName(stored: "ada.l"), DeviceName(stored: "Ada.L"), DeviceName(stored: "ada.l", isDamaged: true),
            DeviceName(inputUsername: "Ada@example.com", stored: "ada@example.com"),
            DeviceName(inputUsername: "Ada@example.com", stored: "Ada.L"),
        ])
    func amplifyDevice(name: DeviceName) async throws {
        let keychain = FakeKeychain()
        let service = "com.amplify.awsCognitoAuthPlugin"
        let input = name.inputUsername.map { #""inputUsername":"\#($0)","# } ?? ""
        let session =
            #"{"userPoolOnly":{"signedInData":{"userId":"7","username":"Ada.L",\#(input)"deviceMetadata":{"noData":{}},"#
            + #""cognitoUserPoolTokens":{"idToken":"i","accessToken":"a","refreshToken":"r","expiration":9e8}}}}"#
        let device = #"{"metadata":{"_0":{"deviceKey":"eu_1","deviceGroupKey":"g","deviceSecret":"s"}}}"#
        keychain.change { state in
            let second = ("\(name.stored).deviceMetadata", name.isDamaged ? "{" : device)
            state.items = [("session", session), second].map {
                FakeKeychain.Item(
                    isLogin: false, accessGroup: "TEAM.com.example.app", service: service,
                    account: "amplify.eu_pool.\($0)", data: Data($1.utf8), accessible: .whenUnlocked)
            }
        }
        try await KeychainApp.with(keychain) { app in
            let former = FormerTokens.keychain(
                service: service, account: "amplify.eu_pool.session", writtenBy: .amplify)
            let isAdopted = try await AnyTokenStore(app.store()).adopt(former)
            #expect(isAdopted)
            let fields = await app.store().read().tokens?.additionalFields
            #expect(fields == (name.isDamaged ? ["id_token": "i"] : ["id_token": "i", "DeviceKey": "eu_1"]))
        }
    }

    @Test("an item that iCloud Keychain synchronizes is adopted, and stays for the other devices") func synchronizable()
        async throws
    {
        let keychain = keychain()
        keychain.change { $0.items[0].isSynchronizable = true }
        try await KeychainApp.with(keychain) { app in
            let isAdopted = try await app.store().adopt(item, deletingIt: true, Self.decode)
            #expect(isAdopted)
            #expect(await app.store().read().tokens == old)
            #expect(
                app.keychain.state.items.allSatisfy { $0.isSynchronizable == ($0.service == "com.other.library") })
            #expect(app.keychain.state.items.contains { $0.service == "com.other.library" })
        }
    }

    @Test("this device's own item is adopted before a synchronized one, and only it is deleted") func both()
        async throws
    {
        let keychain = keychain()
        keychain.change { state in
            var copy = state.items[0]
            copy.isSynchronizable = true
            copy.data = Data("other-access other-refresh".utf8)
            state.items.insert(copy, at: 0)
        }
        try await KeychainApp.with(keychain) { app in
            let isAdopted = try await app.store().adopt(item, deletingIt: true, Self.decode)
            #expect(isAdopted)
            #expect(await app.store().read().tokens == old)
            #expect(
                app.keychain.state.items.filter { $0.service == "com.other.library" }.map(\.isSynchronizable) == [true])
        }
    }

    @Test("on a Mac, an item of the login keychain is adopted by a store in the other one, and deleted") func login()
        async throws
    {
        let keychain = keychain()
        keychain.change { state in
            state.items[0].isLogin = true
            state.items[0].accessGroup = ""
        }
        try await KeychainApp.with(keychain) { app in
            var app = app
            app.hasLogin = true
            let isAdopted = try await app.store().adopt(item, deletingIt: true, Self.decode)
            #expect(isAdopted)
            #expect(await app.store().read().tokens == old)
            #expect(app.keychain.state.items.allSatisfy { !$0.isLogin && $0.service != "com.other.library" })
        }
    }

    @Test(
        "an item of another access group of the app is adopted with its group or without one, and deleted on request",
        arguments: [nil, "group.com.example"] as [String?], [false, true])
    func otherGroup(group: String?, deletesItem: Bool) async throws {
        let keychain = keychain()
        keychain.change { state in
            state.groups.append("group.com.example")
            state.items[0].accessGroup = "group.com.example"
        }
        try await KeychainApp.with(keychain) { app in
            let shared = KeychainItem(service: item.service, account: item.account, accessGroup: group)
            let isAdopted = try await app.store().adopt(shared, deletingIt: deletesItem, Self.decode)
            #expect(isAdopted)
            #expect(await app.store().read().tokens == old)
            let isLeft = app.keychain.state.items.contains { $0.accessGroup == "group.com.example" }
            #expect(isLeft != deletesItem)
        }
    }

    @Test("only the item that was adopted is deleted, not that of another app in a shared group") func sharedGroup()
        async throws
    {
        let keychain = keychain()
        keychain.change { state in
            state.groups.append("group.com.example")
            var other = state.items[0]
            other.accessGroup = "group.com.example"
            state.items.append(other)
        }
        try await KeychainApp.with(keychain) { app in
            for _ in 1...2 { try await app.store().adopt(item, deletingIt: true, Self.decode) }
            let left = app.keychain.state.items.filter { $0.service == "com.other.library" }
            #expect(left.map(\.accessGroup) == ["group.com.example"])
        }
    }

    @Test("an item without a service is adopted with an empty one") func withoutService() async throws {
        let keychain = keychain()
        keychain.change { $0.items[0].service = "" }
        try await KeychainApp.with(keychain) { app in
            let unnamed = KeychainItem(service: "", account: item.account)
            let isAdopted = try await app.store().adopt(unnamed, deletingIt: true, Self.decode)
            #expect(isAdopted)
            #expect(await app.store().read().tokens == old)
            #expect(!app.keychain.state.items.contains { $0.service.isEmpty })
        }
    }

    @Test("after a finished adoption, a launch on a locked device neither searches for the items nor fails")
    func lockedLater() async throws {
        try await KeychainApp.with(keychain()) { app in
            let isAdopted = try await app.store().adopt(item, deletingIt: true, Self.decode)
            #expect(isAdopted)
            app.keychain.change { $0.device = .locked }
            let calls = app.keychain.state.calls.count
            let isAdoptedAgain = try await app.store().adopt(item, deletingIt: true, Self.decode)
            #expect(!isAdoptedAgain)
            #expect(app.keychain.state.calls.dropFirst(calls).allSatisfy { $0 == "copy" })
        }
    }

    @Test("at a first launch on a locked device, the session begins after the unlock, and no login is shown before")
    func lockedFirstLaunch() async throws {
        try await KeychainApp.with(keychain()) { app in
            app.keychain.change { $0.device = .locked }
            let store = AnyTokenStore(app.store()).adopting(
                .keychain(service: item.service, account: item.account, decode: Self.decode), deletingThem: true)
            let next = App(store: store)
            let states = Locked<[SessionState]>([])
            let following = Task {
                for await state in next.tokens.states {
                    states.withLock { $0.append(state) }
                    if state.isSignedIn { return }
                }
            }
            guard case .unavailable(let failure) = await next.tokens.restore() else {
                Issue.record("the store was readable")
                return
            }
            #expect(failure.kind == .locked)
            app.unlock()
            await following.value
            #expect(!states.withLock { $0 }.contains(.signedOut))
            #expect(next.tokens.currentTokens == old)
            #expect(!app.keychain.state.items.contains { $0.service == "com.other.library" })
        }
    }

    @Test("an item of an access group without entitlement is not found, and asking for that group throws")
    func foreignGroup() async throws {
        let keychain = keychain()
        keychain.change { $0.items[0].accessGroup = "group.com.example" }
        try await KeychainApp.with(keychain) { app in
            let isAdopted = try await app.store().adopt(item, deletingIt: true, Self.decode)
            #expect(!isAdopted)
            let foreign = KeychainItem(
                service: item.service, account: item.account, accessGroup: "group.com.example")
            let failure = await #expect(throws: StorageError.self) {
                try await app.store().adopt(foreign, deletingIt: true, Self.decode)
            }
            #expect(failure?.description.contains("access group") == true)
            #expect(await app.store().read().isEmpty)
            #expect(app.keychain.state.items.map(\.service) == ["com.other.library"])
        }
    }

    @Test("an existing session is not replaced") func occupied() async throws {
        try await KeychainApp.with(keychain()) { app in
            let own = StoredSession(id: SessionID(), tokens: .fresh())
            try await app.store().write(own)
            #expect(try await app.store().adopt(item, Self.decode) == false)
            #expect(await app.store().read() == .found(own))
        }
    }

    @Test("the item is deleted on request, after its session was stored") func deleting() async throws {
        try await KeychainApp.with(keychain()) { app in
            app.keychain.change { $0.responses = [("add", .notAvailable)] }
            // The first "add" is the probe that verifies that nothing was adopted yet.
            let store = app.store()
            await #expect(throws: StorageError.self) {
                try await store.adopt(item, deletingIt: true, Self.decode)
            }
            #expect(app.keychain.state.items.map(\.service) == ["com.other.library"])
            let isAdopted = try await store.adopt(item, deletingIt: true, Self.decode)
            #expect(isAdopted)
            #expect(!app.keychain.state.items.contains { $0.service == "com.other.library" })
        }
    }

    @Test(
        "a failed deletion is retried at the next adoption, and its marker is not listed as a key") func deletingLater()
        async throws
    {
        try await KeychainApp.with(keychain()) { app in
            let store = app.store()
            app.keychain.change {
                // The first four delete the probes that verify that an item is missing.
                $0.responses = Array(repeating: ("delete", .success), count: 4) + [("delete", .notAvailable)]
            }
            await #expect(throws: StorageError.self) {
                try await store.adopt(item, deletingIt: true, Self.decode)
            }
            #expect(app.keychain.state.items.contains { $0.service == "com.other.library" })
            let isAdoptedAgain = try await store.adopt(item, deletingIt: true, Self.decode)
            #expect(!isAdoptedAgain)
            #expect(!app.keychain.state.items.contains { $0.service == "com.other.library" })
            #expect(try await store.storage.keys() == ["session"])
        }
    }

    @Test("an unreadable item can be adopted later, and without an item nothing happens") func unreadable()
        async throws
    {
        try await KeychainApp.with(keychain()) { app in
            app.keychain.change { $0.device = .locked }
            let store = app.store()
            await #expect(throws: StorageError.self) { try await store.adopt(item, Self.decode) }
            app.unlock()
            await #expect(throws: Strange.self) { try await store.adopt(item) { _ in throw Strange() } }
            let missing = KeychainItem(service: "com.other.library", account: "missing")
            let isMissingAdopted = try await store.adopt(missing, Self.decode)
            #expect(!isMissingAdopted)
            #expect(try await store.adopt(item, Self.decode))
        }
    }

    private static let former = FormerTokens.keychain(
        service: "com.example.app", accessToken: "accessToken", refreshToken: "refreshToken",
        user: { _ in SessionAccount(userID: "7") })

    /// A Keychain with an item for each token.
    private static func keychain(accessToken: String?, refreshToken: String?) -> FakeKeychain {
        let keychain = FakeKeychain()
        keychain.change { state in
            state.items = [("accessToken", accessToken), ("refreshToken", refreshToken)].compactMap { account, token in
                token.map { token in
                    FakeKeychain.Item(
                        isLogin: false, accessGroup: "TEAM.com.example.app", service: "com.example.app",
                        account: account, data: Data(token.utf8), accessible: .whenUnlocked)
                }
            }
        }
        return keychain
    }

    /// The accounts of the two items that are left.
    private static func itemsLeft(in app: KeychainApp) -> [String] {
        app.keychain.state.items.map(\.account).filter { ["accessToken", "refreshToken"].contains($0) }
    }

    @Test("two items are adopted as one session, and both are deleted after it was stored") func twoItems() async throws
    {
        for (access, refresh) in [("a", "r"), ("a", nil), (nil, "r"), (nil, nil)] as [(String?, String?)] {
            try await KeychainApp.with(Self.keychain(accessToken: access, refreshToken: refresh)) { app in
                let store = AnyTokenStore(app.store())
                let isAdopted = try await store.adopt(Self.former, deletingThem: true)
                #expect(isAdopted == (access != nil || refresh != nil))
                #expect(Self.itemsLeft(in: app).isEmpty)
                guard isAdopted else { return }
                guard case .found(let session) = await store.read() else {
                    Issue.record("nothing was adopted")
                    return
                }
                #expect(session.account.userID == "7")
                #expect(session.tokens.refreshToken == refresh.map { Secret($0) })
                // Without an access token, the session begins with a refresh.
                #expect(session.tokens.accessToken == Secret(access ?? "expired"))
                #expect(session.tokens.isExpired() == (access == nil))
            }
        }
    }

    /// The fate of the session between a kill and the next adoption, for example in an extension of the app.
    enum Fate: CaseIterable {
        case stays, isRefreshed, ends
    }

    @Test(
        "after a kill between the two deletions, the next launch deletes the other item and leaves the session alone",
        arguments: Fate.allCases)
    func killedBetweenDeletions(fate: Fate) async throws {
        let backend = SimulatedBackend()
        let issued = backend.issue()
        let keychain = Self.keychain(
            accessToken: issued.accessToken.reveal(), refreshToken: issued.refreshToken?.reveal())
        try await KeychainApp.with(keychain) { app in
            let killed = killedStore(of: app, beforeDeleting: "refreshToken")
            await #expect(throws: StorageError.self) { try await killed.adopt(Self.former, deletingThem: true) }
            #expect(Self.itemsLeft(in: app) == ["refreshToken"])
            let other = App(backend, store: AnyTokenStore(app.store()))
            switch fate {
            case .stays: break
            case .isRefreshed: try await other.tokens.refresh()
            case .ends: await other.tokens.signOut()
            }
            let store = AnyTokenStore(app.store())
            let before = await store.read()
            let isAdoptedAgain = try await store.adopt(Self.former, deletingThem: true)
            #expect(!isAdoptedAgain)
            #expect(Self.itemsLeft(in: app).isEmpty)
            #expect(await store.read() == before)
            let next = App(backend, store: store)
            #expect(await next.tokens.restore().isSignedIn == (fate != .ends))
            #expect(await next.call().isSuccess == (fate != .ends))
            // The refresh token of the item that was left is never sent.
            #expect(backend.refreshCalls == (fate == .isRefreshed ? 1 : 0) && backend.reuseDetected == 0)
        }
    }

    /// The store of a process that is killed when it is about to delete an item.
    private func killedStore(of app: KeychainApp, beforeDeleting account: String) -> AnyTokenStore {
        var calls = app.keychain.calls
        let delete = calls.delete
        calls.delete = { query in query[text: .account] == account ? .notAvailable : delete(query) }
        let storage = KeychainStorage(
            app.settings, calls: calls, hasLogin: app.hasLogin, makeUnlockStream: { app.unlocks.listen() })
        return AnyTokenStore(SecureTokenStore(storage: storage, key: "session", folder: app.folder))
    }

    @Test("the expiry is adopted, and an expired token is refreshed first") func expiry() async throws {
        try await KeychainApp.with(keychain()) { app in
            let backend = SimulatedBackend()
            let pair = backend.issue()
            let time = ManualTimeSource(wallClock: Date())
            _ = try await app.store().adopt(item) { _ in
                Tokens(
                    accessToken: pair.accessToken, refreshToken: pair.refreshToken,
                    expiresAt: time.wallClock.addingTimeInterval(-60))
            }
            let tokens = TokenManager(
                baseURL: "https://api.example.com", store: app.store(), refresher: .json(path: "/auth/refresh"),
                transport: backend.transport, time: time)
            #expect(try await tokens.validTokens().accessToken != pair.accessToken)
            #expect(backend.refreshCalls == 1)
        }
    }
}

extension SecureTokenStore {
    @discardableResult
    fileprivate func adopt(
        _ item: KeychainItem, deletingIt deletesItem: Bool = false,
        _ decode: @escaping @Sendable (Data) throws -> Tokens
    ) async throws -> Bool {
        try await AnyTokenStore(self).adopt(
            .keychain(
                service: item.service, account: item.account, accessGroup: item.accessGroup, decode: decode),
            deletingThem: deletesItem)
    }
}

extension StoreReading {
    fileprivate var tokens: Tokens? {
        if case .found(let session) = self { session.tokens } else { nil }
    }
}
