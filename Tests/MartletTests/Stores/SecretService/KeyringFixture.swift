#if os(Linux)
    import Foundation
    import MartletTesting
    import Testing

    @testable import Martlet

    @testable import MartletStorage

    /// Helpers for the child processes of the tests.
    enum KeyringFixture {
        /// The value each test saves. No error may contain it.
        static let secret = Data("hunter2-hunter2-hunter2".utf8)
        static let storage = SecretServiceStorage(service: "com.example.app", timeout: .seconds(3_600))

        /// Calls `body` with a desktop that has a bus and an unlocked keyring.
        static func with(_ folder: String, _ body: (Desktop) async throws -> Void) async throws {
            do {
                let desktop = try Desktop(folder)
                try await desktop.startBus()
                try await desktop.startKeyring()
                try await body(desktop)
                await desktop.stop()
            } catch {
                // An error thrown out of the child process would lose its description.
                Issue.record(error)
            }
        }

        /// Expects all calls to fail with the same kind of error, without showing the secret.
        static func expectFailure(
            _ kind: StorageError.Kind, mentioning text: String = "", of storage: SecretServiceStorage = storage,
            key: String = "key", sourceLocation: SourceLocation = #_sourceLocation
        ) async {
            let failures = await [
                failure { () async throws(StorageError) in _ = try await storage.read(key) },
                failure { () async throws(StorageError) in try await storage.save(secret, for: key) },
                failure { () async throws(StorageError) in try await storage.delete(key) },
                failure { () async throws(StorageError) in _ = try await storage.keys() },
            ]
            for failure in failures {
                #expect(failure?.kind == kind, sourceLocation: sourceLocation)
                let description = failure.map { "\($0) \(String(reflecting: $0))" } ?? ""
                #expect(description.contains(text), sourceLocation: sourceLocation)
                #expect(!description.contains("hunter2"), sourceLocation: sourceLocation)
                #expect(!description.contains(secret.base64EncodedString()), sourceLocation: sourceLocation)
            }
        }

        /// Whether GLib would raise SIGTERM when the bus goes away. It raises it on the thread that notices, which may
        /// have the signal blocked.
        static func busEndsProcess(_ call: SecretServiceCall) -> Bool? {
            typealias Getter = @convention(c) (LibSecret.Pointer) -> Int32
            let getter = dlopen("libgio-2.0.so.0", RTLD_NOW).flatMap {
                dlsym($0, "g_dbus_connection_get_exit_on_close").map { unsafeBitCast($0, to: Getter.self) }
            }
            let bus = call.cancellable.use { cancellable in
                try? call.library.check { call.library.connectToBus(2, cancellable, $0) }
            }
            guard let getter, let bus = GLibObject(bus ?? nil, call.library) else { return nil }
            return bus.use { getter($0) != 0 }
        }

        private static func failure(_ body: () async throws(StorageError) -> Void) async -> StorageError? {
            do throws(StorageError) {
                try await body()
                return nil
            } catch {
                return error
            }
        }
    }
#endif
