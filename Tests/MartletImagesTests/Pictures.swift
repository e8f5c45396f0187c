import Foundation

@testable import MartletImages

/// The pictures in the folder beside this file, made by `scripts/make_pictures.py`.
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
    /// One pixel's channels.
    func pixel(_ x: Int, _ y: Int) -> [Int] {
        let start = (y * size.width + x) * layout.channels
        return pixels[start..<start + layout.channels].map(Int.init)
    }

    /// The colours in the middle of the four quarters.
    var quarters: [[Int]] {
        [1, 3].flatMap { y in [1, 3].map { x in pixel(size.width * x / 4, size.height * y / 4) } }
    }
}

/// Whether colours are the same but for what encoding makes of them.
func isClose(_ colours: [[Int]], _ expected: [[Int]], within tolerance: Int = 6) -> Bool {
    colours.count == expected.count
        && zip(colours, expected).allSatisfy { one, other in
            one.count == other.count && zip(one, other).allSatisfy { abs($0 - $1) <= tolerance }
        }
}

#if ImageCodecs || canImport(ImageIO)
    /// What a picture looks like, by the codec of this platform.
    func decoded(_ data: Data) throws -> Bitmap {
        guard let kind = ImageKind(of: data), let description = try Headers.describe(data, as: kind) else {
            throw ImageError.notAnImage
        }
        return try PlatformCodec.standard.decode(data, description, to: description.size, Cancellation())
    }
#endif

/// How alike two pictures are.
enum Likeness {
    /// The peak signal-to-noise ratio in dB: above 40 nobody sees a difference.
    static func psnr(_ one: [UInt8], _ other: [UInt8]) -> Double {
        let squares = zip(one, other).reduce(0) { $0 + (Int($1.0) - Int($1.1)) * (Int($1.0) - Int($1.1)) }
        return squares == 0 ? .infinity : 10 * log10(255 * 255 * Double(one.count) / Double(squares))
    }

    /// The mean structural similarity over squares of 8 x 8 of pictures of one channel, from -1 to 1 for the same.
    static func ssim(_ one: [UInt8], _ other: [UInt8], width: Int) -> Double {
        let height = one.count / width
        var sum = 0.0
        var count = 0.0
        for top in stride(from: 0, through: height - 8, by: 4) {
            for left in stride(from: 0, through: width - 8, by: 4) {
                let places = (0..<64).map { (top + $0 / 8) * width + left + $0 % 8 }
                let (a, b) = (places.map { Double(one[$0]) }, places.map { Double(other[$0]) })
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
