/// Detects media types from the first bytes of the content: images, audio, video, archives and PDF, as the WHATWG's
/// MIME Sniffing standard does (sections 6 and 7), and a few more formats that phones write.
///
/// Text is not sniffed: text that looks like HTML may not be meant as HTML, and a server may act on the type.
extension MediaType {
    /// The number of bytes that are examined.
    static let contentPrefix = 64

    /// The media type of the content; `nil` if it is unknown.
    static func forContent(_ content: some Collection<UInt8>) -> String? {
        let start = Array(content.prefix(contentPrefix))
        return signatures.first { $0.matches(start) }?.type ?? forRIFF(start) ?? forISOMedia(start)
            ?? forMatroska(start) ?? forBitmap(start)
    }

    /// The bytes at the start of every file of a type.
    private struct Signature {
        let type: String
        let bytes: [UInt8]

        init(_ type: String, _ bytes: [UInt8]) {
            self.type = type
            self.bytes = bytes
        }

        init(_ type: String, _ text: String) {
            self.init(type, Array(text.utf8))
        }

        func matches(_ start: [UInt8]) -> Bool { start.starts(with: bytes) }
    }

    private static let signatures =
        [
            Signature("image/jpeg", [0xFF, 0xD8, 0xFF]),
            Signature("image/png", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]),
            Signature("image/gif", "GIF87a"), Signature("image/gif", "GIF89a"),
            Signature("image/tiff", [0x49, 0x49, 0x2A, 0x00]), Signature("image/tiff", [0x4D, 0x4D, 0x00, 0x2A]),
            Signature("image/vnd.microsoft.icon", [0x00, 0x00, 0x01, 0x00]),
            Signature("image/jxl", [0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A]),
            Signature("audio/mpeg", "ID3"), Signature("audio/ogg", "OggS\0"), Signature("audio/flac", "fLaC"),
            Signature("audio/midi", [0x4D, 0x54, 0x68, 0x64, 0, 0, 0, 6]),
            Signature("application/pdf", "%PDF-"), Signature("application/postscript", "%!PS-Adobe-"),
            Signature("application/gzip", [0x1F, 0x8B, 0x08]), Signature("application/zip", [0x50, 0x4B, 3, 4]),
            Signature("application/zip", [0x50, 0x4B, 5, 6]),
            Signature("application/vnd.rar", [0x52, 0x61, 0x72, 0x21, 0x1A, 0x07]),
            Signature("application/x-7z-compressed", [0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C]),
            Signature("application/zstd", [0x28, 0xB5, 0x2F, 0xFD]),
            Signature("application/x-xz", [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00]),
            Signature("application/wasm", [0x00, 0x61, 0x73, 0x6D]),
        ]
        + (1...9).map { Signature("application/x-bzip2", "BZh\($0)1AY&SY") }

    /// RIFF and IFF containers, by their content.
    private static func forRIFF(_ start: [UInt8]) -> String? {
        guard start.count >= 12 else { return nil }
        switch (text(start[0..<4]), text(start[8..<12])) {
        case ("RIFF", "WEBP"): return "image/webp"
        case ("RIFF", "WAVE"): return "audio/wav"
        case ("RIFF", "AVI "): return "video/x-msvideo"
        case ("FORM", "AIFF"), ("FORM", "AIFC"): return "audio/aiff"
        default: return nil
        }
    }

    /// The `ftyp` box of the ISO base media file format (ISO/IEC 14496-12): the major brand, or else the first known
    /// compatible brand.
    private static func forISOMedia(_ start: [UInt8]) -> String? {
        guard start.count >= 12, text(start[4..<8]) == "ftyp" else { return nil }
        let size = start[0..<4].reduce(0) { $0 << 8 | Int($1) }
        guard size >= 12, size % 4 == 0 else { return nil }
        let end = min(size, start.count)
        // The minor version lies between the major brand and the compatible brands.
        let brands = [8] + Array(stride(from: 16, through: end - 4, by: 4))
        return brands.lazy.compactMap { isoBrands[text(start[$0..<$0 + 4])] }.first
    }

    private static let isoBrands = [
        "avif": "image/avif", "avis": "image/avif", "heic": "image/heic", "heix": "image/heic", "hevc": "image/heic",
        "hevx": "image/heic", "mif1": "image/heif", "msf1": "image/heif", "M4A ": "audio/mp4", "M4B ": "audio/mp4",
        "qt  ": "video/quicktime", "M4V ": "video/x-m4v", "isom": "video/mp4", "iso2": "video/mp4", "iso4": "video/mp4",
        "iso5": "video/mp4", "iso6": "video/mp4", "mp41": "video/mp4", "mp42": "video/mp4", "avc1": "video/mp4",
        "dash": "video/mp4", "3gp4": "video/3gpp", "3gp5": "video/3gpp", "3gp6": "video/3gpp",
    ]

    /// The EBML header (RFC 8794) contains the document type in element 0x4282.
    private static func forMatroska(_ start: [UInt8]) -> String? {
        guard start.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) else { return nil }
        for index in start.indices.dropFirst(4) where start[index...].starts(with: [0x42, 0x82]) {
            // The type follows its length, which is one byte.
            let kind = start[(index + 2)...].dropFirst()
            if text(kind.prefix(4)) == "webm" { return "video/webm" }
            if text(kind.prefix(8)) == "matroska" { return "video/matroska" }
        }
        return nil
    }

    /// The two letters `BM` alone could be text, so bytes 6 to 9, which are always zero in a bitmap, are checked too.
    private static func forBitmap(_ start: [UInt8]) -> String? {
        guard start.count >= 10, text(start[0..<2]) == "BM", start[6..<10].allSatisfy({ $0 == 0 }) else { return nil }
        return "image/bmp"
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes, as: UTF8.self)
    }
}
