/// Pixels in memory: 8 bits a channel, rows from top to bottom without gaps, in sRGB, alpha not multiplied in.
struct Bitmap: Sendable, Equatable {
    /// What one pixel is made of.
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

    /// - Precondition: There are as many bytes as the size and the layout want.
    init(_ size: PixelSize, _ layout: Layout, _ pixels: [UInt8]) {
        precondition(pixels.count == size.count * layout.channels)
        self.size = size
        self.layout = layout
        self.pixels = pixels
    }
}
