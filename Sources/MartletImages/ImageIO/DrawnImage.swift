internal import CMartletImages

/// What Core Graphics leaves of an image that was drawn in sRGB: red, green, blue and alpha, rows from top to bottom without
/// gaps, the colours multiplied by their alpha.
struct DrawnImage: Hashable, Sendable {
    var size: PixelSize
    /// `size.count * 4` bytes.
    var pixels: [UInt8]

    /// The picture in exactly this size, as the rest of the library wants it.
    ///
    /// Eight bits keep less of a colour the more transparent it is: what comes out is within 127 / alpha + 1 of what was
    /// drawn, and gives the same when it is drawn again.
    func bitmap(reducedTo newSize: PixelSize, _ cancellation: Cancellation) throws(ImageError) -> Bitmap {
        guard newSize.width <= size.width, newSize.height <= size.height, hasShape(of: newSize),
            size.count <= Int.max / 4, pixels.count == size.count * 4
        else { throw .failed(reason: "Image I/O gave \(size) pixels of a picture that was to have \(newSize).") }
        // What is multiplied by its alpha can be averaged as it is.
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

    /// Whether it is the same shape, as far as sides that were rounded can be: a picture on its side is not.
    private func hasShape(of other: PixelSize) -> Bool {
        let (left, isTooLarge) = size.width.multipliedReportingOverflow(by: other.height)
        let (right, isTooHigh) = size.height.multipliedReportingOverflow(by: other.width)
        return !isTooLarge && !isTooHigh
            && abs(left - right) <= size.width + size.height + other.width + other.height
    }
}
