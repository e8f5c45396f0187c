#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A value in the document and its path. It is the decoder that is passed to `init(from:)`.
final class Position: Decoder {
    let document: Document
    // Run-time checks for overlapping accesses would take a tenth of the time. No access spans a call of foreign code,
    // and decoders stay in the task of their document.
    /// The index of the value on the tape.
    @exclusivity(unchecked) private(set) var value: UInt32
    @exclusivity(unchecked) private(set) var parent: Position?
    @exclusivity(unchecked) private(set) var step: Step
    /// Whether a container was requested directly, without a decoder of its own.
    private(set) var isNested = false
    /// The index on the tape of the key that the last lookup found; at first, that of the object's first key.
    @exclusivity(unchecked) var lastKey: UInt32
    /// The index of the key after it; at first, that of the object's first key, too.
    @exclusivity(unchecked) var nextKey: UInt32
    /// The values of an object by key; `nil` if the bytes of its keys can be compared instead. They cannot if a key may
    /// occur twice, is outside plain ASCII, or is converted.
    @exclusivity(unchecked) var members: [String: UInt32]?

    /// The step from the parent to this value.
    enum Step {
        case none
        case key(any CodingKey)
        case element(Int)
    }

    init(_ document: Document, value: UInt32, parent: Position? = nil, step: Step = .none) {
        self.document = document
        self.value = value
        self.parent = parent
        self.step = step
        lastKey = value &+ 2
        nextKey = lastKey
    }

    // MARK: - Children

    @inline(__always)
    func child(_ value: UInt32, _ step: Step) -> Position {
        guard let spare = document.spare else {
            return Position(document, value: value, parent: self, step: step)
        }
        document.spare = nil
        spare.value = value
        spare.parent = self
        spare.step = step
        spare.lastKey = value &+ 2
        spare.nextKey = value &+ 2
        return spare
    }

    func nested(_ value: UInt32, _ step: Step) -> Position {
        let position = Position(document, value: value, parent: self, step: step)
        position.isNested = true
        return position
    }

    /// Decodes with a child, and reuses the child for the next value unless the decoded type has kept it.
    @inline(__always)
    func withChild<Value>(
        _ value: UInt32, _ step: Step, _ body: (Position) throws -> Value
    ) rethrows -> Value {
        var child = child(value, step)
        let result = try body(child)
        if isKnownUniquelyReferenced(&child) {
            child.parent = nil
            child.members = nil
            document.spare = child
        }
        return result
    }

    // MARK: - Decoder

    var userInfo: [CodingUserInfoKey: Any] { document.userInfo }

    var codingPath: [any CodingKey] {
        var path: [any CodingKey] = []
        var position = self
        while true {
            switch position.step {
            case .none: break
            case .key(let key): path.append(key)
            case .element(let index): path.append(JSONKey(index: index))
            }
            guard let parent = position.parent else { break }
            position = parent
        }
        return path.reversed()
    }

    /// The path of the `init(from:)` that is running. Foundation reports it for a date that it cannot read.
    var decoderPath: [any CodingKey] {
        var position = self
        while position.isNested, let parent = position.parent { position = parent }
        return position.codingPath
    }

    func path(_ step: Step) -> [any CodingKey] {
        switch step {
        case .none: codingPath
        case .key(let key): codingPath + [key]
        case .element(let index): codingPath + [JSONKey(index: index)]
        }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard document.firstByte(value) == Byte.openBrace else { throw notAContainer([String: Any].self, "keyed") }
        try prepareMembers()
        return KeyedDecodingContainer(KeyedContainer(position: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard document.firstByte(value) == Byte.openBracket else { throw notAContainer([Any].self, "unkeyed") }
        return UnkeyedContainer(self)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { SingleValue(position: self) }
}

/// A key that has no type: an index, a name of the document, or `super`.
struct JSONKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = String(intValue)
        self.intValue = intValue
    }

    init(index: Int) {
        stringValue = "Index \(index)"
        intValue = index
    }
}
