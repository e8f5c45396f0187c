/// How large AV1 codes pictures (AV1 Bitstream & Decoding Process Specification, 5.3 to 5.5): what its sequence headers say.
enum AV1Headers {
    /// The sizes in a row of units; `nil` where one cannot be read.
    static func sizes(in bytes: ByteView) -> [PixelSize]? {
        var result: [PixelSize] = []
        var place = 0
        while let head = bytes[place] {
            place += head & 4 == 0 ? 1 : 2
            // Without a length, a unit goes to the end.
            var length = max(bytes.count - place, 0)
            if head & 2 != 0 {
                guard let (value, count) = number(at: place, in: bytes) else { return nil }
                place += count
                length = value
            }
            if head >> 3 & 15 == 1 {
                guard let size = size(inSequence: bytes.part(from: place, count: length)) else { return nil }
                result.append(size)
            }
            guard length <= bytes.count - place else { break }
            place += length
        }
        return result
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

    private static func size(inSequence bytes: ByteView) -> PixelSize? {
        var reader = BitReader((0..<min(bytes.count, 1024)).compactMap { bytes[$0] })
        guard reader.skip(4), let isReduced = reader.next(1), isReduced == 1 ? reader.skip(5) : skipTiming(&reader),
            let widthLength = reader.next(4), let heightLength = reader.next(4),
            let width = reader.next(widthLength + 1), let height = reader.next(heightLength + 1)
        else { return nil }
        return PixelSize(width: width + 1, height: height + 1)
    }

    /// What films have before the size.
    private static func skipTiming(_ reader: inout BitReader) -> Bool {
        var delayLength: Int?
        guard let hasTiming = reader.next(1) else { return false }
        if hasTiming == 1 {
            guard reader.skip(64), let isEven = reader.next(1), isEven == 0 || reader.nextGolomb() != nil,
                let hasModel = reader.next(1)
            else { return false }
            if hasModel == 1 {
                guard let length = reader.next(5), reader.skip(32 + 5 + 5) else { return false }
                delayLength = length + 1
            }
        }
        guard let hasDelays = reader.next(1), let points = reader.next(5) else { return false }
        for _ in 0...points {
            guard reader.skip(12), let level = reader.next(5), level <= 7 || reader.skip(1) else { return false }
            if let delayLength {
                guard let has = reader.next(1), has == 0 || reader.skip(2 * delayLength + 1) else { return false }
            }
            if hasDelays == 1 {
                guard let has = reader.next(1), has == 0 || reader.skip(4) else { return false }
            }
        }
        return true
    }
}
