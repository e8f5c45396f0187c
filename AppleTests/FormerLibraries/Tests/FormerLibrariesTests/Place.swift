import Foundation
import Martlet
import MartletAdoption
import Security
import Testing

/// A name of its own for one test, with a store in the Keychain. Call `clear()` at the end of the test.
struct Place {
    let name = "com.example.martlet.FormerLibraries.\(UUID().uuidString)"

    /// A new store for each use, as at each launch.
    private var store: AnyTokenStore { .keychain(service: name, folder: folder) }

    private var folder: String { FileManager.default.temporaryDirectory.appendingPathComponent(name).path }

    private var session: StoredSession? {
        get async {
            guard case .found(let session) = await store.read() else { return nil }
            return session
        }
    }

    /// Adopts a record, which must begin a session, and once more as at the next launch, which must not.
    func adopt(_ former: FormerTokens) async throws -> StoredSession {
        let isAdopted = try await store.adopt(former, deletingThem: true)
        #expect(isAdopted)
        let isAdoptedAgain = try await store.adopt(former, deletingThem: true)
        #expect(!isAdoptedAgain)
        return try #require(await session)
    }

    /// Expects that a record is refused, and begins no session.
    func refuse(_ former: FormerTokens, as kind: AdoptionError.Kind) async {
        let error = await #expect(throws: AdoptionError.self) { try await store.adopt(former, deletingThem: true) }
        #expect(error?.kind == kind)
        #expect(await session == nil)
    }

    /// Deletes the files of the store, and all items with the name as their service.
    func clear() {
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: name,
        ]
        // In the login keychain, one call may delete one item only.
        while SecItemDelete(query as CFDictionary) == errSecSuccess {}
        try? FileManager.default.removeItem(atPath: folder)
    }
}

/// Whether two dates are the same in milliseconds, the unit in which a store writes them.
func isSameMoment(_ one: Date?, _ other: Date?) -> Bool {
    guard let one, let other else { return false }
    return abs(one.timeIntervalSince(other)) < 0.001
}

/// An unsigned ID token with the claims that AppAuth demands of each.
func idToken(subject: String) -> String {
    let claims = """
        {"iss":"https://id.example.com","sub":"\(subject)","aud":"client","iat":1000000000,"exp":2000000000}
        """
    let sections = [#"{"alg":"none"}"#, claims, "fixture-signature"].map { text in
        Data(text.utf8).base64EncodedString().filter { $0 != "=" }
            .replacing("+", with: "-").replacing("/", with: "_")
    }
    return sections.joined(separator: ".")
}
