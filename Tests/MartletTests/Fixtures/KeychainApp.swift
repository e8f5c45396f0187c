import Foundation
import MartletTesting

@testable import Martlet
@testable import MartletStorage

/// An installation of an app on a device with a Keychain.
struct KeychainApp: Sendable {
    let keychain: FakeKeychain
    /// The app's container.
    let folder: String
    var settings = KeychainStorage.Settings(service: "com.example.app")
    var hasLogin = false
    let unlocks = Unlocks()

    /// Notifies listeners when the device is unlocked.
    final class Unlocks: Sendable {
        private let listeners = Locked<[AsyncStream<Void>.Continuation]>([])

        func listen() -> AsyncStream<Void> {
            let (stream, continuation) = AsyncStream<Void>.makeStream()
            listeners.withLock { $0.append(continuation) }
            return stream
        }

        func tell() {
            for listener in listeners.withLock({ $0 }) { listener.yield() }
        }
    }

    func storage() -> KeychainStorage {
        KeychainStorage(
            settings, calls: keychain.calls, hasLogin: hasLogin,
            makeUnlockStream: { [unlocks] in unlocks.listen() })
    }

    func store(account: String = "session") -> SecureTokenStore {
        SecureTokenStore(storage: storage(), key: account, folder: folder)
    }

    func unlock() {
        keychain.change { $0.device = .unlocked }
        unlocks.tell()
    }

    /// Deletes the app and installs it again.
    func reinstall() throws {
        try FileManager.default.removeItem(atPath: folder)
    }

    static func with<Result>(
        _ keychain: FakeKeychain = FakeKeychain(), _ body: (KeychainApp) async throws -> Result
    ) async throws -> Result {
        try await TemporaryFolder.with { folder in
            try await body(KeychainApp(keychain: keychain, folder: folder.path + "/container"))
        }
    }
}
