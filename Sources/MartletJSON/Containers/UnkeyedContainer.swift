/// The elements of an array.
struct UnkeyedContainer: UnkeyedDecodingContainer {
    let position: Position
    /// The next element, and the index after the last one.
    private var next: UInt32
    private let end: UInt32
    private(set) var currentIndex = 0

    init(_ position: Position) {
        self.position = position
        next = position.value + 2
        end = position.document.end(position.value)
    }

    var codingPath: [any CodingKey] { position.codingPath }
    var isAtEnd: Bool { next == end }
    var count: Int? { position.document.count(position.value) }

    /// Moves to the next element if the body does not throw.
    @inline(__always)
    private mutating func element<Value>(
        _ type: Any.Type, _ body: (Position, UInt32, Position.Step) throws -> Value
    ) throws -> Value {
        guard next != end else { throw atEnd(type) }
        let value = try body(position, next, .element(currentIndex))
        next = position.document.index(after: next)
        currentIndex += 1
        return value
    }

    /// Skips `null`. At the end there is no value, but the index advances anyway, as in Foundation's decoder.
    @inline(__always)
    private mutating func optional<Value>(
        _ type: Any.Type, _ body: (Position, UInt32, Position.Step) throws -> Value
    ) throws -> Value? {
        guard next != end else {
            currentIndex += 1
            return nil
        }
        return try element(type) { try $0.document.isNull($1) ? nil : body($0, $1, $2) }
    }

    private func atEnd(_ type: Any.Type) -> DecodingError {
        let path = position.path(.element(currentIndex))
        let isDecoder = type == (any Decoder).self
        let text = isDecoder ? "Cannot get superDecoder() -- unkeyed" : "Unkeyed"
        return .valueNotFound(
            type, DecodingError.Context(codingPath: path, debugDescription: text + " container is at end."))
    }

    mutating func decodeNil() throws -> Bool {
        guard next != end else { throw atEnd(Never.self) }
        guard position.document.isNull(next) else { return false }
        next += 1
        currentIndex += 1
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try element(type) { try $0.decode(type, $1, $2) }
    }

    mutating func decodeIfPresent<Value: Decodable>(_ type: Value.Type) throws -> Value? {
        try optional(type) { try $0.decode(type, $1, $2) }
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try element(KeyedDecodingContainer<NestedKey>.self) { try $0.nested($1, $2).container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try element((any UnkeyedDecodingContainer).self) { try $0.nested($1, $2).unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder {
        try element((any Decoder).self) { Position($0.document, value: $1, parent: $0, step: $2) }
    }

    @inline(__always)
    private mutating func scalar<Value: Scalar>(_ type: Value.Type) throws -> Value {
        try element(type) { try Value.read($0, $1, $2) }
    }

    @inline(__always)
    private mutating func optionalScalar<Value: Scalar>(_ type: Value.Type) throws -> Value? {
        try optional(type) { try Value.read($0, $1, $2) }
    }
}

// The calls for each scalar type. The requirements of the protocol are not generic.
extension UnkeyedContainer {
    mutating func decode(_ type: Bool.Type) throws -> Bool { try scalar(type) }
    mutating func decode(_ type: String.Type) throws -> String { try scalar(type) }
    mutating func decode(_ type: Double.Type) throws -> Double { try scalar(type) }
    mutating func decode(_ type: Float.Type) throws -> Float { try scalar(type) }
    mutating func decode(_ type: Int.Type) throws -> Int { try scalar(type) }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try scalar(type) }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try scalar(type) }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try scalar(type) }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try scalar(type) }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try scalar(type) }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try scalar(type) }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try scalar(type) }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try scalar(type) }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try scalar(type) }
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    mutating func decode(_ type: Int128.Type) throws -> Int128 { try scalar(type) }
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try scalar(type) }

    mutating func decodeIfPresent(_ type: Bool.Type) throws -> Bool? { try optionalScalar(type) }
    mutating func decodeIfPresent(_ type: String.Type) throws -> String? { try optionalScalar(type) }
    mutating func decodeIfPresent(_ type: Double.Type) throws -> Double? { try optionalScalar(type) }
    mutating func decodeIfPresent(_ type: Float.Type) throws -> Float? { try optionalScalar(type) }
    mutating func decodeIfPresent(_ type: Int.Type) throws -> Int? { try optionalScalar(type) }
    mutating func decodeIfPresent(_ type: Int8.Type) throws -> Int8? { try optionalScalar(type) }
    mutating func decodeIfPresent(_ type: Int16.Type) throws -> Int16? { try optionalScalar(type) }
    mutating func decodeIfPresent(_ type: Int32.Type) throws -> Int32? { try optionalScalar(type) }
    mutating func decodeIfPresent(_ type: Int64.Type) throws -> Int64? { try optionalScalar(type) }
    mutating func decodeIfPresent(_ type: UInt.Type) throws -> UInt? { try optionalScalar(type) }
    mutating func decodeIfPresent(_ type: UInt8.Type) throws -> UInt8? { try optionalScalar(type) }
    mutating func decodeIfPresent(_ type: UInt16.Type) throws -> UInt16? { try optionalScalar(type) }
    mutating func decodeIfPresent(_ type: UInt32.Type) throws -> UInt32? { try optionalScalar(type) }
    mutating func decodeIfPresent(_ type: UInt64.Type) throws -> UInt64? { try optionalScalar(type) }
}
