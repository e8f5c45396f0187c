/// The transform that turns a stored picture upright (EXIF 2.32, tag 0x0112).
enum Orientation: Int, Sendable, CaseIterable {
    case up = 1
    /// Mirrored horizontally.
    case upMirrored
    /// Rotated by 180°.
    case down
    /// Mirrored vertically.
    case downMirrored
    /// Mirrored along the diagonal from the top left.
    case leftMirrored
    /// Must be rotated clockwise by 90°.
    case right
    /// Mirrored along the diagonal from the top right.
    case rightMirrored
    /// Must be rotated counterclockwise by 90°.
    case left

    /// Whether turning the picture upright swaps width and height.
    var isTransposed: Bool { rawValue >= 5 }
}
