#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A property list in Apple's binary format (`bplist00`): what `NSKeyedArchiver` writes by default.
///
/// Foundation's readers do not fit. `NSKeyedUnarchiver` would need classes named like those of the other library. On
/// Linux (Swift 6.3), it and `PropertyListSerialization` end the process on some damaged archives, and neither finishes
/// within 20 seconds on 1,385 bytes that repeat their objects. `PropertyListDecoder` does not support the UIDs of an
/// archive.
///
/// This reader follows the layout that Apple publishes in `CFBinaryPList.c`. It reads one object at a time, never
/// recurses, and checks each offset and count before it uses it.
struct BinaryPropertyList: Sendable {
    /// An object of the list. A container has the indexes of its elements.
    enum Value {
        case boolean(Bool)
        case integer(Int64)
        case real(Double)
        case string(String)
        case uid(Int)
        case array([Int])
        case dictionary([(key: Int, value: Int)])
        /// Null, data, a plain date: types that the records of this module do not need.
        case other
    }

    /// The place of an object's content.
    private struct Extent {
        var type: UInt8
        var info: Int
        var start: Int
        var count: Int
        var length: Int
    }

    private let bytes: [UInt8]
    private let offsetSize: Int
    private let referenceSize: Int
    private let tableStart: Int
    /// The number of objects.
    let count: Int
    /// The index of the outermost object.
    let top: Int

    init(_ data: Data) throws(RecordProblem) {
        let bytes = [UInt8](data)
        guard bytes.starts(with: Array("bplist0".utf8)) else {
            throw .foreign("the data is not a keyed archive in the binary format")
        }
        let trailer = bytes.count - 32
        guard trailer > 8 else { throw .damaged("the archive is cut off") }
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize),
            let count = Self.number(in: bytes, at: trailer + 8, size: 8), (1...bytes.count).contains(count),
            let top = Self.number(in: bytes, at: trailer + 16, size: 8), top < count,
            let tableStart = Self.number(in: bytes, at: trailer + 24, size: 8), (9...trailer).contains(tableStart),
            count * offsetSize <= trailer - tableStart
        else { throw .damaged("the archive is cut off, or its table of objects is damaged") }
        self.bytes = bytes
        self.count = count
        self.top = top
        self.tableStart = tableStart
    }

    /// The object at an index.
    func value(at index: Int) throws(RecordProblem) -> Value {
        let extent = try extent(at: index)
        switch extent.type {
        case 0x0: return extent.info == 0 ? .other : .boolean(extent.info == 9)
        case 0x1: return integer(extent)
        case 0x2: return real(extent)
        case 0x5: return .string(try text(extent))
        case 0x6: return .string(wideText(extent))
        case 0x8: return .uid(try number(at: extent.start, size: extent.length))
        case 0xA: return .array(try references(extent.start, extent.count))
        case 0xD:
            let keys = try references(extent.start, extent.count)
            let values = try references(extent.start + extent.count * referenceSize, extent.count)
            return .dictionary(zip(keys, values).map { (key: $0, value: $1) })
        default: return .other
        }
    }

    var length: Int { bytes.count }

    /// The number of bytes that an object fills, without its elements.
    func size(at index: Int) throws(RecordProblem) -> Int {
        try extent(at: index).length + 1
    }

    private func extent(at index: Int) throws(RecordProblem) -> Extent {
        guard index >= 0, index < count else { throw .damaged("an object of the archive is missing") }
        let offset = try number(at: tableStart + index * offsetSize, size: offsetSize)
        guard (8..<tableStart).contains(offset) else { throw .damaged("an object lies outside the archive") }
        let info = Int(bytes[offset] & 0xF)
        var extent = Extent(type: bytes[offset] >> 4, info: info, start: offset + 1, count: info, length: 0)
        if info == 0xF, [0x4, 0x5, 0x6, 0xA, 0xD].contains(extent.type) { try readLongCount(of: &extent) }
        guard extent.count <= tableStart, let length = length(of: extent) else {
            throw .damaged("an object of the archive has an unknown type or size")
        }
        guard length <= tableStart - extent.start else { throw .damaged("an object of the archive is cut off") }
        extent.length = length
        return extent
    }

    /// Reads the count that does not fit into the first byte of an object: an integer object follows.
    private func readLongCount(of extent: inout Extent) throws(RecordProblem) {
        let marker = bytes[extent.start]
        guard marker >> 4 == 0x1, marker & 0xF <= 3 else { throw .damaged("the size of an object is damaged") }
        let size = 1 << Int(marker & 0xF)
        extent.count = try number(at: extent.start + 1, size: size)
        extent.start += 1 + size
    }

    private func length(of extent: Extent) -> Int? {
        switch (extent.type, extent.info) {
        case (0x0, 0), (0x0, 8), (0x0, 9): 0
        case (0x1, 0...4), (0x2, 2...3), (0x3, 3): 1 << extent.info
        case (0x4, _), (0x5, _): extent.count
        case (0x6, _): extent.count * 2
        case (0x8, 0...7): extent.info + 1
        case (0xA, _): extent.count * referenceSize
        case (0xD, _): extent.count * referenceSize * 2
        default: nil
        }
    }

    private func integer(_ extent: Extent) -> Value {
        // Integers of 16 bytes are numbers above Int64.max, which no record has.
        guard extent.length <= 8 else { return .other }
        let pattern = bits(at: extent.start, size: extent.length)
        // Only integers of eight bytes have a sign.
        return .integer(Int64(bitPattern: pattern))
    }

    private func real(_ extent: Extent) -> Value {
        let pattern = bits(at: extent.start, size: extent.length)
        if extent.length == 4 { return .real(Double(Float(bitPattern: UInt32(truncatingIfNeeded: pattern)))) }
        return .real(Double(bitPattern: pattern))
    }

    private func text(_ extent: Extent) throws(RecordProblem) -> String {
        let units = bytes[extent.start..<extent.start + extent.length]
        guard units.allSatisfy({ $0 < 0x80 }) else { throw .damaged("a string of the archive is damaged") }
        return String(decoding: units, as: UTF8.self)
    }

    private func wideText(_ extent: Extent) -> String {
        let units = (0..<extent.count).map { UInt16(bits(at: extent.start + $0 * 2, size: 2)) }
        return String(decoding: units, as: UTF16.self)
    }

    private func references(_ start: Int, _ count: Int) throws(RecordProblem) -> [Int] {
        var references: [Int] = []
        references.reserveCapacity(count)
        for element in 0..<count {
            references.append(try number(at: start + element * referenceSize, size: referenceSize))
        }
        return references
    }

    private func number(at offset: Int, size: Int) throws(RecordProblem) -> Int {
        guard let number = Self.number(in: bytes, at: offset, size: size) else {
            throw .damaged("a number of the archive is damaged")
        }
        return number
    }

    private func bits(at offset: Int, size: Int) -> UInt64 {
        Self.bits(in: bytes, at: offset, size: size)
    }

    private static func number(in bytes: [UInt8], at offset: Int, size: Int) -> Int? {
        guard offset >= 0, size <= 8, offset <= bytes.count - size else { return nil }
        return Int(exactly: bits(in: bytes, at: offset, size: size))
    }

    /// Up to eight bytes, most significant first.
    private static func bits(in bytes: [UInt8], at offset: Int, size: Int) -> UInt64 {
        bytes[offset..<offset + size].reduce(0) { $0 << 8 | UInt64($1) }
    }
}
