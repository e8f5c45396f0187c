import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("What another library left in the Keychain") struct KeychainAdoptionTests {
    private let item = KeychainItem(service: "com.other.library", account: "credentials")
    private let old = TokenBundle(accessToken: "old-access", refreshToken: "old-refresh")

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

    @Sendable private static func decode(_ data: Data) throws -> TokenBundle {
        let parts = String(decoding: data, as: UTF8.self).split(separator: " ").map(String.init)
        return TokenBundle(accessToken: Secret(parts[0]), refreshToken: Secret(parts[1]))
    }

    @Test("is taken over once: who signs out afterwards stays signed out") func once() async throws {
        try await KeychainApp.with(keychain()) { app in
            #expect(try await app.store().adopt(item, Self.decode))
            guard case .found(let session) = await app.store().read() else {
                Issue.record("nothing was taken over")
                return
            }
            #expect(session.bundle == old)
            #expect(try await app.store().adopt(item, Self.decode) == false)
            try await app.store().delete()
            #expect(try await app.store().adopt(item, Self.decode) == false)
            #expect(await app.store().read() == .empty)
            #expect(app.keychain.state.items.contains { $0.service == "com.other.library" })
        }
    }

    @Test("does not take the place of a session that is there") func occupied() async throws {
        try await KeychainApp.with(keychain()) { app in
            let own = StoredSession(id: SessionID(), bundle: .fresh())
            try await app.store().write(own)
            #expect(try await app.store().adopt(item, Self.decode) == false)
            #expect(await app.store().read() == .found(own))
        }
    }

    @Test("is deleted on request, and only once it is safe in its new place") func deleting() async throws {
        try await KeychainApp.with(keychain()) { app in
            app.keychain.change { $0.answers = [("add", .notAvailable)] }
            // The first "add" is the probe that finds out whether "nothing adopted yet" is true.
            let store = app.store()
            await #expect(throws: StorageFailure.self) {
                try await store.adopt(item, deletingIt: true, Self.decode)
            }
            #expect(app.keychain.state.items.map(\.service) == ["com.other.library"])
            let isAdopted = try await store.adopt(item, deletingIt: true, Self.decode)
            #expect(isAdopted)
            #expect(!app.keychain.state.items.contains { $0.service == "com.other.library" })
        }
    }

    @Test("is deleted at the next try where that failed, and is no secret of the app's") func deletingLater()
        async throws
    {
        try await KeychainApp.with(keychain()) { app in
            let store = app.store()
            app.keychain.change {
                $0.answers = [("delete", .success), ("delete", .success), ("delete", .notAvailable)]
            }
            await #expect(throws: StorageFailure.self) {
                try await store.adopt(item, deletingIt: true, Self.decode)
            }
            #expect(app.keychain.state.items.contains { $0.service == "com.other.library" })
            let isAdoptedAgain = try await store.adopt(item, deletingIt: true, Self.decode)
            #expect(!isAdoptedAgain)
            #expect(!app.keychain.state.items.contains { $0.service == "com.other.library" })
            #expect(try await store.storage.keys() == ["session"])
        }
    }

    @Test("that cannot be read now is tried again later; where it is none, nothing happens") func unreadable()
        async throws
    {
        try await KeychainApp.with(keychain()) { app in
            app.keychain.change { $0.device = .locked }
            let store = app.store()
            await #expect(throws: StorageFailure.self) { try await store.adopt(item, Self.decode) }
            app.unlock()
            await #expect(throws: Strange.self) { try await store.adopt(item) { _ in throw Strange() } }
            let missing = KeychainItem(service: "com.other.library", account: "nobody")
            let isMissingAdopted = try await store.adopt(missing, Self.decode)
            #expect(!isMissingAdopted)
            #expect(try await store.adopt(item, Self.decode))
        }
    }

    @Test("keeps its expiry, and is renewed first where that has passed") func expiry() async throws {
        try await KeychainApp.with(keychain()) { app in
            let backend = SimulatedBackend()
            let pair = backend.issue()
            let time = ManualTimeSource(wallClock: Date())
            try await app.store().adopt(item) { _ in
                TokenBundle(
                    accessToken: pair.accessToken, refreshToken: pair.refreshToken,
                    expiresAt: Date(timeIntervalSinceNow: -60))
            }
            let tokens = TokenManager(
                baseURL: "https://api.example.com", store: app.store(), refresher: .json(path: "/auth/refresh"),
                transport: backend.transport, time: time)
            #expect(try await tokens.validToken() != pair.accessToken)
            #expect(backend.refreshCalls == 1)
        }
    }
}
