import Foundation
import Testing

@testable import MartletImages

@Suite("Reducing bitmaps", .timeLimit(.minutes(10)))
struct ReducerTests {
    @Test(
        "the result matches Lanczos in double precision",
        arguments: [([200, 150], [64, 48]), ([97, 201], [96, 60]), ([64, 64], [9, 7]), ([300, 5], [20, 1])])
    func reference(size: [Int], newSize: [Int]) throws {
        for layout in [Bitmap.Layout.grey, .rgb] {
            let picture = Self.busy(PixelSize(width: size[0], height: size[1]), layout)
            let target = PixelSize(width: newSize[0], height: newSize[1])
            let reduced = try picture.reduced(to: target, Cancellation())
            let expected = Self.reference(picture, target)
            #expect(ImageSimilarity.psnr(reduced.pixels, expected) > 50)
            if layout == .grey, target.width >= 8, target.height >= 8, reduced.size.count > 500 {
                #expect(ImageSimilarity.ssim(reduced.pixels, expected, width: target.width) > 0.999)
            }
        }
    }

    @Test("a uniform area keeps its color and its alpha")
    func even() throws {
        for layout in [Bitmap.Layout.grey, .greyAlpha, .rgb, .rgba] {
            let pixel: [UInt8] = Array([201, 13, 255, 128].suffix(layout.channels))
            let size = PixelSize(width: 131, height: 77)
            let picture = Bitmap(size, layout, (0..<size.count).flatMap { _ in pixel })
            let reduced = try picture.reduced(to: PixelSize(width: 50, height: 31), Cancellation())
            #expect(isClose([reduced.pixel(25, 15)], [pixel.map(Int.init)], within: 1))
            #expect(
                isClose(
                    [reduced.pixel(0, 0), reduced.pixel(49, 30)], [pixel, pixel].map { $0.map(Int.init) }, within: 1))
        }
    }

    @Test("a fine checkerboard becomes uniform grey, without moiré", arguments: [700, 513, 640])
    func checkerboard(width: Int) throws {
        let size = PixelSize(width: width, height: 96)
        let picture = Bitmap(
            size, .grey, (0..<96).flatMap { y in (0..<width).map { x in UInt8((x + y) % 2 * 255) } })
        let reduced = try picture.reduced(to: PixelSize(width: 200, height: 30), Cancellation())
        let inner = (3..<27).flatMap { y in (6..<194).map { x in reduced.pixel(x, y)[0] } }
        #expect(inner.allSatisfy { abs($0 - 128) <= 4 })
    }

    @Test("circles finer than the new pixels vanish instead of aliasing, and coarse ones stay")
    func zonePlate() throws {
        let side = 600
        let centre = Double(side) / 2
        let pixels = (0..<side).flatMap { y in
            (0..<side).map { x in
                let square = (Double(x) - centre) * (Double(x) - centre) + (Double(y) - centre) * (Double(y) - centre)
                // At the rim one wave is two pixels long.
                return UInt8(127.5 + 127.5 * cos(square * Double.pi / Double(side)))
            }
        }
        let picture = Bitmap(PixelSize(width: side, height: side), .grey, pixels)
        let reduced = try picture.reduced(to: PixelSize(width: 150, height: 150), Cancellation())
        // The image is now 600 / 4 = 150 pixels across. A wave is shorter than two new pixels outside a radius of about
        // 19.
        let contrast = { (from: Double, to: Double) in
            let ring = (0..<150).flatMap { y in (0..<150).map { x in (x, y) } }.filter { x, y in
                let distance = ((Double(x) - 74.5) * (Double(x) - 74.5) + (Double(y) - 74.5) * (Double(y) - 74.5))
                    .squareRoot()
                return distance >= from && distance < to
            }
            let values = ring.map { Double(reduced.pixel($0.0, $0.1)[0]) }
            let mean = values.reduce(0, +) / Double(values.count)
            return (values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(values.count)).squareRoot()
        }
        #expect(contrast(2, 12) > 60)
        #expect(contrast(28, 70) < 3)
    }

    @Test("transparent pixels lend no color to their neighbors")
    func transparency() throws {
        let size = PixelSize(width: 100, height: 4)
        // Opaque white beside transparent red.
        let pixels = (0..<4).flatMap { _ in
            (0..<100).flatMap { x -> [UInt8] in x < 50 ? [255, 255, 255, 255] : [255, 0, 0, 0] }
        }
        let reduced = try Bitmap(size, .rgba, pixels).reduced(to: PixelSize(width: 33, height: 2), Cancellation())
        for x in 0..<33 where reduced.pixel(x, 0)[3] > 20 {
            #expect(reduced.pixel(x, 0)[1] >= 250)
        }
    }

    @Test("filter weights add up to one and stay within bounds")
    func weights() {
        for (count, newCount) in [(4032, 1024), (10, 10), (1, 1), (20_000, 1), (7, 3), (1025, 1024)] {
            let filter = Filter(from: count, to: newCount)
            for pixel in 0..<newCount {
                let weights = filter.weights[pixel * filter.taps..<(pixel + 1) * filter.taps]
                #expect(weights.reduce(0) { $0 + Int($1) } == Filter.unit)
                let start = Int(filter.starts[pixel])
                #expect(start >= 0 && start + filter.taps <= count)
            }
        }
    }

    @Test("a cancelled reduction throws")
    func cancels() {
        let cancellation = Cancellation()
        cancellation.cancel()
        let picture = Self.busy(PixelSize(width: 20, height: 20), .grey)
        #expect(throws: ImageError.cancelled) { try picture.reduced(to: PixelSize(width: 5, height: 5), cancellation) }
    }

    @Test("turning a bitmap moves each pixel to its position", arguments: Orientation.allCases)
    func turns(orientation: Orientation) {
        // 1 2 3 over 4 5 6.
        let picture = Bitmap(PixelSize(width: 3, height: 2), .grey, [1, 2, 3, 4, 5, 6])
        let expected: [Orientation: [UInt8]] = [
            .up: [1, 2, 3, 4, 5, 6], .upMirrored: [3, 2, 1, 6, 5, 4], .down: [6, 5, 4, 3, 2, 1],
            .downMirrored: [4, 5, 6, 1, 2, 3], .leftMirrored: [1, 4, 2, 5, 3, 6], .right: [4, 1, 5, 2, 6, 3],
            .rightMirrored: [6, 3, 5, 2, 4, 1], .left: [3, 6, 2, 5, 1, 4],
        ]
        #expect(picture.upright(orientation).pixels == expected[orientation])
    }

    /// Waves of several lengths, and edges.
    private static func busy(_ size: PixelSize, _ layout: Bitmap.Layout) -> Bitmap {
        var pixels: [UInt8] = []
        for y in 0..<size.height {
            for x in 0..<size.width {
                for channel in 0..<layout.channels {
                    let wave = sin(Double(x * (channel + 1)) / 9) + cos(Double(y) / 5) + sin(Double(x * y) / 90)
                    let edge: Double = (x / 17 + y / 13) % 2 == 0 ? 30 : -30
                    pixels.append(UInt8(min(255, max(0, 128 + wave * 25 + edge))))
                }
            }
        }
        return Bitmap(size, layout, pixels)
    }

    /// Reduces in both directions at once by the formula, rounding only the final result.
    private static func reference(_ picture: Bitmap, _ newSize: PixelSize) -> [UInt8] {
        func kernel(_ x: Double) -> Double {
            if x == 0 { return 1 }
            return abs(x) < 3 ? 3 * sin(.pi * x) * sin(.pi * x / 3) / (.pi * .pi * x * x) : 0
        }
        func weights(_ count: Int, _ newCount: Int, _ pixel: Int) -> [(Int, Double)] {
            let scale = Double(count) / Double(newCount)
            let raw = (0..<count).map { kernel((Double($0) + 0.5 - (Double(pixel) + 0.5) * scale) / scale) }
            let sum = raw.reduce(0, +)
            return raw.enumerated().filter { $0.element != 0 }.map { ($0.offset, $0.element / sum) }
        }
        let columns = (0..<newSize.width).map { weights(picture.size.width, newSize.width, $0) }
        var result: [UInt8] = []
        for y in 0..<newSize.height {
            let rows = weights(picture.size.height, newSize.height, y)
            for column in columns {
                for channel in 0..<picture.layout.channels {
                    var sum = 0.0
                    for (row, down) in rows {
                        for (x, across) in column {
                            let index = (row * picture.size.width + x) * picture.layout.channels + channel
                            sum += Double(picture.pixels[index]) * down * across
                        }
                    }
                    result.append(UInt8(min(255, max(0, sum.rounded()))))
                }
            }
        }
        return result
    }
}
