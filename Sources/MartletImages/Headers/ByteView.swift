#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Bytes that were not made to be trusted: what lies beyond their end is `nil`.
struct ByteView {
    private let bytes: UnsafeRawBufferPointer

    /// - Parameter bytes: They have to stay for as long as the view is used.
    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    var count: Int { bytes.count }
    var start: UnsafePointer<UInt8>? { bytes.assumingMemoryBound(to: UInt8.self).baseAddress }

    subscript(place: Int) -> UInt8? {
        bytes.indices.contains(place) ? bytes[place] : nil
    }

    /// A part, cut off at the end where it would go beyond.
    func part(from start: Int, count: Int) -> ByteView {
        let lower = min(max(start, 0), bytes.count)
        let upper = lower + min(max(count, 0), bytes.count - lower)
        return ByteView(UnsafeRawBufferPointer(rebasing: bytes[lower..<upper]))
    }

    func part(from start: Int) -> ByteView { part(from: start, count: bytes.count) }

    /// A number of so many bytes; 2^31 - 1 where it is larger, as no number that means something here is, so that watches
    /// with 32 bits read the same.
    func number(at place: Int, bytes length: Int, isLittleEndian: Bool = false) -> Int? {
        guard place >= 0, place <= count - length else { return nil }
        var value: UInt64 = 0
        for offset in 0..<length {
            value = value << 8 | UInt64(bytes[place + (isLittleEndian ? length - 1 - offset : offset)])
        }
        return Int(Int32(clamping: value))
    }

    /// Whether the text stands there, in ASCII.
    func has(_ text: StaticString, at place: Int = 0) -> Bool {
        let length = text.utf8CodeUnitCount
        guard place >= 0, place <= count - length else { return false }
        return text.withUTF8Buffer { text in
            (0..<length).allSatisfy { bytes[place + $0] == text[$0] }
        }
    }

    /// A text of four letters: the name of a chunk.
    func name(at place: Int) -> String? {
        guard place >= 0, place <= count - 4 else { return nil }
        return String(decoding: bytes[place..<place + 4], as: UTF8.self)
    }

    var data: Data { Data(bytes) }
}
