internal import CMartletImages

/// What colours a picture has, by code points instead of a profile (ITU-T H.273): a PNG (third edition, chunk cICP), a HEIC
/// or an AVIF (ISO/IEC 14496-12, section 12.1.5).
struct CodePoints: Sendable, Equatable {
    /// Where red, green, blue and white are: 1 for BT.709, 9 for BT.2020, 12 for Display P3.
    var primaries: UInt8
    /// The curve: 1 for BT.709, 13 for sRGB, 16 for PQ, 18 for HLG.
    var transfer: UInt8
    /// Whether black is at 16 and white at 235, as in video.
    var isNarrow = false

    static let sRGB = CodePoints(primaries: 1, transfer: 13)

    init(primaries: UInt8, transfer: UInt8, isNarrow: Bool = false) {
        self.primaries = primaries
        self.transfer = transfer
        self.isNarrow = isNarrow
    }

    /// - Parameter content: The four bytes of the chunk.
    /// - Returns: `nil` where they mean nothing, or nothing that can be converted: then what else the picture says counts.
    init?(_ content: ByteView) {
        // A PNG has red, green and blue, which is matrix 0.
        guard content.count == 4, let primaries = content[0], let transfer = content[1], content[2] == 0,
            let range = content[3], range <= 1, martlet_knows_code_points(primaries, transfer) != 0
        else { return nil }
        self.init(primaries: primaries, transfer: transfer, isNarrow: range == 0)
    }

    /// - Parameter content: What a HEIF's property says behind its type. Its matrix and its range are the codec's to undo.
    /// - Returns: `nil` where they mean nothing, or nothing that can be converted.
    init?(nclx content: ByteView) {
        guard let primaries = content.number(at: 0, bytes: 2).flatMap(UInt8.init(exactly:)),
            let transfer = content.number(at: 2, bytes: 2).flatMap(UInt8.init(exactly:)),
            martlet_knows_code_points(primaries, transfer) != 0
        else { return nil }
        // Encoders made for video name its curves where the pixels have sRGB's, as phones do; who shows them takes the one
        // for the other.
        self.init(primaries: primaries, transfer: [1, 6, 14, 15].contains(transfer) ? 13 : transfer)
    }
}
