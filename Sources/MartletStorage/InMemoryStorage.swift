#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Keeps secrets until the process ends.
final class InMemoryStorage: SecureStorage {
    // Keyed by bytes: `String` compares canonically equivalent keys as equal, and other stores do not.
    private let values = Locked<[[UInt8]: Data]>([:])

    func read(_ key: String) async -> Data? {
        values.withLock { $0[Array(key.utf8)] }
    }

    func save(_ value: Data, for key: String) async {
        values.withLock { $0[Array(key.utf8)] = value }
    }

    func delete(_ key: String) async {
        values.withLock { $0[Array(key.utf8)] = nil }
    }

    func keys() async -> [String] {
        values.withLock { values in values.keys.map { String(decoding: $0, as: UTF8.self) } }.sorted()
    }
}

extension SecureStorage where Self == AnySecureStorage {
    /// Keeps secrets until the process ends: for tests and previews.
    public static var inMemory: AnySecureStorage { AnySecureStorage(InMemoryStorage()) }
}
