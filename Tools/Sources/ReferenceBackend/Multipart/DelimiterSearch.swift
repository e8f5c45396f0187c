import NIOCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// What stands at the front of the bytes that a multipart parser holds.
enum DelimiterSearch: Equatable {
    /// No delimiter; the first `safeBytes` cannot be the beginning of one.
    case none(safeBytes: Int)
    /// A delimiter whose kind the next bytes decide.
    case undecided(offset: Int)
    /// A delimiter with another part behind it; `length` leaves its line break unread.
    case part(offset: Int, length: Int)
    /// The last delimiter.
    case close(offset: Int, length: Int)
}

extension ByteBuffer {
    /// Padding between a boundary and its line break beyond this makes it content: somebody is wasting our memory.
    private static let maxPadding = 256

    /// Looks for the first delimiter. A boundary followed by anything but `--`, or padding and a line break, is content
    /// that happens to begin like one.
    func findDelimiter(_ delimiter: [UInt8]) -> DelimiterSearch {
        withUnsafeReadableBytes { bytes in
            var start = 0
            while let offset = bytes.firstOffset(of: delimiter, from: start) {
                let boundaryEnd = offset + delimiter.count
                var end = boundaryEnd
                while end < bytes.count, end - boundaryEnd < Self.maxPadding, bytes[end].isBlank { end += 1 }
                switch bytes.pair(at: end) {
                case (nil, _), (UInt8(ascii: "\r"), nil): return .undecided(offset: offset)
                case (UInt8(ascii: "-"), nil) where end == boundaryEnd: return .undecided(offset: offset)
                case (UInt8(ascii: "\r"), UInt8(ascii: "\n")): return .part(offset: offset, length: end - offset)
                case (UInt8(ascii: "-"), UInt8(ascii: "-")) where end == boundaryEnd:
                    return .close(offset: offset, length: end + 2 - offset)
                default: start = offset + 1
                }
            }
            return .none(safeBytes: max(0, bytes.count - (delimiter.count - 1)))
        }
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func pair(at index: Int) -> (UInt8?, UInt8?) {
        (index < count ? self[index] : nil, index + 1 < count ? self[index + 1] : nil)
    }

    fileprivate func firstOffset(of pattern: [UInt8], from start: Int) -> Int? {
        guard let base = baseAddress, let first = pattern.first else { return nil }
        var start = start
        while start + pattern.count <= count {
            let candidates = count - pattern.count + 1 - start
            guard let found = memchr(base + start, Int32(first), candidates) else { return nil }
            if memcmp(found, pattern, pattern.count) == 0 { return base.distance(to: found) }
            start = base.distance(to: found) + 1
        }
        return nil
    }
}

extension UInt8 {
    fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}
