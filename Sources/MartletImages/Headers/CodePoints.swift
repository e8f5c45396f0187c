internal import CMartletImages

/// A color space described by code points instead of a profile (ITU-T H.273), as in PNG (third edition, chunk cICP),
/// HEIC and AVIF (ISO/IEC 14496-12, section 12.1.5).
struct CodePoints: Sendable, Equatable {
    /// The primaries and the white point: 1 for BT.709, 9 for BT.2020, 12 for Display P3.
    var primaries: UInt8
    /// The transfer function: 1 for BT.709, 13 for sRGB, 16 for PQ, 18 for HLG.
    var transfer: UInt8
    /// Whether black is 16 and white is 235, as in video.
    var isNarrow = false

    static let sRGB = CodePoints(primaries: 1, transfer: 13)

    init(primaries: UInt8, transfer: UInt8, isNarrow: Bool = false) {
        self.primaries = primaries
        self.transfer = transfer
        self.isNarrow = isNarrow
    }

    /// - Parameter content: The four bytes of the chunk.
    /// - Returns: `nil` if the code points are invalid or cannot be converted. The picture's other color information
    ///   then applies.
    init?(_ content: ByteView) {
        // PNG stores RGB, which is matrix 0.
        guard content.count == 4, let primaries = content[0], let transfer = content[1], content[2] == 0,
            let range = content[3], range <= 1, martlet_knows_code_points(primaries, transfer) != 0
        else { return nil }
        self.init(primaries: primaries, transfer: transfer, isNarrow: range == 0)
    }

    /// - Parameter content: The content of a HEIF color property after its type. The codec undoes the matrix and the
    ///   range.
    /// - Returns: `nil` if the code points are invalid or cannot be converted.
    init?(nclx content: ByteView) {
        guard let primaries = content.number(at: 0, bytes: 2).flatMap(UInt8.init(exactly:)),
            let transfer = content.number(at: 2, bytes: 2).flatMap(UInt8.init(exactly:)),
            martlet_knows_code_points(primaries, transfer) != 0
        else { return nil }
        // Video encoders, including those of phones, declare a video transfer function for pixels that use the sRGB
        // transfer function. Viewers treat it as sRGB.
        self.init(primaries: primaries, transfer: [1, 6, 14, 15].contains(transfer) ? 13 : transfer)
    }
}
