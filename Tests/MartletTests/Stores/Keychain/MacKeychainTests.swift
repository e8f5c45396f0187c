import Foundation
import MartletTesting
import Testing

@testable import Martlet
@testable import MartletStorage

@Suite("The Keychain of a Mac", .timeLimit(.minutes(10))) struct MacKeychainTests {
    private let record = StoredSession(id: SessionID(), tokens: .fresh(1))

    @Test("on a Mac, an unsigned process falls back to the login keychain and can tell") func loginFallback()
        async throws
    {
        let keychain = FakeKeychain()
        keychain.change { $0.groups = [] }
        try await KeychainApp.with(keychain) { app in
            var app = app
            app.hasLogin = true
            let store = app.store()
            #expect(try await AnyTokenStore(store).choice() == .loginKeychain)
            #expect(await store.read().isEmpty)
            try await store.write(record)
            try await store.write(record)
            #expect(await app.store().read() == .found(record))
            #expect(keychain.state.items.map(\.isLogin) == [true])
            try await store.delete()
            #expect(keychain.state.items.isEmpty)
        }
    }

    @Test("on a Mac, there is no fallback if it was not requested or an access group is set")
    func noFallback() async throws {
        let keychain = FakeKeychain()
        keychain.change { $0.groups = [] }
        try await KeychainApp.with(keychain) { app in
            var app = app
            for (hasLogin, keychain, group) in [
                (true, .dataProtection, nil), (false, .automatic, nil),
                (false, .login, nil), (true, .automatic, "group.com.example"),
            ] as [(Bool, MacKeychain, String?)] {
                app.hasLogin = hasLogin
                app.settings.macKeychain = keychain
                app.settings.accessGroup = group
                let store = app.store()
                await #expect(throws: StorageError.self) { try await store.write(record) }
                let choice = try await AnyTokenStore(store).choice()
                #expect(choice == .keychain)
            }
            #expect(keychain.state.items.isEmpty)
        }
    }

    @Test("on a Mac, a session that the user must authenticate for never goes to the login keychain, which has no gate")
    func gated() async throws {
        let keychain = FakeKeychain()
        keychain.change { $0.groups = [] }
        try await KeychainApp.with(keychain) { app in
            var app = app
            app.hasLogin = true
            app.settings.authentication = .userPresence("Open your account")
            let store = app.store()
            let error = await #expect(throws: StorageError.self) { try await store.write(record) }
            #expect(error?.description.contains("Keychain Sharing") == true)
            let choice = try await AnyTokenStore(store).choice()
            #expect(choice == .keychain)
            #expect(keychain.state.items.isEmpty)
        }
    }

    @Test("on a Mac, a process that has used the data protection Keychain does not leave it")
    func signed() async throws {
        try await KeychainApp.with { app in
            var app = app
            app.hasLogin = true
            let store = app.store()
            try await store.write(record)
            app.keychain.change { $0.responses = [("copy", .missingEntitlement), ("update", .missingEntitlement)] }
            guard case .unavailable = await store.read() else {
                Issue.record("the session counts as missing")
                return
            }
            await #expect(throws: StorageError.self) { try await store.write(record) }
            #expect(await store.read() == .found(record))
            #expect(app.keychain.state.items.map(\.isLogin) == [false])
        }
    }

    @Test(
        "on a Mac, each unsigned build is another program to the login keychain, and the error says so",
        arguments: [FakeKeychain.User.declines, .isNotRecognized])
    func anotherBuild(user: FakeKeychain.User) async throws {
        let keychain = FakeKeychain()
        keychain.change { $0.groups = [] }
        try await KeychainApp.with(keychain) { app in
            var app = app
            app.hasLogin = true
            try await app.store().write(record)
            keychain.change { state in
                state.build = "build 2"
                state.user = user
            }
            guard case .unavailable(let failure) = await app.store().read() else {
                Issue.record("the item was read without the user's permission")
                return
            }
            #expect(failure.kind == .locked)
            for words in ["login keychain", "sign the program", "Always Allow"] {
                #expect(failure.description.contains(words))
            }
            #expect(keychain.state.prompts.count == 1)
            keychain.change { $0.user = .confirms }
            #expect(await app.store().read() == .found(record))
        }
    }

    @Test("on a Mac, a locked login keychain without a screen says how to unlock it") func lockedLogin() async throws {
        let keychain = FakeKeychain()
        keychain.change { $0.groups = [] }
        try await KeychainApp.with(keychain) { app in
            var app = app
            app.hasLogin = true
            let store = app.store()
            try await store.write(record)
            keychain.change { $0.responses = [("copy", .interactionNotAllowed)] }
            guard case .unavailable(let failure) = await store.read() else {
                Issue.record("the item was read")
                return
            }
            #expect(failure.kind == .locked && failure.description.contains("unlock-keychain"))
        }
    }

    @Test("on a Mac, the login keychain can be requested") func login() async throws {
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
}
