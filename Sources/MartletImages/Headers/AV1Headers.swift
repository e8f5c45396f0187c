/// How large AV1 codes pictures (AV1 Bitstream & Decoding Process Specification, 5.3 to 5.9): what the headers of its sequences
/// and frames say.
enum AV1Headers {
    /// More headers than any picture has would take time for nothing.
    private static let maximumCount = 64

    /// The largest size in a picture's data; 0 x 0 where there is none, `nil` where one cannot be read.
    static func size(in bytes: ByteView) -> PixelSize? { size(in: bytes, isConfiguration: false) }

    /// The largest size in a decoder's configuration (AV1 Codec ISO Media File Format Binding, 2.3).
    ///
    /// libheif puts the picture's data right behind it: its last unit must not take something of them.
    static func size(inConfiguration bytes: ByteView) -> PixelSize? {
        size(in: bytes.part(from: 4), isConfiguration: true)
    }

    private static func size(in bytes: ByteView, isConfiguration: Bool) -> PixelSize? {
        var largest = PixelSize.zero
        var sequence: AV1Sequence?
        var count = 0
        var place = 0
        while let head = bytes[place] {
            place += head & 4 == 0 ? 1 : 2
            // Without a length, a unit goes to the end.
            var length = bytes.count - place
            if head & 2 != 0 {
                guard let (value, count) = number(at: place, in: bytes) else { return nil }
                place += count
                length = value
            } else if isConfiguration {
                return nil
            }
            guard length >= 0, length <= bytes.count - place else { return nil }
            let unit = bytes.part(from: place, count: length)
            switch head >> 3 & 15 {
            case 1:
                guard count < maximumCount, let next = AV1Sequence(unit) else { return nil }
                largest = largest.orLarger(next.size)
                sequence = next
                count += 1
            case 3, 6, 7:
                // A frame belongs to the picture, behind the sequence that it is of.
                guard count < maximumCount, !isConfiguration, sequence?.sizes(unit) == true else { return nil }
                count += 1
            default: break
            }
            place += length
        }
        return largest
    }

    /// A number of seven bits a byte, the lowest first (4.10.5).
    private static func number(at place: Int, in bytes: ByteView) -> (value: Int, count: Int)? {
        var value: UInt64 = 0
        for index in 0..<8 {
            guard let byte = bytes[place + index] else { return nil }
            value |= UInt64(byte & 127) << UInt64(index * 7)
            if byte < 128 { return (Int(Int32(clamping: value)), index + 1) }
        }
        return nil
    }
}
