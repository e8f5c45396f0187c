#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension ImageKind {
    /// Detects the kind of a file from its first bytes; `nil` if they match no known kind.
    init?(of bytes: Data) {
        let start = Array(bytes.prefix(256))
        guard let kind = Self.bySignature(start) ?? Self.byBrands(start) ?? Self.byText(start) else { return nil }
        self = kind
    }

    private static func bySignature(_ start: [UInt8]) -> ImageKind? {
        let signatures: [(ImageKind, [UInt8])] = [
            (.jpeg, [0xFF, 0xD8, 0xFF]),
            (.png, [0x89] + Array("PNG\r\n".utf8) + [0x1A, 0x0A]),
            (.gif, Array("GIF87a".utf8)), (.gif, Array("GIF89a".utf8)),
            (.tiff, Array("II*\0".utf8)), (.tiff, Array("MM\0*".utf8)),
            (.jpegXL, [0xFF, 0x0A]), (.jpegXL, [0, 0, 0, 0x0C] + Array("JXL ".utf8)),
            (.jpeg2000, [0, 0, 0, 0x0C] + Array("jP  ".utf8)), (.jpeg2000, [0xFF, 0x4F, 0xFF, 0x51]),
            (.icon, [0, 0, 1, 0]), (.pdf, Array("%PDF-".utf8)),
        ]
        if let match = signatures.first(where: { start.starts(with: $0.1) }) { return match.0 }
        if start.starts(with: Array("RIFF".utf8)), start.dropFirst(8).starts(with: Array("WEBP".utf8)) { return .webP }
        // Many texts also start with "BM", so check the four bytes that are always 0.
        if start.starts(with: Array("BM".utf8)), start.dropFirst(6).starts(with: [0, 0, 0, 0]) { return .bmp }
        return nil
    }

    /// Detects HEIC and AVIF by the brands of the file type box (ISO/IEC 23008-12, section 10).
    private static func byBrands(_ start: [UInt8]) -> ImageKind? {
        guard start.count >= 16, start[4..<8].elementsEqual(Array("ftyp".utf8)) else { return nil }
        let length = min(start.count, max(16, Int(start[2]) << 8 | Int(start[3])))
        let brands = stride(from: 8, to: length - 3, by: 4).filter { $0 != 12 }.map { Array(start[$0..<$0 + 4]) }
        let heic = ["heic", "heix", "heim", "heis", "hevc", "hevx"].map { Array($0.utf8) }
        if brands.contains(where: heic.contains) { return .heic }
        if brands.contains(Array("avif".utf8)) || brands.contains(Array("avis".utf8)) { return .avif }
        return brands.contains(Array("mif1".utf8)) ? .heic : nil
    }

    private static func byText(_ start: [UInt8]) -> ImageKind? {
        let text = String(decoding: start, as: UTF8.self)
        let isXML = text.drop(while: { $0.isWhitespace || $0 == "\u{FEFF}" }).hasPrefix("<")
        return isXML && text.contains("<svg") ? .svg : nil
    }
}
