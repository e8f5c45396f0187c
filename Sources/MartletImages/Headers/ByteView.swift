#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A bounds-checked view of untrusted bytes. Reads beyond the end return `nil`.
struct ByteView {
    private let bytes: UnsafeRawBufferPointer

    /// - Parameter bytes: The bytes. They must stay valid as long as the view is in use.
    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    var count: Int { bytes.count }
    var start: UnsafePointer<UInt8>? { bytes.assumingMemoryBound(to: UInt8.self).baseAddress }

    subscript(offset: Int) -> UInt8? {
        bytes.indices.contains(offset) ? bytes[offset] : nil
    }

    /// Returns a part, truncated at the end of the view.
    func part(from start: Int, count: Int) -> ByteView {
        let lower = min(max(start, 0), bytes.count)
        let upper = lower + min(max(count, 0), bytes.count - lower)
        return ByteView(UnsafeRawBufferPointer(rebasing: bytes[lower..<upper]))
    }

    func part(from start: Int) -> ByteView { part(from: start, count: bytes.count) }

    /// Reads a number of `length` bytes, clamped to 2^31 - 1, so that platforms with a 32-bit `Int` read the same. No
    /// valid number in a header is larger.
    func number(at offset: Int, bytes length: Int, isLittleEndian: Bool = false) -> Int? {
        guard offset >= 0, offset <= count - length else { return nil }
        var value: UInt64 = 0
        for index in 0..<length {
            value = value << 8 | UInt64(bytes[offset + (isLittleEndian ? length - 1 - index : index)])
        }
        return Int(Int32(clamping: value))
    }

    /// Whether the bytes at an offset are this ASCII text.
    func has(_ text: StaticString, at offset: Int = 0) -> Bool {
        let length = text.utf8CodeUnitCount
        guard offset >= 0, offset <= count - length else { return false }
        return text.withUTF8Buffer { text in
            (0..<length).allSatisfy { bytes[offset + $0] == text[$0] }
        }
    }

    /// Reads the four-character name of a chunk or box.
    func name(at offset: Int) -> String? {
        guard offset >= 0, offset <= count - 4 else { return nil }
        return String(decoding: bytes[offset..<offset + 4], as: UTF8.self)
    }

    var data: Data { Data(bytes) }
}
