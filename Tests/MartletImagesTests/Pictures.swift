import Foundation
import Testing

@testable import MartletImages

/// The images in the `Fixtures` folder.
enum Pictures {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Fixtures")

    static func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    static func data(_ name: String) throws -> Data { try Data(contentsOf: folder.appendingPathComponent(name)) }

    static var all: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
    }

    /// From top left to bottom right.
    static let quarters = [[220, 30, 30], [30, 180, 40], [30, 40, 200], [230, 210, 40]]
}

extension Bitmap {
    func pixel(_ x: Int, _ y: Int) -> [Int] {
        let start = (y * size.width + x) * layout.channels
        return pixels[start..<start + layout.channels].map(Int.init)
    }

    /// The colors at the centers of the four quarters.
    var quarters: [[Int]] {
        [1, 3].flatMap { y in [1, 3].map { x in pixel(size.width * x / 4, size.height * y / 4) } }
    }
}

/// Whether two lists of colors differ by no more than encoding explains.
func isClose(_ colors: [[Int]], _ expected: [[Int]], within tolerance: Int = 6) -> Bool {
    colors.count == expected.count
        && zip(colors, expected).allSatisfy { one, other in
            one.count == other.count && zip(one, other).allSatisfy { abs($0 - $1) <= tolerance }
        }
}

#if ImageCodecs || canImport(ImageIO)
    /// Decodes a picture with the codec of this platform.
    func decoded(_ data: Data) throws -> Bitmap {
        guard let kind = ImageKind(of: data), let description = try Headers.describe(data, as: kind) else {
            throw ImageError.notAnImage
        }
        return try PlatformCodec.standard.decode(data, description, to: description.size, Cancellation())
    }

    /// Prepares a fixture with changed options.
    func prepare(
        _ name: String, changing change: (inout ImageProcessor.Options) -> Void = { _ in }
    ) async throws(ImageError) -> PreparedImage {
        var options = ImageProcessor.Options()
        change(&options)
        return try await ImageProcessor(options).prepare(.file(at: Pictures.path(name)))
    }

    /// Describes an encoded image by its headers.
    func describe(_ data: Data) throws -> ImageDescription {
        let kind = try #require(ImageKind(of: data))
        return try #require(try Headers.describe(data, as: kind))
    }
#endif

/// Image similarity measures.
enum ImageSimilarity {
    /// The peak signal-to-noise ratio in dB. Differences are invisible above 40.
    static func psnr(_ one: [UInt8], _ other: [UInt8]) -> Double {
        let squares = zip(one, other).reduce(0) { $0 + (Int($1.0) - Int($1.1)) * (Int($1.0) - Int($1.1)) }
        return squares == 0 ? .infinity : 10 * log10(255 * 255 * Double(one.count) / Double(squares))
    }

    /// The mean structural similarity of single-channel images over windows of 8 x 8 pixels, from -1 to 1 (identical).
    static func ssim(_ one: [UInt8], _ other: [UInt8], width: Int) -> Double {
        let height = one.count / width
        var sum = 0.0
        var count = 0.0
        for top in stride(from: 0, through: height - 8, by: 4) {
            for left in stride(from: 0, through: width - 8, by: 4) {
                let indices = (0..<64).map { (top + $0 / 8) * width + left + $0 % 8 }
                let (a, b) = (indices.map { Double(one[$0]) }, indices.map { Double(other[$0]) })
                let (meanA, meanB) = (a.reduce(0, +) / 64, b.reduce(0, +) / 64)
                let varianceA = a.reduce(0) { $0 + ($1 - meanA) * ($1 - meanA) } / 63
                let varianceB = b.reduce(0) { $0 + ($1 - meanB) * ($1 - meanB) } / 63
                let covariance = zip(a, b).reduce(0) { $0 + ($1.0 - meanA) * ($1.1 - meanB) } / 63
                sum +=
                    (2 * meanA * meanB + 6.5025) * (2 * covariance + 58.5225)
                    / ((meanA * meanA + meanB * meanB + 6.5025) * (varianceA + varianceB + 58.5225))
                count += 1
            }
        }
        return sum / count
    }
}
