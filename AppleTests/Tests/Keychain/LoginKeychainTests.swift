#if os(macOS)
    import Foundation
    import MartletAdoption
    import Testing

    @testable import Martlet
    @testable import MartletStorage

    // `make apple-test` runs them twice: signed ad hoc, and not signed by Xcode.
    @Suite("A process without entitlements on macOS", .serialized, .timeLimit(.minutes(10)))
    struct LoginKeychainTests {
        private let fixture = KeychainFixture()

        @Test("is told that the data protection Keychain needs a signature")
        func dataProtection() async throws {
            let storage = fixture.storage { $0.macKeychain = .dataProtection }
            let error = await #expect(throws: StorageError.self) { try await storage.save(Data([1]), for: "one") }
            #expect(error?.kind == .unreachable)
            #expect("\(String(describing: error))".contains("Keychain Sharing"))
        }

        @Test("uses the login keychain on request, without a prompt for its own items")
        func login() async throws {
            defer { fixture.clear() }
            let storage = fixture.storage { $0.macKeychain = .login }
            try await storage.save(Data("secret".utf8), for: "one")
            #expect(try await storage.read("one") == Data("secret".utf8))
            // The login keychain knows no classes of protection.
            #expect(fixture.systemAttributes(of: "one")?["pdmn"] == nil)
        }

        @Test("adopts an item of another library from the login keychain once")
        func adoption() async throws {
            defer { fixture.clear() }
            #expect(fixture.add(Data("token".utf8), account: "old", [:]) == 0)
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(fixture.service).path
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let store: AnyTokenStore = .keychain(service: fixture.service, folder: folder)
            for isFirst in [true, false] {
                let former = FormerTokens.keychain(service: fixture.service, account: "old") { data in
                    Tokens(accessToken: Secret(String(decoding: data, as: UTF8.self)), refreshToken: "refresh")
                }
                let isAdopted = try await store.adopt(former)
                #expect(isAdopted == isFirst)
            }
        }
    }
#endif
