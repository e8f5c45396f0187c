/// Reads the coded size of HEVC pictures from sequence parameter sets (ITU-T H.265, 7.3).
enum HEVCHeaders {
    /// The maximum number of sets, to limit the time for malicious files.
    private static let maximumCount = 64

    /// The largest size in a decoder's configuration (ISO/IEC 14496-15, 8.3.3.1); 0 x 0 if there is none, `nil` if a
    /// set cannot be read.
    static func size(inConfiguration bytes: ByteView) -> PixelSize? {
        // libheif assumes that the lengths before units have four bytes each.
        guard let lengths = bytes[21], lengths & 3 == 3, let count = bytes[22] else { return nil }
        var sizes = Sizes()
        var offset = 23
        for _ in 0..<count {
            guard let units = bytes.number(at: offset + 1, bytes: 2) else { return nil }
            offset += 3
            for _ in 0..<units {
                guard sizes.takeUnit(at: &offset, lengthBytes: 2, in: bytes) else { return nil }
            }
        }
        return sizes.largest
    }

    /// The largest size in a picture's data, which consists of units with a length prefix.
    static func size(in bytes: ByteView) -> PixelSize? {
        var sizes = Sizes()
        var offset = 0
        while offset < bytes.count {
            guard sizes.takeUnit(at: &offset, lengthBytes: 4, in: bytes) else { return nil }
        }
        return sizes.largest
    }

    /// Collects the largest size of the parameter sets in a sequence of units.
    private struct Sizes {
        var largest = PixelSize.zero
        private var count = 0

        /// Takes the next unit into account.
        /// - Returns: `false` if there is none, or if it is a parameter set that cannot be read.
        mutating func takeUnit(at offset: inout Int, lengthBytes: Int, in bytes: ByteView) -> Bool {
            guard let length = bytes.number(at: offset, bytes: lengthBytes) else { return false }
            offset += lengthBytes
            guard length <= bytes.count - offset else { return false }
            let unit = bytes.part(from: offset, count: length)
            offset += length
            // Only sequence parameter sets of the base layer, which is the picture itself.
            guard let first = unit[0], let second = unit[1], first >> 1 & 63 == 33, first & 1 == 0, second >> 3 == 0
            else { return true }
            guard count < maximumCount, let size = size(inSet: unit.part(from: 2)) else { return false }
            largest = largest.orLarger(size)
            count += 1
            return true
        }
    }

    private static func size(inSet bytes: ByteView) -> PixelSize? {
        var reader = BitReader(withoutEscapes(bytes))
        guard reader.skip(4), let layers = reader.next(3), reader.skip(1 + 96), skipLayers(layers, &reader),
            reader.nextGolomb() != nil, let chroma = reader.nextGolomb(), chroma != 3 || reader.skip(1),
            let width = reader.nextGolomb(), let height = reader.nextGolomb()
        else { return nil }
        return PixelSize(width: width, height: height)
    }

    /// Skips the profiles and levels of temporal sublayers (7.3.3).
    private static func skipLayers(_ count: Int, _ reader: inout BitReader) -> Bool {
        guard count > 0 else { return true }
        var length = 2 * (8 - count)
        for _ in 0..<count {
            guard let hasProfile = reader.next(1), let hasLevel = reader.next(1) else { return false }
            length += hasProfile * 88 + hasLevel * 8
        }
        return reader.skip(length)
    }

    /// Removes the emulation prevention bytes: a 3 after two zeros (7.4.2).
    private static func withoutEscapes(_ bytes: ByteView) -> [UInt8] {
        var result: [UInt8] = []
        var zeros = 0
        // The size is within the first few bytes.
        for offset in 0..<min(bytes.count, 1024) {
            let byte = bytes[offset] ?? 0
            if zeros >= 2, byte == 3 {
                zeros = 0
                continue
            }
            zeros = byte == 0 ? zeros + 1 : 0
            result.append(byte)
        }
        return result
    }
}
