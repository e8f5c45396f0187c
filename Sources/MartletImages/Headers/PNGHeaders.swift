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
        var place = 8
        while let length = bytes.number(at: place, bytes: 4), let name = bytes.name(at: place + 4) {
            let content = bytes.part(from: place + 8, count: length)
            place += 12 + min(length, bytes.count)
            switch name {
            case "IHDR", "PLTE", "IDAT", "sBIT", "bKGD", "pHYs", "hIST": break
            case "IEND":
                if place != bytes.count { description.hasMetadata = true }
                if saysSRGB, description.profile == nil { description.isSRGB = true }
                description.orientation = description.exif.flatMap(EXIF.orientation) ?? .up
                return description
            case "tRNS": description.hasAlpha = true
            case "sRGB": saysSRGB = true
            case "gAMA", "cHRM", "iCCP", "cICP": noteColour(name, content, &description, &saysSRGB)
            case "eXIf":
                description.exif = content.data
                description.hasMetadata = true
            case "acTL":
                description.isAnimated = true
                description.hasMetadata = true
            default: description.hasMetadata = true
            }
        }
        throw .damaged(.png, reason: "it ends early")
    }

    private static func noteColour(
        _ name: String, _ content: ByteView, _ description: inout ImageDescription, _ saysSRGB: inout Bool
    ) {
        switch name {
        case "gAMA":
            // 1/2.2, as those write who have sRGB.
            if content.number(at: 0, bytes: 4) != 45455 { description.isSRGB = false }
        case "cHRM":
            let sRGB = [31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000]
            let differs = sRGB.enumerated().contains { index, value in
                abs((content.number(at: index * 4, bytes: 4) ?? 0) - value) > 100
            }
            if differs { description.isSRGB = false }
        default:
            // It is packed, and what it says comes before what any other chunk says.
            description.isSRGB = false
            saysSRGB = false
        }
    }
}
