#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Turns a session into the bytes that stores keep, and back.
///
/// The bytes are JSON with a version number. What cannot be read, or comes from a newer version, is reported as such;
/// whoever reads must leave it as it is.
public enum StoredSessionCodec {
    /// The version that this code writes.
    public static let version = 1

    private struct Versioned: Codable {
        var version: Int
        var session: StoredSession
    }

    private struct VersionOnly: Codable {
        var version: Int
    }

    /// The bytes of a session.
    public static func encode(_ session: StoredSession) throws -> Data {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .millisecondsSince1970
        encoder.outputFormatting = .sortedKeys
        return try encoder.encode(Versioned(version: version, session: session))
    }

    /// The session of some bytes.
    public static func decode(_ bytes: Data) throws(StorageFailure) -> StoredSession {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .millisecondsSince1970
        guard let found = try? decoder.decode(VersionOnly.self, from: bytes) else {
            throw StorageFailure(.corrupt, "the stored session (\(bytes.count) bytes) is damaged")
        }
        guard found.version <= version else {
            throw StorageFailure(
                .tooNew, "the stored session has version \(found.version); this app understands up to \(version)")
        }
        guard let session = try? decoder.decode(Versioned.self, from: bytes).session else {
            throw StorageFailure(.corrupt, "the stored session (\(bytes.count) bytes) is damaged")
        }
        return session
    }
}
