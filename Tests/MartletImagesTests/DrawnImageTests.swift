import Testing

@testable import MartletImages

@Suite("What Core Graphics has drawn") struct DrawnImageTests {
    /// One pixel for each way that a colour can come out of drawing: it is never above its alpha.
    private static let drawn: [(colour: UInt8, alpha: UInt8)] = (0...255).flatMap { alpha in
        (0...alpha).map { (UInt8($0), UInt8(alpha)) }
    }

    private func bitmap(_ pixels: [(colour: UInt8, alpha: UInt8)], isOpaque: Bool = false) -> Bitmap? {
        DrawnImage(
            size: PixelSize(width: pixels.count, height: 1), isOpaque: isOpaque,
            pixels: pixels.flatMap { [$0.colour, $0.colour, $0.colour, $0.alpha] }
        ).bitmap()
    }

    @Test("gives the colours that, drawn again, give the same") func roundTrip() throws {
        let result = try #require(bitmap(Self.drawn))
        #expect(result.layout == .rgba && result.size.width == Self.drawn.count)
        for (index, pixel) in Self.drawn.enumerated() where pixel.alpha > 0 {
            let (colour, alpha) = (Int(result.pixels[index * 4]), Int(result.pixels[index * 4 + 3]))
            #expect(alpha == Int(pixel.alpha))
            #expect((colour * alpha + 127) / 255 == Int(pixel.colour), "\(pixel)")
            #expect(result.pixels[index * 4 + 1] == result.pixels[index * 4])
            #expect(result.pixels[index * 4 + 2] == result.pixels[index * 4])
        }
    }

    @Test("comes close to what was drawn, the less the more transparent that was") func error() throws {
        let colours = (0...255).flatMap { alpha in (0...255).map { (colour: $0, alpha: alpha) } }
        let drawn = colours.map { (UInt8(($0.colour * $0.alpha + 127) / 255), UInt8($0.alpha)) }
        let result = try #require(bitmap(drawn))
        for (index, pixel) in colours.enumerated() where pixel.alpha > 0 {
            let error = abs(Int(result.pixels[index * 4]) - pixel.colour)
            #expect(error <= 127 / pixel.alpha + 1, "\(pixel)")
        }
    }

    @Test("is black where nobody can see it") func transparent() {
        #expect(bitmap([(9, 0)])?.pixels == [0, 0, 0, 0])
    }

    @Test("is white, and no trap, with a colour above its alpha, which drawing never leaves") func aboveAlpha() {
        #expect(bitmap([(200, 100)])?.pixels == [255, 255, 255, 100])
    }

    @Test("has no alpha where the image had none") func opaque() {
        let bitmap = DrawnImage(
            size: PixelSize(width: 1, height: 2), isOpaque: true, pixels: [1, 2, 3, 255, 4, 5, 6, 255]
        ).bitmap()
        #expect(bitmap == Bitmap(PixelSize(width: 1, height: 2), .rgb, [1, 2, 3, 4, 5, 6]))
    }

    @Test("is nothing, and no trap, without as many bytes as its size wants")
    func wrongSize() {
        for size in [PixelSize(width: 1, height: 2), PixelSize(width: .max, height: 2)] {
            #expect(DrawnImage(size: size, isOpaque: true, pixels: [1, 2, 3, 255]).bitmap() == nil)
        }
    }

    @Test(
        "is drawn from four channels, of whatever a bitmap has",
        arguments: [
            (Bitmap.Layout.grey, [1, 2], [1, 1, 1, 255, 2, 2, 2, 255]),
            (.greyAlpha, [1, 8, 2, 9], [1, 1, 1, 8, 2, 2, 2, 9]),
            (.rgb, [1, 2, 3, 4, 5, 6], [1, 2, 3, 255, 4, 5, 6, 255]),
            (.rgba, [1, 2, 3, 4, 5, 6, 7, 8], [1, 2, 3, 4, 5, 6, 7, 8]),
        ] as [(Bitmap.Layout, [UInt8], [UInt8])])
    func fourChannels(_ layout: Bitmap.Layout, _ pixels: [UInt8], _ result: [UInt8]) {
        let size = PixelSize(width: 2, height: 1)
        #expect(Bitmap(size, layout, pixels).withFourChannels == Bitmap(size, .rgba, result))
    }
}
