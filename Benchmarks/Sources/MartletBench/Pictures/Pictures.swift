internal import Foundation

/// Prepares baseline JPEGs for upload and compares this with vipsthumbnail: at most 1024 x 1024 pixels, sRGB, quality
/// 80, without metadata.
struct Pictures: Sendable {
    static let packages = "libvips-tools"

    struct Series: Sendable {
        let megapixels: Int
        var martlet: [Transfer] = []
        /// The wall times of vipsthumbnail for the picture, and for a tiny picture, which measures its startup.
        var vips: [Double] = []
        var vipsStart: [Double] = []

        /// The speed relative to vipsthumbnail, for each pair of neighboring runs.
        var speed: [Double] { zip(martlet, vips).map { $1 / $0.seconds } }
        /// The same without the startup of vipsthumbnail.
        var speedWithoutStart: [Double] {
            zip(martlet, zip(vips, vipsStart)).map { ($1.0 - $1.1) / $0.seconds }
        }
        var bytesAboveIdle: Int { martlet.map(\.bytesAboveIdle).max() ?? 0 }
    }

    var series: [Series] = []

    /// - Returns: `nil` if vipsthumbnail is not installed.
    static func run(isQuick: Bool) throws -> Pictures? {
        guard let vips = Children.path(of: "vips"), let thumbnail = Children.path(of: "vipsthumbnail") else {
            return nil
        }
        let scratch = try Scratch()
        let dot = try picture(width: 32, height: 24, with: vips, in: scratch)
        var result = Pictures()
        for (megapixels, width, height) in [(12, 4032, 3024), (48, 8064, 6048)] {
            let path = try picture(width: width, height: height, with: vips, in: scratch)
            var series = Series(megapixels: megapixels)
            _ = try Self.thumbnail(of: path, with: thumbnail, in: scratch)
            for _ in 0..<(isQuick ? 3 : 7) {
                let started = try Self.thumbnail(of: dot, with: thumbnail, in: scratch)
                series.vipsStart.append(started)
                series.vips.append(try Self.thumbnail(of: path, with: thumbnail, in: scratch))
                let printed = try Children.run(Children.own, ["picture", path])
                series.martlet.append(try JSONDecoder().decode(Transfer.self, from: printed))
            }
            result.series.append(series)
        }
        return result
    }

    private static func thumbnail(of path: String, with program: URL, in scratch: Scratch) throws -> Double {
        let start = ContinuousClock.now
        _ = try Children.run(
            program,
            [
                path, "--size", "1024x1024", "--export-profile", "srgb", "--output",
                scratch.path("thumbnail.jpg") + "[Q=80,strip]",
            ])
        return start.duration(to: .now).inSeconds
    }

    /// Creates clouds in three colors with sensor noise, which compress about as well as a photograph.
    private static func picture(width: Int, height: Int, with vips: URL, in scratch: Scratch) throws -> String {
        for (band, size) in ["256", "48", "12"].enumerated() {
            let path = scratch.path("band\(band)")
            _ = try Children.run(
                vips, ["perlin", "\(path).v", "\(width)", "\(height)", "--cell-size", size, "--seed", "7"])
            _ = try Children.run(
                vips, ["gaussnoise", "\(path)-n.v", "\(width)", "\(height)", "--sigma", "0.06", "--mean", "0"])
            _ = try Children.run(vips, ["add", "\(path).v", "\(path)-n.v", "\(path)-s.v"])
            _ = try Children.run(vips, ["linear", "\(path)-s.v", "\(path)-8.v", "127", "128", "--uchar"])
        }
        let bands = (0..<3).map { scratch.path("band\($0)-8.v") }.joined(separator: " ")
        let path = scratch.path("\(width).jpg")
        _ = try Children.run(vips, ["bandjoin", bands, scratch.path("joined.v")])
        _ = try Children.run(
            vips, ["copy", scratch.path("joined.v"), path + "[Q=80]", "--interpretation", "srgb"])
        return path
    }
}
