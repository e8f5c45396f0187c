/// Pixels in memory: sRGB, 8 bits per channel, rows from top to bottom without padding, alpha not premultiplied.
struct Bitmap: Sendable, Equatable {
    /// The channels of a pixel.
    enum Layout: Int, Sendable {
        case grey = 1
        case greyAlpha = 2
        case rgb = 3
        case rgba = 4

        var channels: Int { rawValue }
        var hasAlpha: Bool { self == .greyAlpha || self == .rgba }
    }

    let size: PixelSize
    let layout: Layout
    /// `size.count * layout.channels` bytes.
    var pixels: [UInt8]

    /// - Precondition: `pixels.count` is `size.count * layout.channels`.
    init(_ size: PixelSize, _ layout: Layout, _ pixels: [UInt8]) {
        precondition(pixels.count == size.count * layout.channels)
        self.size = size
        self.layout = layout
        self.pixels = pixels
    }
}
