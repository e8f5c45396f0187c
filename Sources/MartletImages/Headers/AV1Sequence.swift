/// What a sequence header of AV1 says (AV1 Bitstream & Decoding Process Specification, 5.5), as far as it is needed to know how
/// large frames are.
struct AV1Sequence {
    /// How large frames are that do not say something else.
    let size: PixelSize

    /// Whether the frame headers have next to nothing, as those of single pictures can.
    private let isReduced: Bool
    /// How many bits frames have for the time when they are shown, and for their number.
    private let timeLength: Int
    private var numberLength = 0
    /// 0 or 1 for all frames, 2 where each of them says it.
    private var screenTools = 2
    private var wholeVectors = 2

    /// - Returns: `nil` where the bytes end before all of that was said.
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

    /// What films have before the size.
    /// - Returns: How many bits their frames have for the time when they are shown.
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

    /// What stands behind the size and says what frame headers have.
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

    /// Whether a frame is as large as the sequence says, by its header (5.9.2). Where it says a size of its own, not all decoders
    /// mind one that is larger.
    func sizes(_ frame: ByteView) -> Bool {
        guard !isReduced else { return true }
        var reader = BitReader((0..<min(frame.count, 32)).compactMap { frame[$0] })
        guard let isShownAgain = reader.next(1) else { return false }
        if isShownAgain == 1 { return true }
        // A switch frame, 3, always has a size.
        guard let type = reader.next(2), type < 3, let isShown = reader.next(1),
            reader.skip(isShown == 1 ? timeLength : 1), isShown == 1 && type == 0 || reader.skip(1), reader.skip(1),
            let tools = screenTools == 2 ? reader.next(1) : screenTools,
            tools == 0 || wholeVectors < 2 || reader.skip(1), reader.skip(numberLength), let hasSize = reader.next(1)
        else { return false }
        return hasSize == 0
    }
}
