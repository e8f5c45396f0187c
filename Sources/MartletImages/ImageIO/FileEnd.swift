internal import CMartletImages

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Whether a picture's file is complete.
///
/// Image I/O decodes a truncated file as far as possible, leaves the rest grey, and documents its status as informative
/// mainly for incremental sources. This type checks only the end that the format itself declares.
enum FileEnd: Hashable, Sendable {
    /// The file has the end that its format declares.
    case present
    /// The file is truncated.
    case missing
    /// The format is unknown.
    case unknown

    init(of file: Data) {
        self = file.withUnsafeBytes { Self.find(in: ByteView($0)) }
    }

    private static func find(in bytes: ByteView) -> FileEnd {
        if bytes[0] == 0xFF, bytes[1] == 0xD8 { return jpeg(bytes) ? .present : .missing }
        if bytes[0] == 0x89, bytes.has("PNG", at: 1) { return png(bytes) ? .present : .missing }
        if bytes.has("RIFF"), bytes.has("WEBP", at: 8) { return webP(bytes) ? .present : .missing }
        if bytes.has("ftyp", at: 4) { return boxes(bytes) ? .present : .missing }
        return .unknown
    }

    /// Whether a JPEG is complete (ISO/IEC 10918-1, B.1 and B.2): segments with lengths, coded data in which 0xFF is
    /// followed by 0 or a restart marker, and an EOI marker at the end. Data after it belongs to other pictures.
    private static func jpeg(_ bytes: ByteView) -> Bool {
        guard let start = bytes.start else { return false }
        var next = 2
        while let marker = bytes[martlet_find(start, next, bytes.count, 0xFF) + 1] {
            next = martlet_find(start, next, bytes.count, 0xFF)
            switch marker {
            case 0xD9: return true
            case 0xFF: next += 1
            case 0x00, 0x01, 0xD0...0xD8: next += 2
            default:
                guard let length = bytes.number(at: next + 2, bytes: 2) else { return false }
                next += 2 + max(length, 2)
            }
        }
        return false
    }

    /// ISO/IEC 15948, 5.3: chunks with a length, a type and a checksum. The last one is IEND.
    private static func png(_ bytes: ByteView) -> Bool {
        var next = 8
        while let length = bytes.number(at: next, bytes: 4), length >= 0, length <= bytes.count - next - 12 {
            if bytes.has("IEND", at: next + 4) { return true }
            next += 12 + length
        }
        return false
    }

    /// RFC 9649, 2.4: the header contains the size of the rest of the file.
    private static func webP(_ bytes: ByteView) -> Bool {
        let length = bytes.number(at: 4, bytes: 4, isLittleEndian: true) ?? -1
        return length >= 0 && length <= bytes.count - 8
    }

    /// ISO/IEC 14496-12, 4.2: boxes with sizes. 1 means that the size has eight bytes, 0 that the box extends to the
    /// end.
    private static func boxes(_ bytes: ByteView) -> Bool {
        var next = 0
        while let size = bytes.number(at: next, bytes: 4) {
            if size == 0 { return true }
            let length = size == 1 ? bytes.number(at: next + 8, bytes: 8) ?? -1 : size
            guard length >= 8, length <= bytes.count - next else { return false }
            next += length
        }
        return true
    }
}
