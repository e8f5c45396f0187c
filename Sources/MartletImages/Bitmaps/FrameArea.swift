/// The part of a canvas that a frame of an animation covers.
struct FrameArea: Sendable, Equatable {
    var left: Int
    var top: Int
    var size: PixelSize

    func fits(in canvas: PixelSize) -> Bool {
        size.width > 0 && size.height > 0 && left + size.width <= canvas.width && top + size.height <= canvas.height
    }

    /// The same part of a canvas that is scaled down; at least one pixel.
    func scaled(from canvas: PixelSize, to newCanvas: PixelSize) -> FrameArea {
        func range(_ start: Int, _ length: Int, _ old: Int, _ new: Int) -> Range<Int> {
            let first = min((start * new + old / 2) / old, new - 1)
            return first..<max(first + 1, ((start + length) * new + old / 2) / old)
        }
        let across = range(left, size.width, canvas.width, newCanvas.width)
        let down = range(top, size.height, canvas.height, newCanvas.height)
        return FrameArea(
            left: across.lowerBound, top: down.lowerBound, size: PixelSize(width: across.count, height: down.count))
    }
}

extension Bitmap {
    /// Returns a transparent canvas with this bitmap in it.
    /// - Precondition: The area has the size of this bitmap and fits in the canvas.
    func placed(in area: FrameArea, of canvas: PixelSize) -> Bitmap {
        let source = withColor()
        var result = [UInt8](repeating: 0, count: canvas.count * 4)
        let channels = source.layout.channels
        for row in 0..<source.size.height {
            var from = row * source.size.width * channels
            var to = ((area.top + row) * canvas.width + area.left) * 4
            for _ in 0..<source.size.width {
                for channel in 0..<3 { result[to + channel] = source.pixels[from + channel] }
                result[to + 3] = channels == 4 ? source.pixels[from + 3] : 255
                (from, to) = (from + channels, to + 4)
            }
        }
        return Bitmap(canvas, .rgba, result)
    }
}
