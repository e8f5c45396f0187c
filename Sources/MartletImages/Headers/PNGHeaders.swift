#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The chunks of a PNG (ISO/IEC 15948, section 11).
enum PNGHeaders {
    static func describe(_ bytes: ByteView) throws(ImageError) -> ImageDescription {
        guard bytes.name(at: 12) == "IHDR", let width = bytes.number(at: 16, bytes: 4),
            let height = bytes.number(at: 20, bytes: 4), let type = bytes[25], width > 0, height > 0
        else { throw .damaged(.png, reason: "it has no size") }
        var description = ImageDescription(kind: .png, size: PixelSize(width: width, height: height))
        description.hasAlpha = type & 4 != 0
        var saysSRGB = false
        var hasProfile = false
        var colours = 0
        var names: Set<String> = []
        var place = 8
        while let length = bytes.number(at: place, bytes: 4), let name = bytes.name(at: place + 4) {
            let content = bytes.part(from: place + 8, count: length)
            place += 12 + min(length, bytes.count)
            if name == "PLTE" { colours = length / 3 }
            // Decoders skip what is longer than it can be, or there once more: anything can be in it.
            let isFirst = names.insert(name).inserted || name == "IDAT"
            if !isFirst || !canHave(length, name, type, colours) { description.hasOtherMetadata = true }
            switch name {
            case "IHDR", "PLTE", "IDAT", "sBIT", "bKGD", "pHYs", "hIST": break
            case "IEND":
                if place != bytes.count { description.hasOtherMetadata = true }
                // The first of these that is there counts: code points, a profile, sRGB, gamma and primaries.
                if let codePoints = description.codePoints {
                    // Who does not know code points sees the rest, which may say something else.
                    if !description.isSRGB { description.hasOtherMetadata = true }
                    description.isSRGB = codePoints == .sRGB
                } else if saysSRGB, !hasProfile {
                    description.isSRGB = true
                }
                description.orientation = description.exif.flatMap(EXIF.orientation) ?? .up
                return description
            case "tRNS": description.hasAlpha = true
            case "sRGB": saysSRGB = true
            case "iCCP":
                // It is packed: the codec looks into it.
                description.isSRGB = false
                hasProfile = true
            case "gAMA", "cHRM": if !isOfSRGB(name, content) { description.isSRGB = false }
            case "cICP" where description.codePoints == nil:
                description.codePoints = CodePoints(content)
                // What is not known here may be known where the picture goes, and must not say something else there.
                if description.codePoints == nil { description.hasOtherMetadata = true }
            case "eXIf" where description.exif == nil: description.exif = content.data
            case "acTL":
                description.isAnimated = true
                description.hasOtherMetadata = true
            default: description.hasOtherMetadata = true
            }
        }
        throw .damaged(.png, reason: "it ends early")
    }

    /// Whether a chunk with what is needed to show the pixels can have so many bytes.
    /// - Parameters:
    ///   - type: What pixels are made of: 3 for a palette, else 2 for colour and 4 for alpha.
    ///   - colours: How many there are in the palette.
    private static func canHave(_ length: Int, _ name: String, _ type: UInt8, _ colours: Int) -> Bool {
        let isColoured = type & 2 != 0
        let hasPalette = type == 3
        switch name {
        case "IHDR": return length == 13
        case "PLTE": return length % 3 == 0 && (3...768).contains(length)
        case "tRNS" where hasPalette: return length > 0 && length <= colours
        case "tRNS": return length == (isColoured ? 6 : 2)
        case "sBIT": return length == (isColoured ? 3 : 1) + (type & 4 != 0 ? 1 : 0)
        case "bKGD": return length == (hasPalette ? 1 : isColoured ? 6 : 2)
        case "hIST": return length == 2 * colours
        case "pHYs": return length == 9
        case "gAMA": return length == 4
        case "cHRM": return length == 32
        case "sRGB": return length == 1
        case "IEND": return length == 0
        default: return true
        }
    }

    /// Whether a gamma, or primaries, are those of sRGB.
    private static func isOfSRGB(_ name: String, _ content: ByteView) -> Bool {
        // 1/2.2, as those write who have sRGB.
        if name == "gAMA" { return content.number(at: 0, bytes: 4) == 45455 }
        let sRGB = [31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000]
        return sRGB.enumerated().allSatisfy { index, value in
            abs((content.number(at: index * 4, bytes: 4) ?? 0) - value) <= 100
        }
    }
}
