import Foundation
import Security
import Testing

@testable import Martlet
@testable import MartletStorage

@Suite("The real Keychain", .serialized, .timeLimit(.minutes(10)))
struct KeychainRoundTripTests {
    private let fixture = KeychainFixture()

    @Test("keeps a secret, replaces it, lists it and deletes it")
    func roundTrip() async throws {
        defer { fixture.clear() }
        let storage = fixture.storage()
        #expect(try await storage.read("one") == nil)
        try await storage.save(Data("first".utf8), for: "one")
        try await storage.save(Data("second".utf8), for: "one")
        try await storage.save(Data([0, 255]), for: "two")
        #expect(try await storage.read("one") == Data("second".utf8))
        #expect(try await storage.keys() == ["one", "two"])
        try await storage.delete("one")
        try await storage.delete("one")
        #expect(try await storage.read("one") == nil)
        #expect(try await storage.keys() == ["two"])
    }

    @Test("leaves no probe behind after it has confirmed that there is no item")
    func probe() async throws {
        defer { fixture.clear() }
        #expect(try await fixture.storage().read("one") == nil)
        let probes = fixture.storage { $0.service += ".probe" }
        #expect(try await probes.keys() == [])
    }

    @Test("shares a session between two stores of the same service")
    func twoStores() async throws {
        defer { fixture.clear() }
        try await fixture.storage().save(Data("shared".utf8), for: "session")
        #expect(try await fixture.storage().read("session") == Data("shared".utf8))
    }

    @Test("falls back to the login keychain only without an entitlement")
    func fallback() async throws {
        defer { fixture.clear() }
        let storage = fixture.storage()
        try await storage.save(Data("secret".utf8), for: "one")
        #expect(storage.usesLoginKeychain == KeychainFixture.hasLoginKeychainOnly)
        #expect(try await storage.choice() == (KeychainFixture.hasLoginKeychainOnly ? .loginKeychain : .keychain))
    }

    @Test("refuses an access group that the app is not signed for, and does not fall back")
    func foreignGroup() async throws {
        defer { fixture.clear() }
        let storage = fixture.storage { $0.accessGroup = "com.example.another-app" }
        let error = await #expect(throws: StorageError.self) { try await storage.save(Data([1]), for: "one") }
        #expect(error?.kind == .unreachable)
        #expect(!storage.usesLoginKeychain)
    }
}
