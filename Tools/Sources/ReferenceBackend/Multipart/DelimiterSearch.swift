import NIOCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The result of a search for the next delimiter in buffered multipart bytes.
enum DelimiterSearch: Equatable {
    /// No delimiter. The first `safeBytes` bytes cannot be part of one.
    case none(safeBytes: Int)
    /// A boundary at `offset`. More bytes are needed to tell whether it is a delimiter.
    case undecided(offset: Int)
    /// A delimiter before another part. `length` excludes its line break.
    case part(offset: Int, length: Int)
    /// The last delimiter.
    case close(offset: Int, length: Int)
}

extension ByteBuffer {
    /// The maximum padding between a boundary and its line break. A longer one is treated as content, to bound the
    /// memory.
    private static let maxPadding = 256

    /// Finds the first delimiter. A boundary counts as content unless it is followed by `--`, or by padding and a line
    /// break.
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
