#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The members of an object.
struct KeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let position: Position

    var codingPath: [any CodingKey] { position.codingPath }
    var allKeys: [Key] { position.names.compactMap { Key(stringValue: $0) } }
    func contains(_ key: Key) -> Bool { position.find(key.stringValue) != Tape.absent }

    @inline(__always)
    private func required(_ key: Key) throws -> UInt32 {
        let value = position.find(key.stringValue)
        guard value != Tape.absent else { throw position.keyNotFound(key) }
        return value
    }

    /// The value of a key, or `nil` if it is missing or `null`.
    @inline(__always)
    private func optional(_ key: Key) -> UInt32? {
        let value = position.find(key.stringValue)
        return value == Tape.absent || position.document.isNull(value) ? nil : value
    }

    @inline(__always)
    private func scalar<Value: Scalar>(_ type: Value.Type, _ key: Key) throws -> Value {
        try Value.read(position, try required(key), .key(key))
    }

    @inline(__always)
    private func optionalScalar<Value: Scalar>(_ type: Value.Type, _ key: Key) throws -> Value? {
        guard let value = optional(key) else { return nil }
        return try Value.read(position, value, .key(key))
    }

    func decodeNil(forKey key: Key) throws -> Bool { position.document.isNull(try required(key)) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try position.decode(type, try required(key), .key(key))
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        guard let value = optional(key) else { return nil }
        return try position.decode(type, value, .key(key))
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try position.nested(try required(key), .key(key)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try position.nested(try required(key), .key(key)).unkeyedContainer()
    }

    /// A decoder for the key `super`. If the object does not have it, the decoder has `null`.
    func superDecoder() -> any Decoder {
        let key = JSONKey(stringValue: "super")
        return Position(position.document, value: position.find("super"), parent: position, step: .key(key))
    }

    func superDecoder(forKey key: Key) -> any Decoder {
        Position(position.document, value: position.find(key.stringValue), parent: position, step: .key(key))
    }
}

// The calls for each scalar type. The requirements of the protocol are not generic.
extension KeyedContainer {
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try scalar(type, key) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try scalar(type, key) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try scalar(type, key) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try scalar(type, key) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try scalar(type, key) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try scalar(type, key) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try scalar(type, key) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try scalar(type, key) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try scalar(type, key) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try scalar(type, key) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try scalar(type, key) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try scalar(type, key) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try scalar(type, key) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try scalar(type, key) }
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try scalar(type, key) }
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try scalar(type, key) }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try optionalScalar(type, key) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try optionalScalar(type, key) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try optionalScalar(type, key) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try optionalScalar(type, key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try optionalScalar(type, key) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try optionalScalar(type, key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try optionalScalar(type, key) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try optionalScalar(type, key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try optionalScalar(type, key) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try optionalScalar(type, key) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try optionalScalar(type, key) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try optionalScalar(type, key) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try optionalScalar(type, key) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try optionalScalar(type, key) }
}
