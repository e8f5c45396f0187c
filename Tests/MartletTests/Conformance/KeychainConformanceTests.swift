import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("Conformance: the Keychain") struct KeychainConformanceTests {
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

    @Test("C27: an app that starts before the device was unlocked is told that the store is locked, never signed out")
    func interactionNotAllowed() async throws {
        try await KeychainApp.with { app in
            let record = try await signedIn(app)
            app.keychain.change { $0.device = .notYetUnlocked }
            let tokens = manager(app)
            let error = await #expect(throws: SessionError.self) { try await tokens.validToken() }
            guard case .unavailable(let failure)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(failure.kind == .locked)
            #expect(tokens.state != .signedOut)
            app.unlock()
            #expect(try await tokens.validToken() == record.bundle.accessToken)
            #expect(backend.refreshCalls == 0)
        }
    }

    @Test("C27: it goes on by itself once the device is unlocked") func unlocking() async throws {
        try await KeychainApp.with { app in
            let record = try await signedIn(app)
            app.keychain.change { $0.device = .notYetUnlocked }
            let tokens = manager(app)
            let states = tokens.states
            await #expect(throws: SessionError.self) { try await tokens.validToken() }
            app.unlock()
            for await state in states where state.isSignedIn { break }
            #expect(await app.store().read() == .found(record))
        }
    }

    @Test("C28: an item that looks missing while the data is protected is unavailable, and nothing is deleted")
    func hidden() async throws {
        try await KeychainApp.with { app in
            let record = try await signedIn(app)
            app.keychain.change { state in
                state.device = .notYetUnlocked
                state.hidesProtected = true
                state.calls = []
            }
            let tokens = manager(app)
            await #expect(throws: SessionError.self) { try await tokens.validToken() }
            #expect(tokens.state != .signedOut)
            #expect(app.keychain.state.items.map(\.account) == ["session"])
            app.unlock()
            #expect(try await tokens.validToken() == record.bundle.accessToken)
        }
    }

    @Test("C29: what an earlier installation left is removed only where that is certain") func reinstall() async throws
    {
        try await KeychainApp.with { app in
            var app = app
            app.settings.reinstallPolicy = .forget(folder: app.folder)
            let record = try await signedIn(app)
            // The system starts the app ahead of time, before the device was unlocked: its files cannot be read either.
            app.keychain.change { $0.device = .notYetUnlocked }
            let marker = app.folder + "/installation"
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: marker)
            let early = manager(app)
            await #expect(throws: SessionError.self) { try await early.validToken() }
            app.unlock()
            #expect(try await manager(app).validToken() == record.bundle.accessToken, "an unreadable file is no proof")
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: marker)
            #expect(try await manager(app).validToken() == record.bundle.accessToken)

            // Before that, or a manager from above that still watches could look in between.
            app.keychain.change { $0.device = .notYetUnlocked }
            try app.reinstall()
            let reinstalled = manager(app)
            await #expect(throws: SessionError.self) { try await reinstalled.validToken() }
            #expect(app.keychain.state.items.count == 1)
            app.unlock()
            let unlocked = manager(app)
            await #expect(throws: SessionError.signedOut) { try await unlocked.validToken() }
            #expect(app.keychain.state.items.isEmpty)
            let new = try await signedIn(app)
            #expect(try await manager(app).validToken() == new.bundle.accessToken)
        }
    }

    @Test("C30: an item that an older version stored under another accessibility is moved, by reading or by writing")
    func migration() async throws {
        for isWritten in [true, false] {
            try await KeychainApp.with { app in
                var app = app
                app.settings.accessibility = .whenUnlocked
                // By the store alone: a manager of the older version would go on watching, and move it back.
                let record = StoredSession(id: SessionID(), bundle: backend.issue())
                try await app.store().write(record)
                app.settings.accessibility = .afterFirstUnlockThisDeviceOnly
                if isWritten {
                    try await app.store().write(record)
                } else {
                    #expect(await app.store().read() == .found(record))
                }
                #expect(app.keychain.state.items.map(\.accessible) == [.afterFirstUnlockThisDeviceOnly])
                app.keychain.change { $0.device = .locked }
                #expect(try await manager(app).validToken() == record.bundle.accessToken)
            }
        }
    }
}
