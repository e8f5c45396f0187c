#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The position of a record or an ``EndMark`` in the order of everything that the processes of a store have written: by
/// sign-in first, then by refresh.
package struct SessionPosition: Sendable, Hashable, Comparable {
    /// The number of the sign-in. See ``StoredSession/generation``.
    package let generation: Int
    /// The number of refreshes since that sign-in.
    package let rotation: Int

    package init(generation: Int, rotation: Int) {
        self.generation = generation
        self.rotation = rotation
    }

    /// The position after a sign-in and all its refreshes.
    static func end(ofGeneration generation: Int) -> SessionPosition {
        SessionPosition(generation: generation, rotation: .max)
    }

    /// Lower than the position of any record.
    static let beforeAll = SessionPosition(generation: -1, rotation: 0)

    /// The lowest generation of a sign-in that comes after this position.
    var generationAbove: Int {
        generation < StoredSession.highestGeneration ? generation + 1 : StoredSession.highestGeneration
    }

    package static func < (a: SessionPosition, b: SessionPosition) -> Bool {
        (a.generation, a.rotation) < (b.generation, b.rotation)
    }
}

/// Marks a position up to which all sessions have ended. A record at or below the mark has ended, even if a process
/// writes it again. A store keeps the mark beside the record, or in its place.
///
/// A mark contains the position and the reason for the end, but neither a token nor a user. A custom ``TokenStore``
/// converts it to bytes and back with ``encoded()`` and ``init(encoded:)``.
public struct EndMark: Sendable, Hashable {
    /// Records up to this position have ended.
    package let position: SessionPosition
    /// The reason why the session expired; `nil` if a user signed out or another user signed in.
    public let expiry: ExpiryReason?
    /// Whether the position comes from the clock, because the process that ended the session could not read the store.
    package let isEstimate: Bool
    /// If the position is an estimate, the highest position of a record or another mark that is known to have ended.
    package private(set) var floor: SessionPosition?

    package init(
        _ position: SessionPosition, expiry: ExpiryReason? = nil, isEstimate: Bool = false,
        floor: SessionPosition? = nil
    ) {
        self.position = position
        self.expiry = expiry
        self.isEstimate = isEstimate
        self.floor = isEstimate ? floor : nil
    }

    /// Whether a record has ended.
    public func covers(_ session: StoredSession) -> Bool {
        session.position <= position
    }

    /// Whether this mark ends more sessions than another one. A store keeps the higher of two marks.
    public func isHigher(than other: EndMark) -> Bool {
        position > other.position
    }

    /// The mark with the higher position, which also keeps what the other one says for certain.
    package static func later(_ a: EndMark?, _ b: EndMark?) -> EndMark? {
        guard let a, let b else { return a ?? b }
        return b.isHigher(than: a) ? b.raisingFloor(to: a.certainPosition) : a.raisingFloor(to: b.certainPosition)
    }

    /// The position up to which sessions have ended for certain, whatever the clocks say.
    var certainPosition: SessionPosition? { isEstimate ? floor : position }

    /// The mark of an ending that also covers a record or a mark at a position.
    func raisingFloor(to position: SessionPosition?) -> EndMark {
        guard isEstimate, let position, position > floor ?? .beforeAll else { return self }
        var mark = self
        mark.floor = position
        return mark
    }
}

// MARK: - Encoding

extension EndMark {
    private struct Encoded: Codable {
        var version = 1
        var generation: Int
        var rotation: Int
        var expiry: Expiry?
        var isEstimate: Bool?
        var floor: Position?
    }

    private struct Position: Codable {
        var generation: Int
        var rotation: Int
    }

    private struct Expiry: Codable {
        enum Kind: String, Codable {
            case refreshTokenRejected, noRefreshToken, rotationLost
        }

        var kind: Kind
        var code: String?
    }

    /// The mark as bytes, for a custom ``TokenStore``.
    /// - Throws: `EncodingError`. Martlet's own marks can always be encoded.
    public func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let expiry = expiry.map { reason in
            switch reason {
            case .refreshTokenRejected(let code): Expiry(kind: .refreshTokenRejected, code: code)
            case .noRefreshToken: Expiry(kind: .noRefreshToken)
            case .rotationLost: Expiry(kind: .rotationLost)
            }
        }
        return try encoder.encode(
            Encoded(
                generation: position.generation, rotation: position.rotation, expiry: expiry,
                isEstimate: isEstimate ? true : nil,
                floor: floor.map { Position(generation: $0.generation, rotation: $0.rotation) }))
    }

    /// Creates a mark from the bytes that ``encoded()`` has returned.
    /// - Throws: ``StorageError`` of the kind ``StorageError/Kind/corrupt`` or ``StorageError/Kind/tooNew``.
    public init(encoded bytes: Data) throws(StorageError) {
        guard let found = try? JSONDecoder().decode(Encoded.self, from: bytes) else {
            throw StorageError(.corrupt, "the mark of the last sign-out (\(bytes.count) bytes) is damaged")
        }
        guard found.version == 1 else {
            throw StorageError(.tooNew, "the mark of the last sign-out has version \(found.version); update the app")
        }
        let expiry = found.expiry.map { expiry -> ExpiryReason in
            switch expiry.kind {
            case .refreshTokenRejected: .refreshTokenRejected(code: expiry.code)
            case .noRefreshToken: .noRefreshToken
            case .rotationLost: .rotationLost
            }
        }
        // Clamp a damaged number: it must not overflow when a later sign-in adds to it.
        func position(_ generation: Int, _ rotation: Int) -> SessionPosition {
            SessionPosition(generation: min(max(generation, 0), StoredSession.highestGeneration), rotation: rotation)
        }
        self.init(
            position(found.generation, found.rotation), expiry: expiry, isEstimate: found.isEstimate == true,
            floor: found.floor.map { position($0.generation, $0.rotation) })
    }
}
