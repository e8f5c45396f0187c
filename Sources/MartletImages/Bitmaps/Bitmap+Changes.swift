internal import CMartletImages

extension Bitmap {
    /// Returns the bitmap scaled down.
    func reduced(to newSize: PixelSize, _ cancellation: Cancellation) throws(ImageError) -> Bitmap {
        guard newSize != size else { return self }
        var reducer = Reducer(from: size, to: newSize, channels: layout.channels, hasAlpha: layout.hasAlpha)
        let length = size.width * layout.channels
        for row in 0..<size.height {
            if row % 64 == 0 { try cancellation.check() }
            reducer.append { target in
                pixels.withUnsafeBufferPointer { pixels in
                    guard let start = pixels.baseAddress else { return }
                    target.update(from: start + row * length, count: length)
                }
            }
        }
        return Bitmap(newSize, layout, reducer.finish())
    }

    /// Returns the bitmap turned upright.
    func upright(_ orientation: Orientation) -> Bitmap {
        guard orientation != .up else { return self }
        let newSize = orientation.isTransposed ? size.transposed : size
        let channels = layout.channels
        // The source index of the new top left pixel, and the index steps to its right and lower neighbors.
        let right = size.width - 1
        let bottom = (size.height - 1) * size.width
        let (first, across, down) =
            switch orientation {
            case .up: (0, 1, size.width)
            case .upMirrored: (right, -1, size.width)
            case .down: (bottom + right, -1, -size.width)
            case .downMirrored: (bottom, 1, -size.width)
            case .leftMirrored: (0, size.width, 1)
            case .right: (bottom, -size.width, 1)
            case .rightMirrored: (bottom + right, -size.width, -1)
            case .left: (right, size.width, -1)
            }
        let turned = [UInt8](unsafeUninitializedCapacity: pixels.count) { target, count in
            pixels.withUnsafeBufferPointer { source in
                guard let source = source.baseAddress, let target = target.baseAddress else { return }
                martlet_turn(
                    source, first, across, down, channels, target, newSize.width, newSize.height)
            }
            count = pixels.count
        }
        return Bitmap(newSize, layout, turned)
    }

    /// Returns the bitmap drawn on a background, without alpha.
    func flattened(on background: ImageProcessor.Color) -> Bitmap {
        guard layout.hasAlpha else { return self }
        let color = [background.red, background.green, background.blue]
        let isGrey = color[0] == color[1] && color[1] == color[2]
        guard layout == .rgba || isGrey else { return withColor().flattened(on: background) }
        let channels = layout.channels - 1
        let flat = [UInt8](unsafeUninitializedCapacity: size.count * channels) { target, count in
            guard let target = target.baseAddress else { return }
            martlet_flatten(pixels, size.count, layout.channels, color, target)
            count = size.count * channels
        }
        return Bitmap(size, layout == .rgba ? .rgb : .grey, flat)
    }

    /// Removes the alpha channel if no pixel is transparent.
    func withoutNeedlessAlpha() -> Bitmap {
        guard layout.hasAlpha else { return self }
        let channels = layout.channels
        let isOpaque = pixels.withUnsafeBufferPointer { pixels in
            stride(from: channels - 1, to: pixels.count, by: channels).allSatisfy { pixels[$0] == 255 }
        }
        return isOpaque ? flattened(on: .white) : self
    }

    /// Converts grey to RGB.
    func withColor() -> Bitmap {
        guard layout == .grey || layout == .greyAlpha else { return self }
        let channels = layout.channels
        var colored: [UInt8] = []
        colored.reserveCapacity(size.count * (channels + 2))
        for start in stride(from: 0, to: pixels.count, by: channels) {
            colored.append(contentsOf: repeatElement(pixels[start], count: 3))
            if channels == 2 { colored.append(pixels[start + 1]) }
        }
        return Bitmap(size, channels == 2 ? .rgba : .rgb, colored)
    }
}
