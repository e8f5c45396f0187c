/// How a stored picture is to be turned (EXIF 2.32, tag 0x0112).
enum Orientation: Int, Sendable, CaseIterable {
    case up = 1
    /// Mirrored left to right.
    case upMirrored
    /// Turned by half.
    case down
    /// Mirrored top to bottom.
    case downMirrored
    /// Mirrored at the diagonal from top left.
    case leftMirrored
    /// To be turned clockwise by a quarter.
    case right
    /// Mirrored at the diagonal from top right.
    case rightMirrored
    /// To be turned anticlockwise by a quarter.
    case left

    /// Whether width and height change places.
    var isTransposed: Bool { rawValue >= 5 }
}
