/// A picture that an app has in memory, decoded. On Apple platforms, `ImageSource(_:)` makes one from a `UIImage`, and
/// `ImageSource(_:orientation:)` from a `CGImage`.
///
/// Its pixels are drawn when the picture is prepared, on the processor's threads. Only copies of a value are equal to
/// it.
public struct DecodedImage: Sendable, Hashable {
    /// The size of the upright picture, in pixels.
    public var size: PixelSize { orientation.isTransposed ? storedSize.transposed : storedSize }

    let storedSize: PixelSize
    let orientation: Orientation
    private let drawing: Drawing

    /// Gives the picture its identity.
    private final class Drawing: Sendable {
        let draw: @Sendable (PixelSize) -> DrawnImage?

        init(_ draw: @escaping @Sendable (PixelSize) -> DrawnImage?) { self.draw = draw }
    }

    /// - Parameters:
    ///   - storedSize: The size before the orientation is applied.
    ///   - orientation: The orientation, which says how to turn the picture upright.
    ///   - draw: Draws the picture in exactly this size, in the stored orientation; `nil` if it cannot.
    init(
        _ storedSize: PixelSize, _ orientation: Orientation, draw: @escaping @Sendable (PixelSize) -> DrawnImage?
    ) {
        self.storedSize = storedSize
        self.orientation = orientation
        self.drawing = Drawing(draw)
    }

    /// Draws the picture in the stored orientation.
    func bitmap(of size: PixelSize, _ cancellation: Cancellation) throws(ImageError) -> Bitmap {
        let side = ImageIOCodec.longestSide(of: storedSize, for: size)
        guard let drawn = drawing.draw(storedSize.fitted(in: PixelSize(width: side, height: side))) else {
            throw .failed(reason: "the system could not draw its \(storedSize) pixels")
        }
        return try drawn.bitmap(reducedTo: size, cancellation)
    }

    /// Whether both are the same picture in memory.
    public static func == (left: DecodedImage, right: DecodedImage) -> Bool {
        left.drawing === right.drawing
    }

    /// Hashes the picture's identity.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(drawing))
    }
}
