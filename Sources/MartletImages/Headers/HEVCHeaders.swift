/// How large HEVC codes pictures (ITU-T H.265, 7.3): what its sequence parameter sets say.
enum HEVCHeaders {
    /// More sets than any picture has would take time for nothing.
    private static let maximumCount = 64

    /// The largest size in a decoder's configuration (ISO/IEC 14496-15, 8.3.3.1); 0 x 0 where there is none, `nil` where one
    /// cannot be read.
    static func size(inConfiguration bytes: ByteView) -> PixelSize? {
        // libheif takes the lengths before units for four bytes each.
        guard let lengths = bytes[21], lengths & 3 == 3, let count = bytes[22] else { return nil }
        var sizes = Sizes()
        var place = 23
        for _ in 0..<count {
            guard let units = bytes.number(at: place + 1, bytes: 2) else { return nil }
            place += 3
            for _ in 0..<units {
                guard sizes.takeUnit(at: &place, lengthBytes: 2, in: bytes) else { return nil }
            }
        }
        return sizes.largest
    }

    /// The largest size in a picture's data: units with their lengths before them.
    static func size(in bytes: ByteView) -> PixelSize? {
        var sizes = Sizes()
        var place = 0
        while place < bytes.count {
            guard sizes.takeUnit(at: &place, lengthBytes: 4, in: bytes) else { return nil }
        }
        return sizes.largest
    }

    private struct Sizes {
        var largest = PixelSize.zero
        private var count = 0

        /// - Returns: Whether there is a unit, and says no size or one that can be read.
        mutating func takeUnit(at place: inout Int, lengthBytes: Int, in bytes: ByteView) -> Bool {
            guard let length = bytes.number(at: place, bytes: lengthBytes) else { return false }
            place += lengthBytes
            guard length <= bytes.count - place else { return false }
            let unit = bytes.part(from: place, count: length)
            place += length
            // Sets of the base layer, which is the picture itself.
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

    /// Profiles and levels of layers in time (7.3.3).
    private static func skipLayers(_ count: Int, _ reader: inout BitReader) -> Bool {
        guard count > 0 else { return true }
        var length = 2 * (8 - count)
        for _ in 0..<count {
            guard let hasProfile = reader.next(1), let hasLevel = reader.next(1) else { return false }
            length += hasProfile * 88 + hasLevel * 8
        }
        return reader.skip(length)
    }

    /// Without the 3 that stands after two zeros, so that no start code comes about (7.4.2).
    private static func withoutEscapes(_ bytes: ByteView) -> [UInt8] {
        var result: [UInt8] = []
        var zeros = 0
        // Sizes stand long before that.
        for place in 0..<min(bytes.count, 1024) {
            let byte = bytes[place] ?? 0
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
