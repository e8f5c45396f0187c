import Foundation
import MartletTesting
import Testing

@testable import Martlet
@testable import MartletStorage

@Suite("Authentication for the Keychain", .timeLimit(.minutes(10))) struct KeychainAuthenticationTests {
    private let record = StoredSession(id: SessionID(), bundle: .fresh(1))

    @Test("the user authenticates once, until the store is locked") func authentication() async throws {
        try await KeychainApp.with { app in
            var app = app
            app.settings.authentication = .userPresence("Open your account")
            let store = app.store()
            try await store.write(record)
            #expect(await store.read() == .found(record))
            try await store.write(record)
            #expect(await store.read() == .found(record))
            #expect(app.keychain.state.prompts == ["Open your account"])
            AnyTokenStore(store).forgetAuthentication()
            #expect(await store.read() == .found(record))
            #expect(app.keychain.state.prompts.count == 2)
            #expect(app.keychain.state.items.map(\.requirement) == [.userPresence])
        }
    }

    @Test(
        "a declined authentication makes the store unavailable, not empty",
        arguments: [FakeKeychain.User.declines, .isNotRecognized])
    func declined(user: FakeKeychain.User) async throws {
        try await KeychainApp.with { app in
            var app = app
            app.settings.authentication = .currentBiometry("Open your account")
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

    @Test("no prompt is shown for observing changes or for discarding an earlier installation's item")
    func uninvited() async throws {
        try await KeychainApp.with { app in
            var app = app
            app.settings.authentication = .userPresence("Open your account")
            app.settings.reinstallMarkerFolder = app.folder
            #expect(app.store().changes() == nil)
            try await app.store().write(record)
            try app.reinstall()
            #expect(await app.store().read().isEmpty)
            #expect(app.keychain.state.prompts.isEmpty)
        }
    }
}
