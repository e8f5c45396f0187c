/// The fields of an AV1 sequence header that determine the size of frames (AV1 Bitstream & Decoding Process
/// Specification, 5.5).
struct AV1Sequence {
    /// The size of frames that do not override it.
    let size: PixelSize

    /// Whether frame headers are reduced, as still pictures allow (`reduced_still_picture_header`).
    private let isReduced: Bool
    /// The lengths in bits of a frame's presentation time and of its frame number.
    private let timeLength: Int
    private var numberLength = 0
    /// 0 or 1 for all frames; 2 if each frame header contains the value.
    private var screenTools = 2
    private var wholeVectors = 2

    /// - Returns: `nil` if the bytes end within these fields.
    init?(_ bytes: ByteView) {
        var reader = BitReader((0..<min(bytes.count, 1024)).compactMap { bytes[$0] })
        guard reader.skip(4), let reduced = reader.next(1),
            let timeLength = reduced == 1 ? (reader.skip(5) ? 0 : nil) : Self.skipTiming(&reader),
            let widthLength = reader.next(4), let heightLength = reader.next(4),
            let width = reader.next(widthLength + 1), let height = reader.next(heightLength + 1)
        else { return nil }
        size = PixelSize(width: width + 1, height: height + 1)
        isReduced = reduced == 1
        self.timeLength = timeLength
        guard isReduced || readTools(&reader) else { return nil }
    }

    /// Skips the fields before the size that only videos have.
    /// - Returns: The length in bits of a frame's presentation time.
    private static func skipTiming(_ reader: inout BitReader) -> Int? {
        var delayLength: Int?
        var timeLength = 0
        guard let hasTiming = reader.next(1) else { return nil }
        if hasTiming == 1 {
            guard reader.skip(64), let isEven = reader.next(1), isEven == 0 || reader.nextGolomb() != nil,
                let hasModel = reader.next(1)
            else { return nil }
            if hasModel == 1 {
                guard let length = reader.next(5), reader.skip(32 + 5), let time = reader.next(5) else { return nil }
                delayLength = length + 1
                timeLength = isEven == 1 ? 0 : time + 1
            }
        }
        guard let hasDelays = reader.next(1), let points = reader.next(5) else { return nil }
        for _ in 0...points {
            guard reader.skip(12), let level = reader.next(5), level <= 7 || reader.skip(1) else { return nil }
            if let delayLength {
                guard let has = reader.next(1), has == 0 || reader.skip(2 * delayLength + 1) else { return nil }
            }
            if hasDelays == 1 {
                guard let has = reader.next(1), has == 0 || reader.skip(4) else { return nil }
            }
        }
        return timeLength
    }

    /// Reads the fields after the size that determine the layout of frame headers.
    private mutating func readTools(_ reader: inout BitReader) -> Bool {
        guard let hasNumbers = reader.next(1) else { return false }
        if hasNumbers == 1 {
            guard let delta = reader.next(4), let additional = reader.next(3) else { return false }
            numberLength = delta + additional + 3
        }
        guard reader.skip(7), let hasOrder = reader.next(1), hasOrder == 0 || reader.skip(2),
            let tools = Self.nextChoice(&reader), let vectors = tools == 0 ? 2 : Self.nextChoice(&reader)
        else { return false }
        screenTools = tools
        wholeVectors = vectors
        return true
    }

    private static func nextChoice(_ reader: inout BitReader) -> Int? {
        guard let isOpen = reader.next(1) else { return nil }
        return isOpen == 1 ? 2 : reader.next(1)
    }

    /// Whether a frame has the size of the sequence, by its header (5.9.2). Frames with a size of their own are
    /// rejected, because not all decoders check that it is not larger.
    func sizes(_ frame: ByteView) -> Bool {
        guard !isReduced else { return true }
        var reader = BitReader((0..<min(frame.count, 32)).compactMap { frame[$0] })
        guard let isShownAgain = reader.next(1) else { return false }
        if isShownAgain == 1 { return true }
        // Type 3, a switch frame, always has a size of its own.
        guard let type = reader.next(2), type < 3, let isShown = reader.next(1),
            reader.skip(isShown == 1 ? timeLength : 1), isShown == 1 && type == 0 || reader.skip(1), reader.skip(1),
            let tools = screenTools == 2 ? reader.next(1) : screenTools,
            tools == 0 || wholeVectors < 2 || reader.skip(1), reader.skip(numberLength), let hasSize = reader.next(1)
        else { return false }
        return hasSize == 0
    }
}
