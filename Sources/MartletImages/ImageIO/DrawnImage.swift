internal import CMartletImages

/// An image that Core Graphics has drawn in sRGB: RGBA with premultiplied alpha, rows from top to bottom without
/// padding.
struct DrawnImage: Hashable, Sendable {
    var size: PixelSize
    /// `size.count * 4` bytes.
    var pixels: [UInt8]

    /// Scales the image down to exactly this size and undoes the premultiplication.
    ///
    /// With eight bits, transparent colors lose precision: the result differs from the original by up to 127 / alpha +
    /// 1, and gives the same pixels when it is drawn again.
    func bitmap(reducedTo newSize: PixelSize, _ cancellation: Cancellation) throws(ImageError) -> Bitmap {
        guard newSize.width <= size.width, newSize.height <= size.height, hasShape(of: newSize),
            size.count <= Int.max / 4, pixels.count == size.count * 4
        else {
            throw .failed(
                reason: "Image I/O returned \(size) pixels instead of \(newSize). Convert the picture to JPEG or PNG.")
        }
        // Premultiplied pixels can be averaged directly.
        var reducer = Reducer(from: size, to: newSize, channels: 4, hasAlpha: false)
        for row in 0..<size.height {
            if row % 64 == 0 { try cancellation.check() }
            reducer.append { target in
                pixels.withUnsafeBufferPointer { pixels in
                    guard let start = pixels.baseAddress else { return }
                    target.update(from: start + row * size.width * 4, count: size.width * 4)
                }
            }
        }
        var result = reducer.finish()
        martlet_unpremultiply(&result, newSize.count, 4)
        return Bitmap(newSize, .rgba, result)
    }

    /// Whether the aspect ratio is the same, with a tolerance for rounding. A rotated picture does not match.
    private func hasShape(of other: PixelSize) -> Bool {
        let (left, isTooLarge) = size.width.multipliedReportingOverflow(by: other.height)
        let (right, isTooHigh) = size.height.multipliedReportingOverflow(by: other.width)
        return !isTooLarge && !isTooHigh
            && abs(left - right) <= size.width + size.height + other.width + other.height
    }
}
