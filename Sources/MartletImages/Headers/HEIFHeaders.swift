#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Reads EXIF, code points and coded sizes of HEIF files (ISO/IEC 14496-12, section 8.11; ISO/IEC 23008-12, annex A).
///
/// The codecs read everything else. Their APIs for these metadata differ or are missing.
enum HEIFHeaders {
    /// The maximum size of EXIF metadata. The parts of an item may repeat the same bytes, so a small file could expand.
    private static let maximumSize = 1 << 20

    /// The TIFF structure of the first item with EXIF metadata.
    static func exif(in file: Data) -> Data? {
        file.withUnsafeBytes { bytes in
            guard let items = HEIFItems(ByteView(bytes)), let item = items.items.first(where: { $0.type == "Exif" }),
                let block = items.bytes(of: item.number, atMost: maximumSize)
            else { return nil }
            return block.withUnsafeBytes { block in
                let block = ByteView(block)
                // The first four bytes are the number of bytes to skip, such as the marker of a JPEG segment.
                guard let skipped = block.number(at: 0, bytes: 4) else { return nil }
                let tiff = block.part(from: 4 + min(skipped, block.count))
                return tiff.has("II") || tiff.has("MM") ? tiff.data : nil
            }
        }
    }

    /// The color space of the primary picture as code points (ISO/IEC 14496-12, section 12.1.5).
    /// - Returns: `nil` if there are none, if they are unknown, or if there is an ICC profile, which takes precedence.
    static func codePoints(in file: Data) -> CodePoints? {
        file.withUnsafeBytes { bytes in
            guard let items = HEIFItems(ByteView(bytes)), let primary = items.primary else { return nil }
            let colors = items.properties(of: primary).filter { $0.name == "colr" }.map(\.content)
            guard !colors.contains(where: { $0.has("prof") || $0.has("rICC") }) else { return nil }
            return colors.first { $0.has("nclx") }.flatMap { CodePoints(nclx: $0.part(from: 4)) }
        }
    }

    /// The largest coded size in the file: of pictures, and of the tiles and canvases that they consist of.
    ///
    /// libheif checks only the displayed size, but its decoders allocate memory for the coded size.
    static func codedSize(in file: Data, as kind: ImageKind) throws(ImageError) -> PixelSize {
        let size: Result<PixelSize, ImageError> = file.withUnsafeBytes { bytes in
            Result { () throws(ImageError) -> PixelSize in
                guard let items = HEIFItems(ByteView(bytes)) else {
                    throw .damaged(kind, reason: "its list of items cannot be read")
                }
                return try codedSize(of: items, file.count, kind)
            }
        }
        let largest = try size.get()
        guard largest.count > 0 else { throw .damaged(kind, reason: "it has no size") }
        return largest
    }

    private static func codedSize(
        of items: HEIFItems, _ count: Int, _ kind: ImageKind
    ) throws(ImageError) -> PixelSize {
        var largest = PixelSize.zero
        for property in items.properties {
            guard let size = size(in: property) else { throw .damaged(kind, reason: "it has no size") }
            largest = largest.orLarger(size)
        }
        // Items may share bytes, as identical tiles do. Limit the total, so that a large file is not read many times.
        var left = max(2 * count, 1 << 24)
        for item in items.items {
            if ["avc1", "vvc1", "j2k1", "unci", "mski", "tili"].contains(item.type) {
                throw .unsupported(
                    kind, advice: "It contains parts in the format \(item.type). Convert it to JPEG or PNG.")
            }
            guard ["hvc1", "av01", "jpeg", "grid", "iovl"].contains(item.type) else { continue }
            guard let bytes = items.bytes(of: item.number, atMost: left),
                let size = bytes.withUnsafeBytes({ size(in: ByteView($0), coded: item.type) })
            else { throw .damaged(kind, reason: "one of its parts has no size") }
            left -= bytes.count
            largest = largest.orLarger(size)
        }
        return largest
    }

    /// The size in a property; 0 x 0 if the property contains none, `nil` if it cannot be read.
    private static func size(in property: HEIFBox) -> PixelSize? {
        switch property.name {
        case "ispe": size(in: property.content, at: 4, bytes: 4)
        case "hvcC": HEVCHeaders.size(inConfiguration: property.content)
        // The header of JPEGs whose items contain only the rest.
        case "jpgC": nil
        case "av1C": AV1Headers.size(inConfiguration: property.content)
        default: .zero
        }
    }

    private static func size(in bytes: ByteView, coded type: String) -> PixelSize? {
        switch type {
        case "hvc1": return HEVCHeaders.size(in: bytes)
        case "av01": return AV1Headers.size(in: bytes)
        case "jpeg": return (try? JPEGHeaders.describe(bytes))?.size
        default:
            // A grid starts with a version, flags and the numbers of rows and columns; an overlay with a version, flags
            // and a color.
            guard let flags = bytes[1] else { return nil }
            return size(in: bytes, at: type == "grid" ? 4 : 10, bytes: flags & 1 == 0 ? 2 : 4)
        }
    }

    private static func size(in bytes: ByteView, at offset: Int, bytes length: Int) -> PixelSize? {
        guard let width = bytes.number(at: offset, bytes: length),
            let height = bytes.number(at: offset + length, bytes: length)
        else { return nil }
        return PixelSize(width: width, height: height)
    }
}
