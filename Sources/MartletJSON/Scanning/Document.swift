#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A scanned document: its bytes, its tape, and the strategies that read it.
///
/// The bytes belong to the caller of `decode`. If a decoder or container outlives that call, the document copies them
/// first (``keepBytes()``). Indexes come only from the tape, so every access is inside the two buffers.
final class Document {
    // Unchecked like the variables of ``Position``, and for the same reason.
    @exclusivity(unchecked) private(set) var bytes: UnsafePointer<UInt8>
    private let count: Int
    let tape: UnsafeMutablePointer<UInt32>
    private var ownsBytes = false
    let strategies: Strategies
    let userInfo: [CodingUserInfoKey: Any]
    /// A position that is no longer used, for the next value.
    @exclusivity(unchecked) var spare: Position?
    /// The last type that was asked for where the document has an array.
    @exclusivity(unchecked) private var lastArray: (type: ObjectIdentifier, array: (any JSONArray.Type)?)?
    /// Converted keys, so that the same key of many objects is converted once.
    var convertedKeys: [String: String] = [:]

    init(
        _ bytes: UnsafePointer<UInt8>, _ count: Int, _ strategies: Strategies,
        userInfo: [CodingUserInfoKey: any Sendable]
    ) throws(MalformedDocument) {
        var scanner = Scanner(bytes, count)
        do {
            try scanner.scan()
        } catch {
            scanner.tape.deallocate()
            throw error
        }
        self.bytes = bytes
        self.count = count
        self.strategies = strategies
        self.userInfo = userInfo.isEmpty ? [:] : userInfo.mapValues { $0 as Any }
        tape = scanner.tape
    }

    deinit {
        tape.deallocate()
        if ownsBytes { bytes.deallocate() }
    }

    /// Copies the bytes, because the caller is about to release them.
    func keepBytes() {
        guard !ownsBytes else { return }
        let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: count)
        copy.initialize(from: bytes, count: count)
        bytes = UnsafePointer(copy)
        ownsBytes = true
    }

    /// The first byte of the value at an index of the tape.
    @inline(__always)
    func firstByte(_ index: UInt32) -> UInt8 {
        index == Tape.absent ? Byte.n : bytes[Int(tape[Int(index)])]
    }

    @inline(__always)
    func isNull(_ index: UInt32) -> Bool { firstByte(index) == Byte.n }

    /// The index after a value.
    @inline(__always)
    func index(after index: UInt32) -> UInt32 {
        switch bytes[Int(tape[Int(index)])] {
        case Byte.quote: index + 2
        case Byte.openBrace, Byte.openBracket: tape[Int(index) + 1] & Tape.endMask
        default: index + 1
        }
    }

    /// The index after the last member of an array or object.
    @inline(__always)
    func end(_ index: UInt32) -> UInt32 { tape[Int(index) + 1] & Tape.endMask }

    /// The type, if it is a collection that the decoder reads itself.
    @inline(__always)
    func collection(_ type: Any.Type, _ value: UInt32) -> (any JSONCollection.Type)? {
        if strategies.convertsKeys, let dictionary = type as? any StringDictionary.Type { return dictionary }
        return firstByte(value) == Byte.openBracket ? array(type) : nil
    }

    /// The type, if it is an array. The cast takes longer than reading a small value, so equal types in a row need one.
    @inline(never)
    private func array(_ type: Any.Type) -> (any JSONArray.Type)? {
        if let lastArray, lastArray.type == ObjectIdentifier(type) { return lastArray.array }
        let array = type as? any JSONArray.Type
        lastArray = (ObjectIdentifier(type), array)
        return array
    }

    /// The number of elements of an array.
    func count(_ index: UInt32) -> Int {
        let end = end(index)
        var next = index + 2
        var count = 0
        while next != end {
            next = self.index(after: next)
            count += 1
        }
        return count
    }

    /// The bytes of a number. One of them may be the last byte of the document.
    @inline(__always)
    func number(_ index: UInt32) -> NumberText {
        NumberText(start: bytes + Int(tape[Int(index)]), limit: bytes + count)
    }

    func bool(_ index: UInt32) -> Bool? {
        switch firstByte(index) {
        case Byte.t: true
        case Byte.f: false
        default: nil
        }
    }

    /// `nil` for anything but a string, and for a string with an unpaired surrogate.
    @inline(__always)
    func string(_ index: UInt32) -> String? {
        guard firstByte(index) == Byte.quote else { return nil }
        let word = tape[Int(index) + 1]
        return text(at: tape[Int(index)], Int(word >> 2), kind: word & TextKind.mask)
    }

    /// `nil` for a key with an unpaired surrogate.
    func key(_ index: UInt32) -> String? {
        text(at: tape[Int(index)], keyLength(index), kind: tape[Int(index) + 1] & TextKind.mask)
    }

    func keyLength(_ index: UInt32) -> Int {
        let length = KeyWord.length(tape[Int(index) + 1])
        guard length == KeyWord.longLength else { return length }
        let first = bytes + Int(tape[Int(index)]) + 1
        var next = first
        // The scanner has seen the closing quote.
        while next.pointee != Byte.quote { next += next.pointee == Byte.backslash ? 2 : 1 }
        return next - first
    }

    @inline(__always)
    private func text(at offset: UInt32, _ length: Int, kind: UInt32) -> String? {
        let text = UnsafeBufferPointer(start: bytes + Int(offset) + 1, count: length)
        return kind <= TextKind.unicode
            ? String(decoding: text, as: UTF8.self) : kind == TextKind.escaped ? Escapes.resolve(text) : nil
    }

    /// The bytes of a string without escapes.
    func plainText(_ index: UInt32) -> UnsafeBufferPointer<UInt8>? {
        guard firstByte(index) == Byte.quote else { return nil }
        let word = tape[Int(index) + 1]
        guard word & TextKind.mask <= TextKind.unicode else { return nil }
        return UnsafeBufferPointer(start: bytes + Int(tape[Int(index)]) + 1, count: Int(word >> 2))
    }
}

/// The strategies that the decoder's user has set.
struct Strategies {
    var date = MartletJSONDecoder.DateDecodingStrategy.deferredToDate
    var data = MartletJSONDecoder.DataDecodingStrategy.base64
    var key = MartletJSONDecoder.KeyDecodingStrategy.useDefaultKeys
    var nonConformingFloat = MartletJSONDecoder.NonConformingFloatDecodingStrategy.throw

    var convertsKeys: Bool { if case .useDefaultKeys = key { false } else { true } }
}
