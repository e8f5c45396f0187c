#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Detects sRGB profiles without a color library (ICC.1:2022).
enum ICCProfile {
    /// Whether a profile has the primaries and the curve of sRGB, regardless of its name.
    static func isSRGB(_ profile: Data) -> Bool {
        profile.withUnsafeBytes { bytes in
            let view = ByteView(bytes)
            guard view.name(at: 16) == "RGB ", view.name(at: 36) == "acsp" else { return false }
            // A color lookup table takes precedence over primaries. Treat a profile that has one as not sRGB.
            guard tag("A2B0", in: view) == nil else { return false }
            // The primaries of sRGB, adapted to D50.
            let primaries: [(String, [Double])] = [
                ("rXYZ", [0.4361, 0.2225, 0.0139]), ("gXYZ", [0.3851, 0.7169, 0.0971]),
                ("bXYZ", [0.1431, 0.0606, 0.7141]),
            ]
            return primaries.allSatisfy { name, expected in isColour(expected, tag(name, in: view)) }
                && ["rTRC", "gTRC", "bTRC"].allSatisfy { isSRGBCurve(tag($0, in: view)) }
        }
    }

    /// The tags of common sRGB profiles. Decoders skip others, so those can contain anything.
    private static let plainTags: Set<String> = [
        "desc", "dscm", "cprt", "wtpt", "bkpt", "chad", "chrm", "rXYZ", "gXYZ", "bXYZ", "rTRC", "gTRC", "bTRC", "dmnd",
        "dmdd", "vued", "view", "lumi", "meas", "tech",
    ]

    /// Whether a profile has nothing but common tags, and no bytes after its end.
    static func isPlain(_ profile: Data) -> Bool {
        profile.withUnsafeBytes { bytes in
            let view = ByteView(bytes)
            guard view.number(at: 0, bytes: 4) == view.count, let count = view.number(at: 128, bytes: 4), count <= 100
            else { return false }
            return (0..<count).allSatisfy { index in
                view.name(at: 132 + index * 12).map(plainTags.contains) ?? false
            }
        }
    }

    private static func tag(_ name: String, in profile: ByteView) -> ByteView? {
        guard let count = profile.number(at: 128, bytes: 4) else { return nil }
        for index in 0..<min(count, 100) where profile.name(at: 132 + index * 12) == name {
            guard let start = profile.number(at: 136 + index * 12, bytes: 4),
                let length = profile.number(at: 140 + index * 12, bytes: 4)
            else { return nil }
            return profile.part(from: start, count: length)
        }
        return nil
    }

    private static func isColour(_ expected: [Double], _ tag: ByteView?) -> Bool {
        guard let tag else { return false }
        return expected.enumerated().allSatisfy { index, value in
            guard let number = fixed(at: 8 + index * 4, in: tag) else { return false }
            return abs(number - value) < 0.003
        }
    }

    /// Whether a curve is that of sRGB, by its parameters or by three samples of its table.
    private static func isSRGBCurve(_ tag: ByteView?) -> Bool {
        guard let tag else { return false }
        if tag.name(at: 0) == "para" {
            // A linear segment, then an exponent of 2.4.
            let parameters = [2.4, 0.9479, 0.0521, 0.0774, 0.0404]
            return tag.number(at: 8, bytes: 2) == 3
                && parameters.enumerated().allSatisfy { index, expected in
                    abs((fixed(at: 12 + index * 4, in: tag) ?? 0) - expected) < 0.001
                }
        }
        guard tag.name(at: 0) == "curv", let count = tag.number(at: 8, bytes: 4), (256...65_536).contains(count) else {
            return false
        }
        return [(0.25, 0.0509), (0.5, 0.2140), (0.75, 0.5225)].allSatisfy { x, expected in
            let offset = Int((x * Double(count - 1)).rounded())
            guard let value = tag.number(at: 12 + offset * 2, bytes: 2) else { return false }
            return abs(Double(value) / 65_535 - expected) < 0.004
        }
    }

    /// Reads a fixed-point number (s15Fixed16).
    private static func fixed(at offset: Int, in tag: ByteView) -> Double? {
        tag.number(at: offset, bytes: 4).map { Double(Int32(truncatingIfNeeded: $0)) / 65_536 }
    }
}
