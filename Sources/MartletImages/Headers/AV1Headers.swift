/// Reads the coded size of AV1 pictures from sequence and frame headers (AV1 Bitstream & Decoding Process
/// Specification, 5.3 to 5.9).
enum AV1Headers {
    /// The maximum number of headers, to limit the time for malicious files.
    private static let maximumCount = 64

    /// The largest size in a picture's data; 0 x 0 if there is none, `nil` if a header cannot be read.
    static func size(in bytes: ByteView) -> PixelSize? { size(in: bytes, isConfiguration: false) }

    /// The largest size in a decoder's configuration (AV1 Codec ISO Media File Format Binding, 2.3).
    ///
    /// libheif appends the picture's data directly, so the last unit must have a length that keeps it within the
    /// configuration.
    static func size(inConfiguration bytes: ByteView) -> PixelSize? {
        size(in: bytes.part(from: 4), isConfiguration: true)
    }

    private static func size(in bytes: ByteView, isConfiguration: Bool) -> PixelSize? {
        var largest = PixelSize.zero
        var sequence: AV1Sequence?
        var count = 0
        var offset = 0
        while let head = bytes[offset] {
            offset += head & 4 == 0 ? 1 : 2
            // A unit without a length extends to the end.
            var length = bytes.count - offset
            if head & 2 != 0 {
                guard let (value, count) = number(at: offset, in: bytes) else { return nil }
                offset += count
                length = value
            } else if isConfiguration {
                return nil
            }
            guard length >= 0, length <= bytes.count - offset else { return nil }
            let unit = bytes.part(from: offset, count: length)
            switch head >> 3 & 15 {
            case 1:
                guard count < maximumCount, let next = AV1Sequence(unit) else { return nil }
                largest = largest.orLarger(next.size)
                sequence = next
                count += 1
            case 3, 6, 7:
                // Frames belong to the picture's data, after their sequence header.
                guard count < maximumCount, !isConfiguration, sequence?.sizes(unit) == true else { return nil }
                count += 1
            default: break
            }
            offset += length
        }
        return largest
    }

    /// Reads a LEB128 number: seven bits per byte, lowest first (4.10.5).
    private static func number(at offset: Int, in bytes: ByteView) -> (value: Int, count: Int)? {
        var value: UInt64 = 0
        for index in 0..<8 {
            guard let byte = bytes[offset + index] else { return nil }
            value |= UInt64(byte & 127) << UInt64(index * 7)
            if byte < 128 { return (Int(Int32(clamping: value)), index + 1) }
        }
        return nil
    }
}
