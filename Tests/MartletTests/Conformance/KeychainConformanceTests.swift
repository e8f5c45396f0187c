import Foundation
import MartletTesting
import Testing

@testable import Martlet
@testable import MartletStorage

@Suite("Conformance: the Keychain", .timeLimit(.minutes(10))) struct KeychainConformanceTests {
    private let backend = SimulatedBackend()

    private func manager(_ app: KeychainApp) -> TokenManager {
        TokenManager(
            baseURL: "https://api.example.com", store: app.store(), refresher: .json(path: "/auth/refresh"),
            transport: backend.transport, time: ManualTimeSource())
    }

    private func signedIn(_ app: KeychainApp) async throws -> StoredSession {
        try await manager(app).signIn(with: backend.issue())
        guard case .found(let record) = await app.store().read() else { throw SessionError.signedOut }
        return record
    }

    @Test("C27: before the first unlock, the store is reported as locked and the user stays signed in")
    func interactionNotAllowed() async throws {
        try await KeychainApp.with { app in
            let record = try await signedIn(app)
            app.keychain.change { $0.device = .notYetUnlocked }
            let tokens = manager(app)
            let error = await #expect(throws: SessionError.self) { try await tokens.validTokens().accessToken }
            guard case .unavailable(let failure)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(failure.kind == .locked)
            #expect(tokens.state != .signedOut)
            app.unlock()
            #expect(try await tokens.validTokens().accessToken == record.tokens.accessToken)
            #expect(backend.refreshCalls == 0)
        }
    }

    @Test("C27: the session loads by itself once the device is unlocked") func unlocking() async throws {
        try await KeychainApp.with { app in
            let record = try await signedIn(app)
            app.keychain.change { $0.device = .notYetUnlocked }
            let tokens = manager(app)
            let states = tokens.states
            await #expect(throws: SessionError.self) { try await tokens.validTokens().accessToken }
            app.unlock()
            for await state in states where state.isSignedIn { break }
            #expect(await app.store().read() == .found(record))
        }
    }

    @Test("C28: an item hidden by data protection is unavailable, and nothing is deleted")
    func hidden() async throws {
        try await KeychainApp.with { app in
            let record = try await signedIn(app)
            app.keychain.change { state in
                state.device = .notYetUnlocked
                state.hidesProtected = true
                state.calls = []
            }
            let tokens = manager(app)
            await #expect(throws: SessionError.self) { try await tokens.validTokens().accessToken }
            #expect(tokens.state != .signedOut)
            #expect(app.keychain.state.items.map(\.account) == ["session"])
            app.unlock()
            #expect(try await tokens.validTokens().accessToken == record.tokens.accessToken)
        }
    }

    @Test(
        "C29: an item of an earlier installation is removed only if the reinstallation is certain") func reinstall()
        async throws
    {
        try await KeychainApp.with { app in
            var app = app
            app.settings.reinstallMarkerFolder = app.folder
            let record = try await signedIn(app)
            // The system prewarms the app before the first unlock, when its files cannot be read either.
            app.keychain.change { $0.device = .notYetUnlocked }
            let marker = app.folder + "/installation"
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: marker)
            let early = manager(app)
            await #expect(throws: SessionError.self) { try await early.validTokens().accessToken }
            app.unlock()
            #expect(
                try await manager(app).validTokens().accessToken == record.tokens.accessToken,
                "an unreadable marker file proves no reinstallation")
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: marker)
            #expect(try await manager(app).validTokens().accessToken == record.tokens.accessToken)

            // Lock the device before reinstalling; otherwise an earlier manager that still watches could read in
            // between.
            app.keychain.change { $0.device = .notYetUnlocked }
            try app.reinstall()
            let reinstalled = manager(app)
            await #expect(throws: SessionError.self) { try await reinstalled.validTokens().accessToken }
            #expect(app.keychain.state.items.count == 1)
            app.unlock()
            let unlocked = manager(app)
            await #expect(throws: SessionError.signedOut) { try await unlocked.validTokens().accessToken }
            #expect(app.keychain.state.items.isEmpty)
            let new = try await signedIn(app)
            #expect(try await manager(app).validTokens().accessToken == new.tokens.accessToken)
        }
    }

    @Test("C30: an item stored with an older accessibility is migrated by a read and by a write")
    func migration() async throws {
        for isWritten in [true, false] {
            try await KeychainApp.with { app in
                var app = app
                app.settings.accessibility = .whenUnlocked
                // Write through the store only: an older manager would keep watching and migrate the item back.
                let record = StoredSession(id: SessionID(), tokens: backend.issue())
                try await app.store().write(record)
                app.settings.accessibility = .afterFirstUnlockThisDeviceOnly
                if isWritten {
                    try await app.store().write(record)
                } else {
                    #expect(await app.store().read() == .found(record))
                }
                #expect(app.keychain.state.items.map(\.accessible) == [.afterFirstUnlockThisDeviceOnly])
                app.keychain.change { $0.device = .locked }
                #expect(try await manager(app).validTokens().accessToken == record.tokens.accessToken)
            }
        }
    }
}
