#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Keeps secrets until the process ends.
final class InMemoryStorage: SecureStorage {
    private let values = Locked<[String: Data]>([:])

    func read(_ key: String) async -> Data? {
        values.withLock { $0[key] }
    }

    func save(_ value: Data, for key: String) async {
        values.withLock { $0[key] = value }
    }

    func delete(_ key: String) async {
        values.withLock { $0[key] = nil }
    }

    func keys() async -> [String] {
        values.withLock { $0.keys.sorted() }
    }
}

extension SecureStorage where Self == AnySecureStorage {
    /// Keeps secrets until the process ends: for tests and previews.
    public static var inMemory: AnySecureStorage { AnySecureStorage(InMemoryStorage()) }
}
