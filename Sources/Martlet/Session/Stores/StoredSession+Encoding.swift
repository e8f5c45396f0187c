internal import MartletStorage

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Converts a session to the bytes that a ``TokenStore`` keeps, and back. The format is JSON with a version number.
extension StoredSession {
    /// The version that ``encoded()`` writes.
    static let encodingVersion = 1

    private struct Versioned: Codable {
        var version: Int
        var session: StoredSession
    }

    /// The part of the format that all versions share.
    private struct VersionOnly: Codable {
        var version: Int
    }

    /// The session as bytes, for a custom ``TokenStore``.
    /// - Throws: `EncodingError`, if a number of the record is not finite.
    public func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .millisecondsSince1970
        encoder.outputFormatting = .sortedKeys
        return try encoder.encode(Versioned(version: Self.encodingVersion, session: self))
    }

    /// Creates a session from the bytes that ``encoded()`` has returned.
    /// - Throws: ``StorageError`` of the kind ``StorageError/Kind/corrupt``, ``StorageError/Kind/tooNew``, or
    ///   ``StorageError/Kind/foreign`` if the bytes were not written by Martlet.
    public init(encoded bytes: Data) throws(StorageError) {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .millisecondsSince1970
        guard let found = try? decoder.decode(VersionOnly.self, from: bytes) else {
            guard Self.mayBeDamaged(bytes) else {
                throw StorageError(
                    .foreign, "what is stored there (\(bytes.count) bytes) was not written by Martlet; it is left alone"
                )
            }
            throw StorageError(.corrupt, "the stored session (\(bytes.count) bytes) is damaged; sign in again")
        }
        guard found.version <= Self.encodingVersion else {
            throw StorageError(
                .tooNew,
                "the stored session has version \(found.version), and this app reads up to \(Self.encodingVersion); "
                    + "update the app"
            )
        }
        guard let session = try? decoder.decode(Versioned.self, from: bytes).session else {
            throw StorageError(.corrupt, "the stored session (\(bytes.count) bytes) is damaged; sign in again")
        }
        self = session
    }

    /// Whether bytes without a version may be a damaged record, or an encrypted one. Any other complete JSON object
    /// belongs to another program.
    private static func mayBeDamaged(_ bytes: Data) -> Bool {
        guard let first = bytes.first, !bytes.starts(with: PrivateFile.sealedMagic) else { return true }
        if first == UInt8(ascii: "{"), JSONValue(body: bytes) == nil { return true }
        let text = String(decoding: bytes, as: UTF8.self)
        let names = [
            "\"version\":", "\"session\":{", "\"id\":", "\"rotation\":", "\"bundle\":{", "\"accessToken\":",
            "\"account\":{",
        ]
        return names.count { text.contains($0) } >= names.count - 1
    }
}
