import Foundation
import MartletTestSupport
import MartletTesting
import Testing

@testable import Martlet
@testable import MartletStorage

@Suite("The Keychain after a reinstallation", .noBlockingCalls, .timeLimit(.minutes(10))) struct KeychainReinstallTests
{
    private let record = StoredSession(id: SessionID(), tokens: .fresh(1))

    @Test("a session survives a reinstallation by default") func keeps() async throws {
        try await KeychainApp.with { app in
            try await app.store().write(record)
            try app.reinstall()
            #expect(await app.store().read() == .found(record))
        }
    }

    @Test("an item older than the reinstall policy is kept and marked with the installation") func unmarked()
        async throws
    {
        try await KeychainApp.with { app in
            var app = app
            try await app.store().write(record)
            app.settings.reinstallMarkerFolder = app.folder
            #expect(await app.store().read() == .found(record))
            try await app.store().write(record)
            try app.reinstall()
            #expect(await app.store().read().isEmpty)
        }
    }

    @Test("caches that the system has emptied do not prove that the app was deleted") func purgedCaches() async throws {
        try await KeychainApp.with { app in
            var app = app
            // On tvOS, there is no other folder that lasts.
            app.settings.reinstallMarkerFolder = app.folder + "/Library/Caches/com.example.app"
            try await app.store().write(record)
            try app.reinstall()
            #expect(await app.store().read() == .found(record))
            #expect(try await app.storage().keys() == ["session"])
            // The next item that is written must not make those from before leftovers.
            try await app.storage().save(Data("1".utf8), for: "other")
            #expect(await app.store().read() == .found(record))
            #expect(try await app.storage().keys() == ["other", "session"])
        }
    }

    @Test("concurrent processes agree on the installation marker") func markers() async throws {
        try await TemporaryFolder.with { folder in
            let marker = try #require(InstallMarker(folder: folder.path + "/new"))
            let numbers = await withTaskGroup(of: Data?.self) { group in
                for _ in 0..<50 { group.addTask { await BlockingQueue.run { marker.readOrCreate() } } }
                return await group.reduce(into: Set<Data?>()) { $0.insert($1) }
            }
            #expect(numbers.count == 1 && !numbers.contains(nil))
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/new")
            #expect(names == ["installation"])
        }
    }

    @Test("a session is stored even if the installation cannot be marked") func unmarkable() async throws {
        try await KeychainApp.with { app in
            var app = app
            app.settings.reinstallMarkerFolder = "/proc/martlet"
            let storage = app.storage()
            try await storage.save(Data("1".utf8), for: "a")
            #expect(try await storage.read("a") == Data("1".utf8))
        }
    }
}
