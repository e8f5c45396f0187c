/// What Core Graphics leaves of an image that was drawn in sRGB: four bytes a pixel, rows from top to bottom without gaps,
/// the colours multiplied by their alpha.
struct DrawnImage: Hashable, Sendable {
    var size: PixelSize
    /// Whether the image had no alpha, so that its alpha is 255 everywhere.
    var isOpaque: Bool
    /// `size.count * 4` bytes: red, green, blue, alpha.
    var pixels: [UInt8]

    /// The picture as the rest of the library wants it, or nothing where there are not as many bytes as the size wants.
    ///
    /// Eight bits keep less of a colour the more transparent it is. What comes out is within 127 / alpha + 1 of what went
    /// in, and gives the same once more when it is drawn again.
    func bitmap() -> Bitmap? {
        guard size.count <= Int.max / 4, pixels.count == size.count * 4 else { return nil }
        return isOpaque ? Bitmap(size, .rgb, withoutAlpha()) : Bitmap(size, .rgba, withAlphaDividedOut())
    }

    private func withoutAlpha() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: size.count * 3) { colours, count in
            for pixel in 0..<size.count {
                for channel in 0..<3 {
                    colours.initializeElement(at: pixel * 3 + channel, to: pixels[pixel * 4 + channel])
                }
            }
            count = size.count * 3
        }
    }

    private func withAlphaDividedOut() -> [UInt8] {
        var pixels = pixels
        pixels.withUnsafeMutableBufferPointer { pixels in
            for start in stride(from: 0, to: pixels.count, by: 4) {
                let alpha = Int(pixels[start + 3])
                guard alpha != 255 else { continue }
                for channel in start..<start + 3 {
                    pixels[channel] = alpha == 0 ? 0 : UInt8(min(255, (Int(pixels[channel]) * 255 + alpha / 2) / alpha))
                }
            }
        }
        return pixels
    }
}

extension Bitmap {
    /// The same picture with four channels, which is what Core Graphics takes.
    var withFourChannels: Bitmap {
        guard layout != .rgba else { return self }
        let channels = layout.channels
        let isGrey = layout == .grey || layout == .greyAlpha
        let result = [UInt8](unsafeUninitializedCapacity: size.count * 4) { result, count in
            for pixel in 0..<size.count {
                let first = pixel * channels
                result.initializeElement(at: pixel * 4, to: pixels[first])
                result.initializeElement(at: pixel * 4 + 1, to: pixels[isGrey ? first : first + 1])
                result.initializeElement(at: pixel * 4 + 2, to: pixels[isGrey ? first : first + 2])
                result.initializeElement(
                    at: pixel * 4 + 3, to: layout.hasAlpha ? pixels[first + channels - 1] : 255)
            }
            count = size.count * 4
        }
        return Bitmap(size, .rgba, result)
    }
}
