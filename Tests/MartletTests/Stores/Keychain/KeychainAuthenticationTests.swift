import Foundation
import MartletTesting
import Testing

@testable import Martlet
@testable import MartletStorage

@Suite("Authentication for the Keychain", .timeLimit(.minutes(10))) struct KeychainAuthenticationTests {
    private let record = StoredSession(id: SessionID(), tokens: .fresh(1))

    private func gated(
        _ app: KeychainApp, by authentication: KeychainAuthentication = .userPresence("Open your account")
    ) -> KeychainApp {
        var app = app
        app.settings.authentication = authentication
        return app
    }

    @Test("the user authenticates once, until the store is locked") func authentication() async throws {
        try await KeychainApp.with { app in
            let app = gated(app)
            let store = app.store()
            try await store.write(record)
            #expect(await store.read() == .found(record))
            try await store.write(record)
            #expect(await store.read() == .found(record))
            #expect(app.keychain.state.prompts == ["Open your account"])
            AnyTokenStore(store).forgetAuthentication()
            #expect(await store.read() == .found(record))
            #expect(app.keychain.state.prompts.count == 2)
        }
    }

    @Test("a session is not under access control, and a secret is") func placement() async throws {
        try await KeychainApp.with { app in
            let app = gated(app)
            try await app.store().write(record)
            try await app.storage().save(Data("4711".utf8), for: "pin")
            let items = app.keychain.state.items
            #expect(items.map(\.requirement) == [nil, .userPresence])
            #expect(items.map(\.accessible) == [.afterFirstUnlockThisDeviceOnly, .afterFirstUnlockThisDeviceOnly])
            // Accounts in the storage are sessions, too.
            let accounts = AccountStore.secure(AnySecureStorage(app.storage()), folder: app.folder)
            try await accounts.store(for: AccountID(rawValue: "ada")).write(record)
            #expect(app.keychain.state.items.last?.requirement == nil)
        }
    }

    @Test("a refresh behind a locked screen stores its tokens, although the user cannot be asked")
    func lockedScreen() async throws {
        try await KeychainApp.with { app in
            let app = gated(app)
            var session = record
            try await app.store().write(session)
            let store = app.store()
            #expect(await store.read() == .found(record))
            // The app goes to the background and locks itself; then the device is locked.
            store.storage.forgetAuthenticationForTest()
            app.keychain.change { $0.device = .locked }
            // The two writes of a refresh: before the refresh token is sent, and with the new tokens.
            for rotation in 1...2 {
                session.rotation = rotation
                let renewed = session
                try await store.update { reading in
                    guard case .found = reading else { return .keep }
                    return .write(renewed)
                }
            }
            guard case .unavailable(let failure) = await store.read() else {
                Issue.record("the session was read without the user")
                return
            }
            #expect(failure.kind == .locked)
            app.unlock()
            #expect(await app.store().read() == .found(session))
        }
    }

    @Test("readers at the same time share a prompt") func shared() async throws {
        try await KeychainApp.with { app in
            let app = gated(app)
            let store = app.store()
            try await store.write(record)
            async let readings = [store.read(), store.read(), store.read()]
            #expect(await readings == [.found(record), .found(record), .found(record)])
            #expect(app.keychain.state.prompts.count == 1)
        }
    }

    @Test("without a session, no prompt is shown") func empty() async throws {
        try await KeychainApp.with { app in
            #expect(await gated(app).store().read().isEmpty)
            #expect(app.keychain.state.prompts.isEmpty)
        }
    }

    @Test(
        "a declined authentication makes the store unavailable, not empty",
        arguments: [FakeKeychain.User.declines, .isNotRecognized])
    func declined(user: FakeKeychain.User) async throws {
        try await KeychainApp.with { app in
            let app = gated(app, by: .currentBiometry("Open your account"))
            let store = app.store()
            try await store.write(record)
            app.keychain.change { $0.user = user }
            guard case .unavailable(let failure) = await store.read() else {
                Issue.record("the item was read without authentication")
                return
            }
            #expect(failure.kind == .locked)
            app.keychain.change { $0.user = .confirms }
            #expect(await store.read() == .found(record))
        }
    }

    @Test("with another face enrolled, the user signs in again, and a refresh does not admit the new face")
    func anotherFace() async throws {
        try await KeychainApp.with { app in
            let app = gated(app, by: .currentBiometry("Open your account"))
            let store = app.store()
            try await store.write(record)
            #expect(await store.read() == .found(record))
            app.keychain.change { $0.biometry = "face-1-2" }
            // Refreshes of this process and of another one, which has not read the session.
            try await store.write(record)
            try await app.store().write(record)
            let relaunched = app.store()
            guard case .unavailable(let failure) = await relaunched.read() else {
                Issue.record("the new face has opened the session")
                return
            }
            #expect(failure.kind == .corrupt && failure.description.contains("sign in again"))
            let next = StoredSession(id: SessionID(), tokens: .fresh(2))
            try await relaunched.write(next)
            #expect(await app.store().read() == .found(next))
        }
    }

    @Test("a session stored while the enrolled faces were unknown is bound when it is first read")
    func lateBinding() async throws {
        try await KeychainApp.with { app in
            let app = gated(app, by: .currentBiometry("Open your account"))
            app.keychain.change { $0.biometry = nil }
            try await app.store().write(record)
            app.keychain.change { $0.biometry = "face-1" }
            #expect(await app.store().read() == .found(record))
            app.keychain.change { $0.biometry = "face-1-2" }
            guard case .unavailable = await app.store().read() else {
                Issue.record("the new face has opened the session")
                return
            }
        }
    }

    @Test("while the system does not tell which faces are enrolled, a session stays bound as it was")
    func unknownFaces() async throws {
        try await KeychainApp.with { app in
            let app = gated(app, by: .currentBiometry("Open your account"))
            try await app.store().write(record)
            app.keychain.change { $0.biometry = nil }
            try await app.store().write(record)
            app.keychain.change { $0.biometry = "face-1" }
            #expect(await app.store().read() == .found(record))
        }
    }

    @Test(
        "an empty reason is refused: the system would raise an exception",
        arguments: [KeychainAuthentication.userPresence(""), .currentBiometry(" \n")])
    func emptyReason(authentication: KeychainAuthentication) async throws {
        try await KeychainApp.with { app in
            let app = gated(app, by: authentication)
            let error = await #expect(throws: StorageError.self) { try await app.store().write(record) }
            #expect(error?.description.contains("reason") == true)
            guard case .unavailable = await app.store().read() else {
                Issue.record("the store counts as empty")
                return
            }
            #expect(app.keychain.state.calls.isEmpty)
        }
    }

    @Test("no prompt is shown for observing changes or for discarding an earlier installation's item")
    func uninvited() async throws {
        try await KeychainApp.with { app in
            var app = gated(app)
            app.settings.reinstallMarkerFolder = app.folder
            #expect(app.store().changes() == nil)
            try await app.store().write(record)
            try app.reinstall()
            #expect(await app.store().read().isEmpty)
            #expect(app.keychain.state.prompts.isEmpty)
        }
    }
}

extension SecureStorage {
    fileprivate func forgetAuthenticationForTest() {
        (self as? any SystemStorage)?.forgetAuthentication()
    }
}
