import Foundation
import Testing

@testable import MartletImages

@Suite("Quality search", .timeLimit(.minutes(10)))
struct QualitySearchTests {
    /// File size by quality: a steep picture, a flat one, a linear one, and one with a step.
    private static let curves: [@Sendable (Int) -> Int] = [
        { 20_000 + $0 * $0 * $0 * 3 }, { 900_000 + $0 * 40 }, { $0 * 10_000 }, { $0 < 37 ? 10_000 + $0 : 900_000 + $0 },
    ]

    @Test("the best quality under any limit is found, and none is tried twice", arguments: 0..<4)
    func findsTheBest(curve: Int) throws {
        let size = Self.curves[curve]
        for limit in stride(from: size(10), through: size(80) + 1000, by: max(1, (size(80) - size(10)) / 300)) {
            var tried: [Int] = []
            let found = try QualitySearch.run(10...80, limit: limit) { quality throws(ImageError) in
                tried.append(quality)
                return (quality, size(quality))
            }
            let best = (10...80).last { size($0) <= limit }
            #expect(found.quality == best && found.value == best)
            #expect(Set(tried).count == tried.count && tried.count <= 12)
        }
    }

    @Test("if the best quality fits at once, no other is tried")
    func once() throws {
        var count = 0
        let found = try QualitySearch.run(10...80, limit: 1000) { quality throws(ImageError) in
            count += 1
            return (quality, 1000)
        }
        #expect(found.quality == 80 && count == 1)
    }

    @Test("if nothing fits, the smallest file is returned")
    func nothingFits() throws {
        let found = try QualitySearch.run(10...80, limit: 10) { quality throws(ImageError) in (quality, quality * 100) }
        #expect(found.quality == 10 && found.size == 1000)
    }

    @Test("a photograph takes four encodes on average; bisection would take seven")
    func fewEncodes() throws {
        // File sizes of a 1024 x 768 picture at every tenth quality.
        let sizes = [0, 38_000, 62_000, 83_000, 101_000, 119_000, 138_000, 166_000, 211_000].map(Double.init)
        let size = { (quality: Int) in
            Int(
                sizes[quality / 10] + (quality % 10 == 0 ? 0 : (sizes[quality / 10 + 1] - sizes[quality / 10]) / 10)
                    * Double(quality % 10))
        }
        var encodes = 0
        let limits = Array(stride(from: 40_000, to: 210_000, by: 1000))
        for limit in limits {
            _ = try QualitySearch.run(10...80, limit: limit) { quality throws(ImageError) in
                encodes += 1
                return (quality, size(quality))
            }
        }
        #expect(Double(encodes) / Double(limits.count) <= 4.5)
    }

    @Test("below the lowest quality, the picture is reduced until it fits")
    func shrinks() async throws {
        let codec = CountingCodec()
        var options = ImageProcessor.Options()
        options.maximumBytes = 5_000
        let image = try await ImageProcessor(options, codec: codec).prepare(.data(try Pictures.data("gps.jpg")))
        #expect(image.data.count <= 5_000 && image.size.width < 1024 && image.size.width > 300)
        let shape = Double(image.size.width) / Double(image.size.height)
        #expect((1.31...1.35).contains(shape))
        options.maximumBytes = 1
        await #expect(throws: ImageError.cannotFit(maximumBytes: 1)) {
            try await ImageProcessor(options, codec: codec).prepare(.data(try Pictures.data("gps.jpg")))
        }
    }

    @Test("invalid options still yield a picture or an error")
    func odd() async throws {
        var options = ImageProcessor.Options()
        options.bounds = PixelSize(width: 0, height: -5)
        options.quality = -3...Double.infinity
        let image = try await ImageProcessor(options, codec: CountingCodec()).prepare(
            .data(try Pictures.data("gps.jpg")))
        #expect(image.size.width >= 1 && image.quality == 1)
    }
}

/// Decodes everything to the same uniform picture. The encoded size grows with the pixels and the quality.
struct CountingCodec: ImageCodec {
    func inspect(_ bytes: Data, as kind: ImageKind) throws(ImageError) -> ImageDescription { throw .notAnImage }

    func decode(
        _ bytes: Data, _ description: ImageDescription, to size: PixelSize, _ cancellation: Cancellation
    ) throws(ImageError) -> Bitmap {
        let size = size.width < 10 ? size : PixelSize(width: 768, height: 1024)
        return Bitmap(size, .grey, [UInt8](repeating: 7, count: size.count))
    }

    func encode(_ bitmap: Bitmap, as format: ImageFormat, quality: Int) throws(ImageError) -> Data {
        Data(count: 2 + bitmap.size.count * quality / 400)
    }
}
