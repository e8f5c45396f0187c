#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Reads the chunks of a PNG (ISO/IEC 15948, section 11).
enum PNGHeaders {
    static func describe(_ bytes: ByteView) throws(ImageError) -> ImageDescription {
        let header = try header(of: bytes)
        var description = header.description
        var saysSRGB = false
        var hasProfile = false
        var colors = 0
        var names: Set<String> = []
        var offset = 8
        while let length = bytes.number(at: offset, bytes: 4), let name = bytes.name(at: offset + 4) {
            let content = bytes.part(from: offset + 8, count: length)
            offset += 12 + min(length, bytes.count)
            if name == "PLTE" { colors = length / 3 }
            // Decoders skip chunks that have a wrong length or are repeated, so such chunks can contain anything.
            let isFirst = names.insert(name).inserted || name == "IDAT"
            if !isFirst || !canHave(length, name, header.type, colors) { description.hasOtherMetadata = true }
            switch name {
            case "IHDR", "PLTE", "IDAT", "sBIT", "bKGD", "pHYs", "hIST": break
            case "IEND":
                if offset != bytes.count { description.hasOtherMetadata = true }
                return finished(description, saysSRGB: saysSRGB && !hasProfile)
            case "tRNS": description.hasAlpha = true
            case "sRGB": saysSRGB = true
            case "iCCP":
                // The profile is compressed; the codec reads it.
                description.isSRGB = false
                hasProfile = true
            case "gAMA", "cHRM": if !isOfSRGB(name, content) { description.isSRGB = false }
            case "cICP" where description.codePoints == nil:
                description.codePoints = CodePoints(content)
                // The receiver may know code points that are unknown here, and would show other colors.
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

    /// Reads the first chunk.
    /// - Returns: The size, and the color type: 3 for a palette, otherwise the sum of 2 for color and 4 for alpha.
    private static func header(of bytes: ByteView) throws(ImageError) -> (description: ImageDescription, type: UInt8) {
        guard bytes.name(at: 12) == "IHDR", let width = bytes.number(at: 16, bytes: 4),
            let height = bytes.number(at: 20, bytes: 4), let type = bytes[25], width > 0, height > 0
        else { throw .damaged(.png, reason: "it has no size") }
        var description = ImageDescription(kind: .png, size: PixelSize(width: width, height: height))
        description.hasAlpha = type & 4 != 0
        return (description, type)
    }

    /// The final description, with the colors and the orientation that follow from all chunks together.
    /// - Parameter saysSRGB: Whether there is a chunk for sRGB and no profile, which would take precedence.
    private static func finished(_ chunks: ImageDescription, saysSRGB: Bool) -> ImageDescription {
        var description = chunks
        // In order of precedence: code points, profile, sRGB, gamma and primaries.
        if let codePoints = description.codePoints {
            // Decoders that do not know code points use the rest, which may differ.
            if !description.isSRGB { description.hasOtherMetadata = true }
            description.isSRGB = codePoints == .sRGB
        } else if saysSRGB {
            description.isSRGB = true
        }
        description.orientation = description.exif.flatMap(EXIF.orientation) ?? .up
        return description
    }

    /// Whether a chunk that is needed to show the pixels can have this length.
    /// - Parameters:
    ///   - type: The color type: 3 for a palette, otherwise the sum of 2 for color and 4 for alpha.
    ///   - colors: The number of colors in the palette.
    private static func canHave(_ length: Int, _ name: String, _ type: UInt8, _ colors: Int) -> Bool {
        let canBeSRGB = type & 2 != 0
        let hasPalette = type == 3
        switch name {
        case "IHDR": return length == 13
        case "PLTE": return length % 3 == 0 && (3...768).contains(length)
        case "tRNS" where hasPalette: return length > 0 && length <= colors
        case "tRNS": return length == (canBeSRGB ? 6 : 2)
        case "sBIT": return length == (canBeSRGB ? 3 : 1) + (type & 4 != 0 ? 1 : 0)
        case "bKGD": return length == (hasPalette ? 1 : canBeSRGB ? 6 : 2)
        case "hIST": return length == 2 * colors
        case "pHYs": return length == 9
        case "gAMA": return length == 4
        case "cHRM": return length == 32
        case "sRGB": return length == 1
        case "IEND": return length == 0
        default: return true
        }
    }

    /// Whether a gamma or primaries are those of sRGB.
    private static func isOfSRGB(_ name: String, _ content: ByteView) -> Bool {
        // 1/2.2, which encoders write for sRGB.
        if name == "gAMA" { return content.number(at: 0, bytes: 4) == 45455 }
        let sRGB = [31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000]
        return sRGB.enumerated().allSatisfy { index, value in
            abs((content.number(at: index * 4, bytes: 4) ?? 0) - value) <= 100
        }
    }
}
