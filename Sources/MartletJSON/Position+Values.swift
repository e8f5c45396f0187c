#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The types that the decoder reads itself. All others read themselves with `init(from:)`.
enum ValueKind {
    case date
    case data
    case url
    case decimal
    case bool
    case string
    case double
    case float
    case int
    case int64
    case int32
    case uint8
    case strings
    case doubles
    case floats
    case ints
    case bools
    case dates

    /// A hash table with empty slots between the types. A cast or a dictionary would cost more than reading the value.
    private static let table: [(type: ObjectIdentifier, kind: ValueKind)?] = {
        let kinds: [(any Decodable.Type, ValueKind)] = [
            (Date.self, .date), (Data.self, .data), (URL.self, .url), (Decimal.self, .decimal), (Bool.self, .bool),
            (String.self, .string), (Double.self, .double), (Float.self, .float), (Int.self, .int),
            (Int64.self, .int64),
            (Int32.self, .int32), (UInt8.self, .uint8), ([String].self, .strings), ([Double].self, .doubles),
            ([Float].self, .floats), ([Int].self, .ints), ([Bool].self, .bools), ([Date].self, .dates),
        ]
        var table: [(type: ObjectIdentifier, kind: ValueKind)?] = Array(repeating: nil, count: 128)
        for (type, kind) in kinds {
            var slot = slot(ObjectIdentifier(type))
            while table[slot] != nil { slot = (slot + 1) & 127 }
            table[slot] = (ObjectIdentifier(type), kind)
        }
        return table
    }()

    @inline(__always)
    static func of(_ type: Any.Type) -> ValueKind? {
        let identifier = ObjectIdentifier(type)
        let table = table
        var slot = slot(identifier)
        while let entry = table[slot] {
            if entry.type == identifier { return entry.kind }
            slot = (slot + 1) & 127
        }
        return nil
    }

    private static func slot(_ identifier: ObjectIdentifier) -> Int {
        Int(truncatingIfNeeded: (UInt64(UInt(bitPattern: identifier)) &* 0x9E37_79B9_7F4A_7C15) >> 57)
    }
}

extension Position {
    /// The value at an index of the tape. `step` leads to it from this position.
    func decode<Value: Decodable>(_ type: Value.Type, _ value: UInt32, _ step: Step) throws -> Value {
        guard let kind = ValueKind.of(type) else { return try decodeOther(type, value, step) }
        // The kind proves that the result has the type.
        func cast<Result>(_ result: Result) -> Value { unsafeBitCast(result, to: Value.self) }
        switch kind {
        case .date: return cast(try date(value, step))
        case .data: return cast(try data(value, step))
        case .url: return cast(try url(value, step))
        case .decimal: return cast(try decimal(value, step))
        case .bool: return cast(try Bool.read(self, value, step))
        case .string: return cast(try String.read(self, value, step))
        case .double: return cast(try Double.read(self, value, step))
        case .float: return cast(try Float.read(self, value, step))
        case .int: return cast(try Int.read(self, value, step))
        case .int64: return cast(try Int64.read(self, value, step))
        case .int32: return cast(try Int32.read(self, value, step))
        case .uint8: return cast(try UInt8.read(self, value, step))
        case .strings: return cast(try array(String.self, value, step))
        case .doubles: return cast(try array(Double.self, value, step))
        case .floats: return cast(try array(Float.self, value, step))
        case .ints: return cast(try array(Int.self, value, step))
        case .bools: return cast(try array(Bool.self, value, step))
        case .dates: return cast(try array(value, step) { try $0.date($1, .element($2)) })
        }
    }

    @inline(__always)
    private func decodeOther<Value: Decodable>(_ type: Value.Type, _ value: UInt32, _ step: Step) throws -> Value {
        // No `Value?` here: the lookup of its metadata would take as long as reading three numbers.
        if let collection = document.collection(type, value) { return try decode(collection, value, step) }
        if case .none = step { return try Value(from: self) }
        return try withChild(value, step) { try Value(from: $0) }
    }

    @inline(never)
    private func decode<Value>(_ type: any JSONCollection.Type, _ value: UInt32, _ step: Step) throws -> Value {
        // The type is that of `Value`.
        func cast<Result>(_ result: Result) -> Value { unsafeBitCast(result, to: Value.self) }
        return cast(try type.decode(self, value, step))
    }

    @inline(__always)
    private func array<Element: Scalar>(_ type: Element.Type, _ value: UInt32, _ step: Step) throws -> [Element] {
        try array(value, step) { child, value, index in try Element.read(child, value, .element(index)) }
    }

    /// Decodes an array without a container.
    @inline(__always)
    fileprivate func array<Element>(
        _ value: UInt32, _ step: Step, _ read: (_ child: Position, _ value: UInt32, _ index: Int) throws -> Element
    ) throws -> [Element] {
        try withChild(value, step) { child in
            guard document.firstByte(value) == Byte.openBracket else {
                throw child.notAContainer([Any].self, "unkeyed")
            }
            // `append` would look up the metadata of the array for each element of a type that is not known here.
            return try Array(unsafeUninitializedCapacity: document.count(value)) { elements, count in
                let end = document.end(value)
                var next = value + 2
                while next != end {
                    elements.initializeElement(at: count, to: try read(child, next, count))
                    count += 1
                    next = document.index(after: next)
                }
            }
        }
    }
}

/// A collection that the decoder reads without a container of its own.
protocol JSONCollection {
    static func decode(_ position: Position, _ value: UInt32, _ step: Position.Step) throws -> Self
}

/// Arrays of every type that can be decoded.
protocol JSONArray: JSONCollection {}

extension Array: JSONCollection, JSONArray where Element: Decodable {
    static func decode(_ position: Position, _ value: UInt32, _ step: Position.Step) throws -> [Element] {
        try position.array(value, step) { try $0.decode(Element.self, $1, .element($2)) }
    }
}

/// Dictionaries with strings as keys. A key strategy leaves their keys alone.
protocol StringDictionary: JSONCollection {}

extension Dictionary: JSONCollection, StringDictionary where Key == String, Value: Decodable {
    static func decode(_ position: Position, _ value: UInt32, _ step: Position.Step) throws -> [String: Value] {
        let document = position.document
        if document.isNull(value) { throw position.missing([String: Any].self, step) }
        guard document.firstByte(value) == Byte.openBrace else {
            throw position.mismatch([String: Any].self, at: value, step)
        }
        return try position.withChild(value, step) { child in
            var result: [String: Value] = [:]
            try child.forEachMember { key, value in
                let element = try child.decode(Value.self, value, .key(JSONKey(stringValue: key)))
                if result[key] == nil { result[key] = element }
            }
            return result
        }
    }
}
