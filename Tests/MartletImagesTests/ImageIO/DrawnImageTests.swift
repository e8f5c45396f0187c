import Testing

@testable import MartletImages

@Suite("A bitmap drawn by Core Graphics", .timeLimit(.minutes(10))) struct DrawnImageTests {
    /// One pixel for each premultiplied color: a color is never above its alpha.
    private static let drawn: [(color: UInt8, alpha: UInt8)] = (0...255).flatMap { alpha in
        (0...alpha).map { (UInt8($0), UInt8(alpha)) }
    }

    private func bitmap(_ pixels: [(color: UInt8, alpha: UInt8)]) throws -> Bitmap {
        let size = PixelSize(width: pixels.count, height: 1)
        let drawn = DrawnImage(size: size, pixels: pixels.flatMap { [$0.color, $0.color, $0.color, $0.alpha] })
        return try drawn.bitmap(reducedTo: size, Cancellation())
    }

    @Test("colors survive being drawn again") func roundTrip() throws {
        let result = try bitmap(Self.drawn)
        #expect(result.layout == .rgba && result.size.width == Self.drawn.count)
        for (index, pixel) in Self.drawn.enumerated() where pixel.alpha > 0 {
            let (color, alpha) = (Int(result.pixels[index * 4]), Int(result.pixels[index * 4 + 3]))
            #expect(alpha == Int(pixel.alpha))
            #expect((color * alpha + 127) / 255 == Int(pixel.color), "\(pixel)")
            #expect(result.pixels[index * 4 + 1] == result.pixels[index * 4])
            #expect(result.pixels[index * 4 + 2] == result.pixels[index * 4])
        }
    }

    @Test("colors are close to the original, with an error that shrinks as alpha grows") func error() throws {
        let colors = (0...255).flatMap { alpha in (0...255).map { (color: $0, alpha: alpha) } }
        let result = try bitmap(colors.map { (UInt8(($0.color * $0.alpha + 127) / 255), UInt8($0.alpha)) })
        for (index, pixel) in colors.enumerated() where pixel.alpha > 0 {
            let error = abs(Int(result.pixels[index * 4]) - pixel.color)
            #expect(error <= 127 / pixel.alpha + 1, "\(pixel)")
        }
    }

    @Test("a fully transparent pixel is black") func transparent() throws {
        #expect(try bitmap([(9, 0)]).pixels == [0, 0, 0, 0])
    }

    @Test("a color above its alpha becomes white without a trap") func aboveAlpha() throws {
        #expect(try bitmap([(200, 100)]).pixels == [255, 255, 255, 100])
    }

    @Test("transparent pixels lend no color to the reduced picture") func reduced() throws {
        // A white pixel beside a transparent one: half the alpha, and still white.
        let drawn = DrawnImage(
            size: PixelSize(width: 2, height: 2),
            pixels: [255, 255, 255, 255, 0, 0, 0, 0] + [255, 255, 255, 255, 0, 0, 0, 0])
        let bitmap = try drawn.bitmap(reducedTo: PixelSize(width: 1, height: 1), Cancellation())
        #expect(bitmap.pixels.prefix(3) == [255, 255, 255] && (127...128).contains(bitmap.pixels[3]))
    }

    @Test("reduced pixels are weighted by their alpha") func averaged() throws {
        // White at alpha 100 beside black at alpha 200: a third of the visible light is white.
        let row: [UInt8] = [100, 100, 100, 100, 0, 0, 0, 200]
        let drawn = DrawnImage(size: PixelSize(width: 2, height: 2), pixels: row + row)
        let bitmap = try drawn.bitmap(reducedTo: PixelSize(width: 1, height: 1), Cancellation())
        #expect((84...86).contains(bitmap.pixels[0]) && (149...151).contains(bitmap.pixels[3]))
    }

    @Test("an opaque picture stays opaque at any reduced size") func opaque() throws {
        let size = PixelSize(width: 37, height: 23)
        let drawn = DrawnImage(
            size: size, pixels: (0..<size.count).flatMap { [UInt8($0 % 251), UInt8($0 % 7), 255, 255] })
        for newSize in [
            PixelSize(width: 36, height: 22), PixelSize(width: 13, height: 8), PixelSize(width: 2, height: 1),
        ] {
            let bitmap = try drawn.bitmap(reducedTo: newSize, Cancellation())
            #expect(stride(from: 3, to: bitmap.pixels.count, by: 4).allSatisfy { bitmap.pixels[$0] == 255 })
        }
    }

    @Test("a cancelled reduction throws") func cancelled() {
        let cancellation = Cancellation()
        cancellation.cancel()
        let size = PixelSize(width: 1, height: 1)
        #expect(throws: ImageError.cancelled) {
            try DrawnImage(size: size, pixels: [1, 2, 3, 255]).bitmap(reducedTo: size, cancellation)
        }
    }
}
