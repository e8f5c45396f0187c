#if os(Linux)
    import Foundation
    import MartletTesting
    import Testing

    @testable import Martlet

    @testable import MartletStorage

    @Suite("A missing keyring", .timeLimit(.minutes(10))) struct NoSecretServiceTests {
        @Test("the error for a missing or wrong library names the package to install") func library() async {
            let missing = SecretServiceLink { () throws(StorageError) in
                try LibSecret(name: "libmartlet-missing.so.0")
            }
            let storage = SecretServiceStorage(service: "com.example.app", timeout: .seconds(3_600), link: missing)
            await KeyringFixture.expectFailure(.unreachable, mentioning: "libsecret-1-0", of: storage)
            #expect(await storage.availability()?.kind == .unreachable)

            let wrong = SecretServiceLink { () throws(StorageError) in try LibSecret(name: "libc.so.6") }
            await KeyringFixture.expectFailure(
                .unreachable, mentioning: "it has no g_free",
                of: SecretServiceStorage(service: "com.example.app", timeout: .seconds(3_600), link: wrong))
        }

        @Test("a static program does not load the library, which would end it") func staticProgram() async {
            #expect(!Library.isStaticProgram)
            let link = SecretServiceLink { () throws(StorageError) in
                try LibSecret(name: "libsecret-1.so.0", isStaticProgram: true)
            }
            let storage = SecretServiceStorage(service: "com.example.app", timeout: .seconds(3_600), link: link)
            await KeyringFixture.expectFailure(.unreachable, mentioning: "-static-executable", of: storage)
            #expect(await storage.availability()?.kind == .unreachable)
        }

        @Test("a call that never returns times out for its caller, and no call starts after its timeout")
        func stuck() async {
            let stuck = DispatchSemaphore(value: 0)
            let begun = Locked(0)
            let link = SecretServiceLink { () throws(StorageError) in
                begun.withLock { $0 += 1 }
                stuck.wait()
                throw StorageError(.unreachable, "it has come back")
            }
            let impatient = SecretServiceStorage(service: "com.example.app", timeout: .milliseconds(50), link: link)
            await KeyringFixture.expectFailure(.unreachable, mentioning: "0.05 seconds", of: impatient)
            stuck.signal()
            stuck.signal()
            let patient = SecretServiceStorage(service: "com.example.app", timeout: .seconds(3_600), link: link)
            await #expect(throws: StorageError(.unreachable, "it has come back")) {
                try await patient.read("key")
            }
            // On a busy machine, the first call may time out before it has begun.
            #expect((1...2).contains(begun.withLock { $0 }))
        }

        @Test(
            "any text can be a key, and distinct texts give distinct keys",
            arguments: ["", "a", "\0", "%", "%00", "%25", "a\0%b", "é🗝️"])
        func keys(text: String) {
            let escaped = SecretServiceText.escape(text)
            #expect(!escaped.unicodeScalars.contains("\0"))
            #expect(SecretServiceText.unescape(escaped) == text)
        }

        @Test("keys written by other programs are ignored", arguments: ["%", "%0", "%2", "%41", "a%"])
        func foreignKeys(text: String) {
            #expect(SecretServiceText.unescape(text) == nil)
        }
    }
#endif
