import Foundation
import MartletTesting
import Testing

@testable import Martlet
@testable import MartletStorage

@Suite("The Keychain of a locked device", .timeLimit(.minutes(10))) struct LockedKeychainTests {
    private let record = StoredSession(id: SessionID(), tokens: .fresh(1))

    @Test("nothing is deleted while the device is locked, and the call fails") func lockedDelete() async throws {
        try await KeychainApp.with { app in
            try await app.store().write(record)
            app.keychain.change { state in
                state.device = .notYetUnlocked
                state.hidesProtected = true
            }
            let store = app.store()
            await #expect(throws: StorageError.self) { try await store.delete() }
            await #expect(throws: StorageError.self) { try await store.storage.keys() }
            #expect(app.keychain.state.items.count == 1)
        }
    }

    @Test(
        "a session that requires an unlocked device is unavailable while it is locked", arguments: [true, false])
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
                Issue.record("the item was read on a locked device")
                return
            }
            #expect(failure.kind == .locked)
            app.unlock()
            #expect(await app.store().read() == .found(record))
        }
    }

    @Test("a device unlocked between two reads shows its item") func unlockedInBetween() async throws {
        try await KeychainApp.with { app in
            try await app.store().write(record)
            app.keychain.change { $0.responses = [("copy", .itemNotFound)] }
            #expect(await app.store().read() == .found(record))
        }
    }

    @Test("an older item hidden by a locked device does not count as missing") func olderHidden()
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
                Issue.record("the hidden item was taken for missing")
                return
            }
            let store = app.store()
            let failure = await #expect(throws: StorageError.self) { try await store.write(record) }
            #expect(failure?.kind == .locked)
            app.unlock()
            #expect(await app.store().read() == .found(record))
        }
    }
}
